"""Shared memory of a workspace: its types, proposals to it, and the roles of agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal, get_args

from recollect.domain.record import Record
from recollect.domain.relation import Verdict
from recollect.domain.scope import Scope
from recollect.errors import Conflict, InvalidInput

COORDINATOR: Final = "coordinator"
PERSON: Final = "person"
"""The role of a caller without an agent."""

EVERYBODY: Final = "all"

_ROLES: Final[Mapping[str, tuple[str, ...]]] = {
    COORDINATOR: ("协调", "协调者", "协调员", "supervisor"),
    "architect": ("架构", "架构师", "architecture"),
    "reviewer": ("审查", "审查员", "评审", "review"),
    "tester": ("测试", "测试员", "test", "qa"),
    "developer": ("开发", "开发者", "dev", "development"),
    "operations": ("运维", "ops", "operator"),
}
_ROLE_BY_NAME: Final = {name: role for role, aliases in _ROLES.items() for name in (role, *aliases)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedType:
    """A type of shared record."""

    name: str
    writer: str
    """The role that an agent needs to propose it; `all` means any."""
    readers: tuple[str, ...]
    """The roles that it concerns most; all agents can read it."""
    is_of_user: bool = False
    """Whether it belongs to one user and is visible only to agents that work for them."""


SHARED_TYPES: Final[Mapping[str, SharedType]] = {
    shared.name: shared
    for shared in (
        SharedType(name="project-context", writer=COORDINATOR, readers=(EVERYBODY,)),
        SharedType(name="adr", writer="architect", readers=("developer", "tester")),
        SharedType(name="convention", writer="reviewer", readers=("developer",)),
        SharedType(name="known-issue", writer="tester", readers=("developer", "operations")),
        SharedType(name="preference", writer=EVERYBODY, readers=(EVERYBODY,), is_of_user=True),
    )
}
_TYPE_ALIASES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("项目上下文", "project"), "project-context"),
    **dict.fromkeys(("架构决策记录", "架构决策"), "adr"),
    **dict.fromkeys(("代码约定", "约定"), "convention"),
    **dict.fromkeys(("已知问题",), "known-issue"),
    **dict.fromkeys(("用户偏好", "偏好"), "preference"),
}


def shared_type(name: str) -> SharedType:
    """Return the type with this name or alias, in either language."""
    plain = name.strip().lower().replace("_", "-")
    found = SHARED_TYPES.get(_TYPE_ALIASES.get(plain, plain))
    if found is None:
        raise InvalidInput(
            f"{name!r} is not a type of shared memory",
            code="unknown_value",
            hint=f"One of: {', '.join(SHARED_TYPES)}.",
        )
    return found


def role_named(name: str) -> str:
    """Return the canonical name of a role; an unknown one stays as it is."""
    plain = name.strip().lower().removesuffix("agent").rstrip(" -_")
    return _ROLE_BY_NAME.get(plain, plain)


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """Who proposes, decides or changes: an agent with a role, or a person."""

    name: str
    role: str
    user: str | None
    """The user whom an agent works for, or the person's own name."""

    @property
    def is_person(self) -> bool:
        return self.role == PERSON

    def has_written(self, record: Record) -> bool:
        """Return whether this party wrote the current version of a shared record."""
        wrote = (record.metadata.get("creator"), record.metadata.get("creator_role") == PERSON)
        return wrote == (self.name, self.is_person)


# --- Proposals of agents for the shared memory of their workspace ---------------------------------


ProposalStatus = Literal["pending", "approved", "rejected", "expired", "withdrawn"]
PROPOSAL_STATUSES: Final[tuple[ProposalStatus, ...]] = get_args(ProposalStatus)


@dataclass(frozen=True, slots=True, kw_only=True)
class NearRecord:
    """A shared record near a proposal, and the judge's opinion on how the proposal relates to it.

    If the opinion is sure, approving confirms or replaces the record. If it is not, both stay, and
    a conflict is opened unless they seem to say the same.
    """

    record: Record
    near: float | None
    """The cosine of their vectors, if both are known."""
    verdict: Verdict

    @property
    def may_contradict(self) -> bool:
        """Return whether the two may not both be true, and nothing is certain."""
        verdict = self.verdict
        is_change = verdict.relation in ("update", "conflict") and not verdict.is_sure
        return is_change or verdict.is_doubtful


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A record that waits to become shared memory; `scope` is that of the future shared record."""

    id: str
    scope: Scope
    type: str
    proposer: str
    role: str
    user: str | None = None
    """The user whom the proposer worked for."""
    status: ProposalStatus
    title: str
    content: str
    reason: str
    confidence: float
    created_at: datetime
    expires_at: datetime | None = None
    target: str | None = None
    """The shared record that it would change; None for a new one."""
    record: str | None = None
    """The shared record that it became."""
    decided_at: datetime | None = None
    decided_by: str | None = None
    decision: str = ""
    """The reason of the decision."""
    body: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    """The other fields of the record: kind, tags, metadata …; what approving it led to."""
    nearest: tuple[NearRecord, ...] = field(default=(), compare=False)
    """While it is pending: the nearest shared records, as they are judged now. Not stored."""

    def evolve(self, **changes: Any) -> Proposal:
        """Return the proposal with some fields changed."""
        return replace(self, **changes)

    @property
    def is_reopened(self) -> bool:
        """Return whether it waits again after a decision that was taken back."""
        return self.status == "pending" and "reopened" in self.body

    def is_by(self, party: Party) -> bool:
        """Return whether this party made it, working for the same user."""
        made = (self.proposer, self.role == PERSON, self.user)
        return made == (party.name, party.is_person, party.user)


def already_decided(proposal_id: str, status: str = "decided") -> Conflict:
    return Conflict(
        f"{proposal_id} is {status} already; nothing was changed",
        code="already_decided",
        hint="The coordinator can reopen it; or make a new one to change what came of it.",
    )


def another_decision(decided: str, by: str | None) -> Conflict:
    """Return the error of taking back a decision that has made way for another one."""
    return Conflict(
        f"{decided} was decided anew by {by}; nothing was taken back",
        code="changed_since",
        hint="Look at the new decision before you take it back.",
    )
