"""Roles of callers, from reader to admin. Each includes the one before."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from recollect.errors import InvalidInput, NotAllowed


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
                ".",
            )


_RANKS: Final = {role: rank for rank, role in enumerate(Role)}


def role_of(name: str) -> Role:
    """Return the role with this name."""
    try:
        return Role(name.strip().lower())
    except ValueError:
        raise InvalidInput(
            f"{name!r} is no role", code="unknown_value", hint=f"One of: {', '.join(Role)}."
        ) from None
