"""Erasing for good: hidden in one step, removed batch by batch, then cleaned from the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from recollect.domain.forgetting import Target, Verification

# What came of cleaning the files: done; it waits for a reader or, for a large file, for the job; or
# the database is so large that its unused room cannot be overwritten in place.
Cleaning = Literal["done", "waits", "too_large"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What one step erased, by kind; blobs by their keys, to be deleted from the blob store."""

    counts: Mapping[str, int] = field(hash=False)
    evidence_left: tuple[str, ...] = ()
    blobs: tuple[str, ...] = ()


class Erasure(Protocol):
    """Takes what is to be forgotten out of every table. Begun once, it is finished, come what may:
    what is left is a job that any open memory goes on with."""

    async def foresee(self, target: Target) -> Erased:
        """What would go; nothing is changed."""
        ...

    async def begin(self, target: Target, forget_id: str) -> Erased:
        """Hide all of it from everybody, durably; what goes, in numbers."""
        ...

    async def advance(self, forget_id: str) -> Erased | None:
        """Erase the next batch; None when nothing is left. Others can write between two calls."""
        ...

    async def dropped(self, forget_id: str) -> None:
        """The blobs that were given out so far are deleted."""
        ...

    async def clean(self, forget_id: str, *, even_large: bool) -> Cleaning:
        """Remove what is left in the files.

        Without `even_large` a file that others would have to wait for is left to the job.
        """
        ...

    async def finish(self, forget_id: str) -> None:
        """Nothing is left to do."""
        ...

    async def postpone(self, forget_id: str) -> None:
        """The rest is done by whoever works on jobs."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Mementos:
    """What a search for something forgotten looks for: terms of it, and beginnings of vectors.

    `scopes` are the numbers of those in which any trace is one of it and of nobody else.
    """

    terms: frozenset[str] = frozenset()
    vectors: frozenset[bytes] = frozenset()
    scopes: frozenset[int] = frozenset()


class Proof(Protocol):
    """Searches everything for what was forgotten."""

    async def remember(self, target: Target) -> Mementos:
        """What to search for, taken before it is gone; of very much a part of it."""
        ...

    async def verify(self, mementos: Mementos) -> Verification:
        """Where any of it is still found, in every store and every file."""
        ...
