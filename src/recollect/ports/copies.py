"""Copies outside of the database of what it holds, which forgetting has to erase too."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from recollect.domain.scope import Scope


class Copies(Protocol):
    """A derived store. While it does not answer, calls raise `StoreAway`."""

    @property
    def name(self) -> str:
        """Return what people call it, without a password."""
        ...

    async def erase(self, scopes: Mapping[int, Scope | None]) -> None:
        """Erase everything of these scopes, and what is made of questions and texts of any scope.

        Scopes are given by their numbers; one that lost its names meanwhile has none here. Of those
        that still hold something, the copies are made anew.
        """
        ...

    def contents(self) -> AsyncIterator[tuple[str, bytes]]:
        """Return everything that is in it, each with the place where it lies."""
        ...

    async def strays(self) -> int:
        """Return how many entries are in it that the database does not have, as far as is known."""
        ...
