"""Roles: what a caller may do, from reading to administering. Each includes the one before."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from recollect.errors import InvalidInput, NotAllowed


class Role(StrEnum):
    """What a caller may do in the scopes that it reaches."""

    READER = "reader"
    WRITER = "writer"
    COORDINATOR = "coordinator"
    ADMIN = "admin"

    def includes(self, other: Role) -> bool:
        """Return whether this role may do all that the other one may."""
        return _RANKS[self] >= _RANKS[other]

    def at_most(self, other: Role) -> Role:
        """Return the lower one of two roles."""
        return other if self.includes(other) else self

    def require(self, needed: Role, what: str) -> None:
        """Refuse what a role below the needed one asks for."""
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
