"""Indexes of units: search by keyword and by vector, and generations of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.domain.archive import Archive
from recollect.domain.document import Document
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.filters import Filter
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.stats import IndexStats
from recollect.domain.turn import Turn

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]
# The keys of the terms of a text, in order.
Terms = Sequence[int] | NDArray[np.uint64]
# By the owner's id and version; a turn has only version 1.
KnownTerms = Mapping[tuple[str, int], Terms]

# What is known of a unit in numbers, see domain/unit.py; `kind` is the place in UNIT_OWNERS.
COLUMNS: Final = (
    *("unit", "kind", "ordinal", "start", "end", "observed_at"),
    *("cluster", "place", "speaker", "traits", "size", "variety"),
)
_COLUMN_INDEX: Final = {name: place for place, name in enumerate(COLUMNS)}


@dataclass(frozen=True, slots=True)
class UnitRows:
    """Units as columns: an array for each of COLUMNS, and the ids of their owners."""

    numbers: Ids
    owners: NDArray[np.object_]

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], owners: Sequence[str]) -> UnitRows:
        """Return units from rows in the order of COLUMNS, and the owner of each."""
        numbers = np.array(rows, np.int64).reshape(len(rows), len(COLUMNS))
        return cls(np.ascontiguousarray(numbers.T), np.array(owners, np.object_))

    @classmethod
    def joined(cls, several: Sequence[UnitRows]) -> UnitRows:
        """Return several sets of units, concatenated."""
        if len(several) == 1:
            return several[0]
        return cls(
            np.concatenate([one.numbers for one in several], axis=1),
            np.concatenate([one.owners for one in several]),
        )

    def __len__(self) -> int:
        return len(self.owners)

    def __getitem__(self, column: str) -> NDArray[Any]:
        """Return one of COLUMNS, or `owner`."""
        return self.owners if column == "owner" else self.numbers[_COLUMN_INDEX[column]]

    def columns(self, *names: str) -> list[Ids]:
        """Return several of COLUMNS."""
        return list(map(self.numbers.__getitem__, map(_COLUMN_INDEX.__getitem__, names)))

    @property
    def nbytes(self) -> int:
        return self.numbers.nbytes + self.owners.nbytes

    def take(self, places: Ids) -> UnitRows:
        """Return the units at these indexes, in this order."""
        return UnitRows(self.numbers.take(places, axis=1), self.owners.take(places))


NO_UNITS: Final = UnitRows.of((), ())
_NO_SCORES: Final[Scores] = np.empty(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """Units that matched, best first, with raw scores and similarities in [0, 1].

    These are columns instead of objects, since a search examines hundreds to show five.
    """

    rows: UnitRows
    raw: Scores
    scores: Scores

    @classmethod
    def none(cls) -> Matches:
        return cls(rows=NO_UNITS, raw=_NO_SCORES, scores=_NO_SCORES)

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> NDArray[Any]:
        return self.rows[name]

    def on_scale(self, slope: float, offset: float) -> Matches:
        """Return the matches with scores on another scale; raw scores stay."""
        if (slope, offset) == (1.0, 0.0):
            return self
        scores = np.clip(slope * self.scores + offset, 0.0, 1.0)
        return replace(self, scores=scores)

    def with_others(self, others: Matches, limit: int) -> Matches:
        """Return the best of both, best first; among equals, these come first."""
        raw = np.concatenate([self.raw, others.raw])
        both = Matches(
            rows=UnitRows.joined([self.rows, others.rows]),
            raw=raw,
            scores=np.concatenate([self.scores, others.scores]),
        )
        return both.at(np.argsort(-raw, kind="stable")[:limit])

    def at(self, places: Ids) -> Matches:
        """Return the matches at these places, in this order."""
        return Matches(
            rows=self.rows.take(places), raw=self.raw[places], scores=self.scores[places]
        )


@dataclass(frozen=True, slots=True)
class MoreUnits:
    """Units that are searched as if they were in the index, each with its terms."""

    rows: UnitRows
    texts: Sequence[Terms]


class UnitIndex(Protocol):
    """BM25 search over the units of the given scopes only."""

    async def search(
        self,
        scopes: Sequence[Scope],
        terms: Sequence[int],
        limit: int,
        *,
        now: datetime,
        within: Filter | None = None,
        slight: Collection[int] = (),
        more: MoreUnits | None = None,
    ) -> Matches:
        """Return the best units for these term keys; with `within`, only owners that it accepts.

        The terms that are `slight` count as common, however few units have them. `more` units are
        ranked with those of the index.
        """
        ...

    async def expect_many(self, scopes: Sequence[Scope]) -> None:
        """Prepare for many searches; for a single one, this may take longer than searching."""
        ...

    async def recent(
        self, scopes: Sequence[Scope], since: datetime, limit: int, *, until: datetime
    ) -> Matches:
        """Return the latest units before `until`, newest first; the score falls to 0 at `since`."""
        ...

    async def terms_of(self, units: Sequence[int]) -> dict[int, frozenset[int]]:
        """Return the term keys of these units, to explain why they were found."""
        ...

    async def known_terms(self, owners: Sequence[str], analyzer: str) -> KnownTerms:
        """Return the terms of those of these owners that the index holds for this analyzer."""
        ...

    async def rank(self, terms: Sequence[int], texts: Sequence[Terms]) -> list[float]:
        """Return calibrated scores of texts that are not in the index, ranked among themselves."""
        ...

    def stats(self) -> IndexStats: ...


# --- Vector search: the nearest vectors among a caller's units ------------------------------------

# A vector, and several vectors as rows.
Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The nearest units by cosine, best first, and how many units have no vector.

    `models` are those that serve the given scopes, whether or not the question has a vector of
    them.
    """

    matches: Matches
    models: frozenset[EmbeddingModel] = frozenset()
    missing: int = 0
    problems: tuple[str, ...] = ()
    """What kept the search from all that is stored, in words for the caller."""


class VectorIndex(Protocol):
    """Exact nearest neighbours, in each scope among the vectors of the model that serves it."""

    async def search(
        self,
        scopes: Sequence[Scope],
        question: Mapping[EmbeddingModel, Vector],
        limit: int,
        *,
        now: datetime,
        within: Filter | None = None,
    ) -> Nearest:
        """Return the units nearest to the question, given as vectors of one or more models.

        With `within`, return only units of owners that it accepts."""
        ...

    def stats(self) -> IndexStats: ...


# --- Index generations: units of a newer analyzer, built beside those that are in use -------------
# For a background job, across all scopes. Never reachable from a caller's scope.


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """The next owners of a scope whose units are to be built, after one unit and up to another."""

    owners: Sequence[Record | Turn | Archive | Document]
    after: int
    up_to: int
