"""Scopes: whose memory it is, the spellings of a scope, and who may read and write what."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, TypeVar

from recollect.errors import InvalidInput, NotAllowed, StorageError

# --- Roles of callers, from reader to admin. Each includes the one before -------------------------


class Role(StrEnum):
    """What a caller may do in its scopes."""

    READER = "reader"
    WRITER = "writer"
    COORDINATOR = "coordinator"
    ADMIN = "admin"

    def includes(self, other: Role) -> bool:
        """Return whether this role may do everything that the other one may."""
        return _RANKS[self] >= _RANKS[other]

    def at_most(self, other: Role) -> Role:
        """Return the lower of two roles."""
        return other if self.includes(other) else self

    def require(self, needed: Role, what: str) -> None:
        """Raise `NotAllowed` if this role is below the needed one."""
        if not self.includes(needed):
            raise NotAllowed(
                f"{what} needs the role {needed}, and this caller is a {self}; nothing was changed",
                code="role_too_low",
                hint=f"Use a key with the role {needed}: recollect keys create NAME --role {needed}"
                " with --bind-user ID or --all-users.",
            )


_RANKS: Final = {role: rank for rank, role in enumerate(Role)}


def role_of(name: str) -> Role:
    """Return the role with this name."""
    try:
        return Role(name.strip().lower())
    except ValueError:
        raise InvalidInput(
            f"{name!r} is not a role", code="unknown_value", hint=f"One of: {', '.join(Role)}."
        ) from None


# --- Scopes: whose memory it is, the spellings of a scope, and who may read and write what --------


MAX_PART: Final = 100
# The agent of shared memory, a name that no caller can have.
SHARED_AGENT: Final = "*shared"
# The prefix of the agent of a collection of documents, see domain/document.py.
COLLECTION_MARK: Final = "*kb:"
_PROFILE: Final = "user_profile"
_FORBIDDEN_CHARACTER: Final = re.compile(r"[\x00-\x1f\x7f/\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose memory it is. Everything that is stored belongs to exactly one scope."""

    org: str = "local"
    workspace: str = "default"
    agent: str | None = None
    user: str | None = None

    def __post_init__(self) -> None:
        for name in ("org", "workspace"):
            _check_part(name, getattr(self, name))
        for name in ("agent", "user"):
            if getattr(self, name) is not None:
                _check_part(name, getattr(self, name))

    @property
    def key(self) -> str:
        """Return the scope as one line: `org/workspace/agent/user`, with `-` for a missing part."""
        return "/".join(part or "-" for part in (self.org, self.workspace, self.agent, self.user))

    @property
    def actor(self) -> str:
        """Return who is named as the author of a change: the agent, else the user."""
        return self.agent or self.user or "local"

    @property
    def of_user(self) -> Scope:
        """Return the scope of the user's own records, whichever agent wrote them."""
        return replace(self, agent=None)

    def of_agent(self, agent: str) -> Scope:
        """Return the scope of the same user with another agent."""
        return replace(self, agent=agent)

    @property
    def shared(self) -> Scope:
        """Return the scope that all agents of this workspace share."""
        return replace(self, agent=SHARED_AGENT, user=None)

    @property
    def shared_with_user(self) -> Scope:
        """Return the scope that all agents of this workspace share about this user."""
        return replace(self, agent=SHARED_AGENT)

    @property
    def is_shared(self) -> bool:
        return self.agent == SHARED_AGENT

    @property
    def is_collection(self) -> bool:
        """Return whether this is the scope of a collection of documents."""
        return self.agent is not None and self.agent.startswith(COLLECTION_MARK)

    @property
    def is_reserved(self) -> bool:
        """Return whether no caller can have this scope."""
        return self.is_shared or self.is_collection


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls: a scope, the agents declared as its children, and a role.

    A caller that opens the database itself may do everything; over the network, its key decides.
    """

    scope: Scope
    children: tuple[str, ...] = field(default=())
    principal: str = "local"
    role: Role = Role.ADMIN
    # Needed by every recall, so computed once.
    writable: tuple[Scope, ...] = field(init=False, repr=False, compare=False)
    """Every scope this caller may write to, its own first; the user's only for a user profile."""
    shared: tuple[Scope, ...] = field(init=False, repr=False, compare=False)
    """The shared scopes: of the whole workspace, and about this user."""
    readable: tuple[Scope, ...] = field(init=False, repr=False, compare=False)
    """Every scope this caller may read, its own first and the shared ones last."""

    def __post_init__(self) -> None:
        for agent in (self.scope.agent, *self.children):
            if agent is not None and self.scope.of_agent(agent).is_reserved:
                raise _reserved(agent)
        scopes = [self.scope]
        if self.scope.agent is not None and self.scope.user is not None:
            scopes.append(self.scope.of_user)
        if self.role.includes(Role.COORDINATOR):
            scopes.extend(self.scope.of_agent(child) for child in self.children)
        writable = tuple(dict.fromkeys(scopes))
        shared = tuple(dict.fromkeys((self.scope.shared, self.scope.shared_with_user)))
        object.__setattr__(self, "writable", writable)
        object.__setattr__(self, "shared", shared)
        object.__setattr__(self, "readable", writable + shared)

    def may_read(self, scope: Scope) -> bool:
        return scope in self.readable

    def require_write(self, scope: Scope, *, is_profile: bool) -> None:
        """Raise `NotAllowed` unless the caller may write to the scope."""
        self.role.require(Role.WRITER, "Writing")
        if scope not in self.writable:
            raise NotAllowed(
                f"{self.scope.key} may not write to {scope.key}",
                hint="What is shared is changed through `shared`: by a proposal, its creator or "
                "the coordinator."
                if scope.is_shared
                else "A caller writes to its own scope and to the agents declared as its children.",
            )
        is_users_own = scope != self.scope and scope == self.scope.of_user
        if is_users_own and not is_profile:
            raise NotAllowed(
                f"Only a user profile may be written to {scope.key}",
                hint="Use category 'user-profile', or write to the agent's own scope.",
            )

    def namespace(self, spelling: str | tuple[str, str]) -> Scope:
        """Return the scope of a namespace, or raise `NotAllowed` if the caller may not read it."""
        scope = parse_namespace(spelling, self.scope)
        if not self.may_read(scope):
            raise NotAllowed(
                f"Namespace {spelling!r} is not among those of {self.scope.key}",
                hint="Leave the namespace out, or choose one of: "
                + ", ".join(map(namespace_of, self.writable)),
            )
        return scope


def parse_namespace(spelling: str | tuple[str, str], within: Scope) -> Scope:
    """Parse `user_profile/{user}`, `{agent}_memories/{user}`, `agent/user` or `(agent, user)`."""
    agent, user = _split_namespace(spelling)
    if agent == _PROFILE:
        return replace(within, agent=None, user=user)
    scope = replace(within, agent=agent.removesuffix("_memories") or None, user=user)
    if scope.is_reserved:
        raise _reserved(agent)
    return scope


def namespace_of(scope: Scope) -> str:
    """Return the namespace of a scope."""
    user = scope.user or "-"
    return f"{_PROFILE}/{user}" if scope.agent is None else f"{scope.agent}_memories/{user}"


def _split_namespace(spelling: str | tuple[str, str]) -> tuple[str, str | None]:
    parts = spelling.split("/", 1) if isinstance(spelling, str) else spelling
    match parts:
        case [str(agent), str(user)]:
            return agent, None if user == "-" else user
        case _:
            raise InvalidInput(
                f"Namespace {spelling!r} is not an agent and a user",
                code="bad_namespace",
                hint="Write it as 'user_profile/ann', 'sql_memories/ann' or ('agent', 'user').",
            )


def _reserved(agent: str) -> InvalidInput:
    if agent != SHARED_AGENT:
        return InvalidInput(
            f"{agent!r} is not an agent: names that begin with {COLLECTION_MARK!r} are collections",
            code="bad_scope",
            hint="Documents are read and written through `knowledge`.",
        )
    return InvalidInput(
        f"{SHARED_AGENT!r} is not an agent: it stands for what all agents share",
        code="bad_scope",
        hint="Shared records are read from every scope; new ones are proposed with `shared`.",
    )


def _check_part(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise InvalidInput(
            f"The scope's {name} must be text, not {type(value).__name__}", code="bad_scope"
        )
    if not value.strip():
        raise InvalidInput(f"The scope's {name} is empty", code="bad_scope")
    if len(value) > MAX_PART:
        raise InvalidInput(
            f"The scope's {name} has {len(value)} characters; {MAX_PART} are allowed",
            code="bad_scope",
        )
    if _FORBIDDEN_CHARACTER.search(value) or value == "-":
        raise InvalidInput(
            f"The scope's {name} {value!r} is '-' or has '/', control characters or broken text",
            code="bad_scope",
        )


# --- Which of several stores holds which scopes ---------------------------------------------------


T = TypeVar("T")
Holding = Callable[[Scope], T]
"""Returns the store that holds a scope; raises a `StorageError` when it cannot be opened."""


def split(scopes: Iterable[Scope], holding: Holding[T]) -> list[tuple[T, tuple[Scope, ...]]]:
    """Return every store that holds some of these scopes, with those that it holds."""
    places, problems = split_reachable(scopes, holding)
    if problems:
        raise problems[0]
    return places


def split_reachable(
    scopes: Iterable[Scope], holding: Holding[T]
) -> tuple[list[tuple[T, tuple[Scope, ...]]], list[StorageError]]:
    """Return the same of the stores that are open, and why the others are not."""
    places: dict[int, tuple[T, list[Scope]]] = {}
    problems: list[StorageError] = []
    for scope in scopes:
        try:
            store = holding(scope)
        except StorageError as problem:
            if problem not in problems:
                problems.append(problem)
            continue
        places.setdefault(id(store), (store, []))[1].append(scope)
    return [(store, tuple(some)) for store, some in places.values()], problems
