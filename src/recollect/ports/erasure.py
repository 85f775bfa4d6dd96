"""Permanent erasure: hide in one step, remove in batches, then clean the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from recollect.domain.scope import Scope

# The result of cleaning the files: done; waiting for a reader or, for a large file, for the job;
# or the database is so large that its free pages cannot be overwritten in place.
Cleaning = Literal["done", "waits", "too_large"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What one step erased, by kind; blobs by key, to be deleted from the blob store.

    `scopes` are those of which something goes, by number, with the names that they had.
    """

    counts: Mapping[str, int] = field(hash=False)
    scopes: Mapping[int, Scope] = field(default_factory=dict[int, Scope], hash=False)
    evidence_left: tuple[str, ...] = ()
    blobs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mementos:
    """What to search for after forgetting: terms and the beginnings of vectors.

    `scopes` are the numbers of scopes that were forgotten as a whole.
    """

    terms: frozenset[str] = frozenset()
    vectors: frozenset[bytes] = frozenset()
    scopes: frozenset[int] = frozenset()
