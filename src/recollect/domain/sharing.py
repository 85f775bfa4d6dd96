"""What the agents of a workspace share: its types, who writes each, and the roles agents have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from recollect.domain.record import Record
from recollect.errors import InvalidInput

COORDINATOR: Final = "coordinator"
PERSON: Final = "person"
"""The role of whoever calls without an agent."""

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
    """One sort of shared knowledge."""

    name: str
    writer: str
    """The role an agent needs to propose it; everybody may where this is `all`."""
    readers: tuple[str, ...]
    """The roles it concerns most; all agents read it all the same."""
    is_of_user: bool = False
    """Whether it belongs to one user and is seen only by agents that work for them."""


SHARED_TYPES: Final[Mapping[str, SharedType]] = {
    it.name: it
    for it in (
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
    """The type with this name or one of its other names, in either language."""
    plain = name.strip().lower().replace("_", "-")
    found = SHARED_TYPES.get(_TYPE_ALIASES.get(plain, plain))
    if found is None:
        raise InvalidInput(
            f"{name!r} is no type of shared memory",
            code="unknown_value",
            hint=f"One of: {', '.join(SHARED_TYPES)}.",
        )
    return found


def role_named(name: str) -> str:
    """A role by its usual name; one that is not known stays as it is."""
    plain = name.strip().lower().removesuffix("agent").rstrip(" -_")
    return _ROLE_BY_NAME.get(plain, plain)


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """Who proposes, decides or changes: an agent in its role, or a person."""

    name: str
    role: str
    user: str | None
    """The user whom an agent works for; a person's own name."""

    @property
    def is_person(self) -> bool:
        return self.role == PERSON

    def has_written(self, record: Record) -> bool:
        """Whether what a shared record says now is this party's."""
        wrote = (record.metadata.get("creator"), record.metadata.get("creator_role") == PERSON)
        return wrote == (self.name, self.is_person)
