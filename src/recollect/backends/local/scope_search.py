"""The two ways to search a scope: its packed postings, or the database's full text.

Both return the same statistics and, for every unit, exactly the same score.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol

from sqlalchemy import Connection

from recollect.backends.local.bm25 import Statistics, Weights
from recollect.backends.local.postings import PackedPostings, PackedSearch
from recollect.backends.local.ranking import Ranking
from recollect.backends.local.segment import Ids, Keys, pack
from recollect.backends.local.unit_rows import read_scope_terms, read_terms
from recollect.backends.sql.full_text import candidates, document_frequencies
from recollect.backends.sql.scopes import ScopeRow

CANDIDATES: Final = 4_000


class ScopeSearch(Protocol):
    """A query in one scope, in two steps, so that several scopes can share statistics."""

    @property
    def statistics(self) -> Statistics: ...

    def score(self, weights: Weights, allowed: Ids | None = None) -> Ranking:
        """Return the allowed units that have any of the terms, with their scores."""
        ...


@dataclass(frozen=True)
class FullTextSearch:
    """A search in the full text that scores only the most likely units, in one snapshot.

    Units that are not in the full text yet are always scored.
    """

    connection: Connection
    row: ScopeRow
    keys: Keys
    budget: int = CANDIDATES

    @property
    def statistics(self) -> Statistics:
        return Statistics(
            units=self.row.units,
            length=self.row.length,
            frequencies=tuple(
                self._frequencies.get(key, 0) + newer
                for key, newer in zip(self.keys.tolist(), self._newer_frequencies, strict=True)
            ),
        )

    def score(self, weights: Weights, allowed: Ids | None = None) -> Ranking:
        read = read_terms(self.connection, self._likely(allowed))
        segment = pack(read.units, read.lengths, read.keys, only=self.keys)
        older = PackedSearch(PackedPostings().added(segment), self.keys)
        return Ranking.of([older.score(weights), self._newer.score(weights, allowed)])

    def _likely(self, allowed: Ids | None) -> Ids:
        # With a filter, all are scored: the most likely units of the scope may not match it.
        if allowed is not None:
            return allowed[allowed <= self.row.last_in_full_text]
        return candidates(self.connection, self.row.space, self._frequencies, self.budget)

    @cached_property
    def _frequencies(self) -> dict[int, int]:
        """Return how many units in the full text have each term."""
        return document_frequencies(self.connection, self.row.space, self.keys.tolist())

    @cached_property
    def _newer(self) -> PackedSearch:
        """Return the units that were added after those in the full text."""
        after = self.row.last_in_full_text
        postings = PackedPostings()
        for read in read_scope_terms(self.connection, self.row, after=after):
            segment = pack(read.units, read.lengths, read.keys, only=self.keys)
            postings = postings.added(segment)
        return PackedSearch(postings, self.keys)

    @property
    def _newer_frequencies(self) -> tuple[int, ...]:
        return self._newer.statistics.frequencies
