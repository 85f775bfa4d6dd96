"""What an administrator manages: API keys, browser sign-ins and agents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal

from recollect.domain.scope import Role, Scope
from recollect.domain.write import WritePolicy
from recollect.errors import NotAllowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A role and where it applies. An empty list of workspaces, users or agents means all."""

    role: Role
    workspaces: tuple[str, ...] = ()
    """Each as `org/workspace`."""
    users: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()

    @property
    def is_server_wide(self) -> bool:
        """Return whether the grant applies to the whole server."""
        return not (self.workspaces or self.users or self.agents)

    def holds_for_workspace(self, org: str, workspace: str) -> bool:
        """Return whether the grant applies to a whole workspace."""
        is_here = not self.workspaces or f"{org}/{workspace}" in self.workspaces
        return is_here and not self.users and not self.agents

    def holds_for(self, scope: Scope) -> bool:
        """Return whether the grant applies to a scope."""
        return (
            (not self.workspaces or f"{scope.org}/{scope.workspace}" in self.workspaces)
            and (not self.users or scope.user in self.users)
            and (not self.agents or scope.agent in self.agents)
        )

    def covers(self, other: Grant) -> bool:
        """Return whether this grant permits everything that the other one permits."""
        return self.role.includes(other.role) and all(
            not own or (theirs and set(theirs) <= set(own))
            for own, theirs in (
                (self.workspaces, other.workspaces),
                (self.users, other.users),
                (self.agents, other.agents),
            )
        )

    def require_scope(self, scope: Scope) -> None:
        """Raise `NotAllowed` if the grant does not apply to the scope."""
        if not self.holds_for(scope):
            raise NotAllowed(
                f"This key does not reach {scope.key}; nothing was changed",
                code="foreign_scope",
                hint=f"It reaches {self.reach}. Name one of those in the address.",
            )

    @property
    def reach(self) -> str:
        """Return a description of where the grant applies, and to whom."""
        places = [
            f"{name} {', '.join(values)}"
            for name, values in (
                ("workspace", self.workspaces),
                ("user", self.users),
                ("agent", self.agents),
            )
            if values
        ]
        if not self.users:
            places.append("all users")
        return "; ".join(places)

    def agents_among(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of the agents that the grant applies to."""
        return tuple(name for name in names if not self.agents or name in self.agents)


EVERYTHING = Grant(role=Role.ADMIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An API key as it is stored and listed, without its secret."""

    id: str
    name: str
    prefix: str
    """The beginning of the key, which identifies it to people."""
    role: Role
    workspaces: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None

    @property
    def grant(self) -> Grant:
        return Grant(
            role=self.role, workspaces=self.workspaces, users=self.users, agents=self.agents
        )

    def is_usable(self, now: datetime) -> bool:
        """Return whether the key is neither revoked nor expired at this time."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A new key with its secret, which is shown only once, and whose memory it opens."""

    key: ApiKey
    secret: str = field(repr=False)
    users_covered: int = 0
    """Those that it is bound to, or all that there are now."""
    covers: str = ""
    """Whose memory it opens, in a sentence."""

    def covering(self, users: int) -> NewKey:
        """Return the key with the number of users whose memory it opens."""
        if self.key.users:
            covers = f"It opens the memory of {', '.join(self.key.users)} and of nobody else."
        else:
            now = "1 user" if users == 1 else f"{users} users"
            covers = f"It opens the memory of all users: {now} now, and whoever comes later."
        return replace(self, users_covered=users, covers=covers)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """A browser session: the token in its cookie, the key it signed in with, and its expiry."""

    token: str = field(repr=False)
    key: ApiKey
    expires_at: datetime


# --- Agents: whether they have memory, where it is stored and how it is used ----------------------


# The kind of the job that moves an agent.
MOVE_AGENT: Final = "move_agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMove:
    """A move of an agent's memory: going on, or ended with the old copy still kept.

    `done` of `total` rows are copied. `lost` counts archived contents that the source no longer
    had.
    """

    source: str
    target: str
    state: Literal["copying", "moved"]
    done: int = 0
    total: int = 0
    lost: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent as it is configured now, by the settings file and by overrides in the database.

    `store` is a name declared under `stores` in the settings file, or the address of a store of its
    own; empty means the common store. `prefetch_limit` and `write_policy` are None where the common
    settings apply. `move` is a move that goes on, or one whose old copy is kept until it is purged.
    """

    name: str
    enabled: bool
    store: str
    backend: str | None = None
    password_env: str = ""
    prefetch_limit: int | None
    write_policy: WritePolicy | None
    role: str
    children: tuple[str, ...]
    origin: Literal["file", "database"]
    """`database` if the database overrides the settings file."""
    move: AgentMove | None = None
