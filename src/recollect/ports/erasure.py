"""Permanent erasure: hide in one step, remove in batches, then clean the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from recollect.domain.forgetting import Target, Verification

# The result of cleaning the files: done; waiting for a reader or, for a large file, for the job;
# or the database is so large that its free pages cannot be overwritten in place.
Cleaning = Literal["done", "waits", "too_large"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What one step erased, by kind; blobs by key, to be deleted from the blob store."""

    counts: Mapping[str, int] = field(hash=False)
    evidence_left: tuple[str, ...] = ()
    blobs: tuple[str, ...] = ()


class Erasure(Protocol):
    """Removes what is to be forgotten from every table.

    Once begun, it is always finished: the rest is a job that any open memory continues."""

    async def foresee(self, target: Target) -> Erased:
        """Return what would be erased, without changing anything."""
        ...

    async def begin(self, target: Target, forget_id: str) -> Erased:
        """Hide all of it durably; return the counts."""
        ...

    async def advance(self, forget_id: str) -> Erased | None:
        """Erase the next batch; return None if nothing is left. Others can write between calls."""
        ...

    async def dropped(self, forget_id: str) -> None:
        """Confirm that the blobs returned so far were deleted."""
        ...

    async def clean(self, forget_id: str, *, even_large: bool) -> Cleaning:
        """Remove what remains in the files.

        Without `even_large`, a file so large that others would have to wait is left to the job.
        """
        ...

    async def finish(self, forget_id: str) -> None:
        """Mark the erasure as finished."""
        ...

    async def postpone(self, forget_id: str) -> None:
        """Leave the rest to the job."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Mementos:
    """What to search for after forgetting: terms and the beginnings of vectors.

    `scopes` are the numbers of scopes that were forgotten as a whole.
    """

    terms: frozenset[str] = frozenset()
    vectors: frozenset[bytes] = frozenset()
    scopes: frozenset[int] = frozenset()


class Proof(Protocol):
    """Searches every store and file for what was forgotten."""

    async def remember(self, target: Target) -> Mementos:
        """Return what to search for, collected before it is erased; a sample if it is very much."""
        ...

    async def verify(self, mementos: Mementos) -> Verification:
        """Return where any of it is still found."""
        ...
