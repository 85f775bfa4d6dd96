"""Keyword search over units: BM25 over each scope's own postings, packed in this process.

A small scope is packed by its first search. A large one is searched in the database's full text
until it is packed in the background; one beyond the memory budget always is.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import add
from typing import Final, Protocol

import numpy as np
from sqlalchemy import Connection

from recollect.backends.local.bm25 import Statistics, Weights
from recollect.backends.local.filtered_search import best_within
from recollect.backends.local.postings import PackedPostings, PackedSearch, most_bytes
from recollect.backends.local.ranking import Ranking
from recollect.backends.local.scope_cache import Shelf
from recollect.backends.local.scope_changes import Changes
from recollect.backends.local.segment import Ids, Keys, join, pack, pack_texts
from recollect.backends.local.unit_metadata import Catalogue
from recollect.backends.local.unit_rows import (
    read_allowed,
    read_known_terms,
    read_latest,
    read_scope_terms,
    read_term_rows,
    read_terms,
)
from recollect.backends.sql.database import Database
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.full_text import candidates
from recollect.backends.sql.scopes import ScopeRow, read_scope, read_scopes
from recollect.domain.filters import Filter
from recollect.domain.lazy_value import lazy_value
from recollect.domain.scope import Scope
from recollect.domain.stats import IndexStats
from recollect.domain.times import to_micros
from recollect.ports.units import KnownTerms, Matches, MoreUnits, Terms

# --- The scopes that are packed in this process, each updated before it is searched ---------------


# The maximum number of terms to pack while a search waits; more is left to the background.
AT_ONCE: Final = 60_000
_LOCKS: Final = 64


class PackedScopes:
    """Packed scopes within a memory budget, updated before they are searched."""

    def __init__(self, budget_bytes: int, at_once: int = AT_ONCE) -> None:
        self._shelf: Shelf[int, PackedScope] = Shelf(budget_bytes)
        self._at_once = at_once
        # Held while a scope is updated, so that no two threads do the same work.
        self._following = [threading.Lock() for _ in range(_LOCKS)]

    def fits(self, row: ScopeRow) -> bool:
        """Return whether a scope fits into the budget, even if all its terms are distinct."""
        return most_bytes(row.units, row.length) <= self._shelf.budget

    def postings(self, connection: Connection, row: ScopeRow) -> PackedPostings | None:
        """Return the postings exactly as of this snapshot, if they are available at once."""
        if not self.fits(row):
            return None
        with self._following[row.id % _LOCKS]:
            packed = self._shelf.get(row.id)
            if packed is None or packed.version < row.version:
                packed = self._renewed(connection, packed, row)
        # A newer state by another thread may lack units that this snapshot still has.
        return packed.postings if packed is not None and packed.version == row.version else None

    def pack(self, connection: Connection, scope_id: int) -> None:
        """Pack a scope as of this snapshot in the background, however long it takes."""
        row = read_scope(connection, scope_id)
        packed = self._shelf.get(scope_id)
        if self.fits(row) and (packed is None or packed.version < row.version):
            self._shelf.put(scope_id, load(connection, row))

    def stats(self) -> IndexStats:
        return self._shelf.stats()

    def _renewed(
        self, connection: Connection, packed: PackedScope | None, row: ScopeRow
    ) -> PackedScope | None:
        """Return the current scope by applying changes, or from all units, if that is quick."""
        fresh = None
        if packed and packed.units_behind(row) * row.length <= self._at_once * row.units:
            fresh = follow(connection, packed, row)
        if fresh is None and row.length <= self._at_once:
            fresh = load(connection, row)
        if fresh is not None:
            self._shelf.put(row.id, fresh)
        return fresh


# --- A packed scope: loaded from SQL, and updated from the list of changes ------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedScope:
    """The postings of a scope at one version."""

    version: int
    next_unit: int
    last_unit: int
    postings: PackedPostings

    @property
    def units(self) -> int:
        return self.postings.units

    @property
    def bytes(self) -> int:
        return self.postings.bytes

    def units_behind(self, row: ScopeRow) -> int:
        """Return how many units were added and removed since."""
        added = row.next_unit - self.next_unit
        removed = self.postings.units + added - row.units
        return added + removed


def load(connection: Connection, row: ScopeRow) -> PackedScope:
    """Pack a scope from all its units."""
    return _with_newer_units(connection, PackedPostings(), row, after=0)


def follow(connection: Connection, packed: PackedScope, row: ScopeRow) -> PackedScope | None:
    """Return the scope at the version of `row`; None if the changes do not lead there."""
    changes = Changes(connection, packed.version, row)
    if not changes.are_listed:
        return None
    left = packed.postings.removed(changes.removed_units)
    fresh = _with_newer_units(connection, left, row, after=packed.last_unit)
    is_whole = (fresh.postings.units, fresh.postings.length) == (row.units, row.length)
    return fresh if is_whole else None


def _with_newer_units(
    connection: Connection, postings: PackedPostings, row: ScopeRow, *, after: int
) -> PackedScope:
    # Numbers only increase, so units added since are above the last one seen.
    newer = [
        pack(new.units, new.lengths, new.keys)
        for new in read_scope_terms(connection, row, after=after)
    ]
    return PackedScope(
        version=row.version,
        next_unit=row.next_unit,
        last_unit=int(newer[-1].units[-1]) if newer else after,
        postings=postings.added(join(newer)) if newer else postings,
    )


# --- Keyword search over units: BM25 over each scope's own postings, packed in this process ---

_log: Final = logging.getLogger(__name__)

# How many more units are assumed to have a slight term: in a small memory, chance decides how rare
# "I" seems.
_ASSUMED_UNITS: Final = 20
_DAY: Final = 86_400 * 1_000_000


class LocalKeywordIndex:
    """A `UnitIndex` over the units of a SQLite database, which stays the source of truth."""

    def __init__(
        self,
        database: Database,
        catalogue: Catalogue,
        memory_budget_bytes: int,
        *,
        at_once: int = AT_ONCE,
    ) -> None:
        self._database = database
        self._catalogue = catalogue
        self._packed = PackedScopes(memory_budget_bytes, at_once)
        self._first_asked: dict[int, datetime] = {}
        self._packing: dict[int, asyncio.Task[None]] = {}

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
        keys = _unique(terms)
        if not len(keys):
            return Matches.none()
        assumed = tuple(
            [_ASSUMED_UNITS if key in slight else 0 for key in keys.tolist()] if slight else ()
        )
        if not self._catalogue.are_known(scopes):
            rows = await self._database.read(
                lambda connection: read_scopes(connection, scopes), is_quick=True
            )
            self._catalogue.expect(scopes, rows)

        def search(connection: Connection) -> tuple[Matches, list[ScopeSearch]]:
            return search_in(connection, read_scopes(connection, scopes))

        def search_at_once(connection: Connection) -> tuple[Matches, list[ScopeSearch]] | None:
            rows = read_scopes(connection, scopes)
            # What was added meanwhile must be read first.
            have_grown = self._catalogue.have_grown(scopes, rows)
            return None if have_grown else search_in(connection, rows)

        def search_in(
            connection: Connection, found: Sequence[ScopeRow]
        ) -> tuple[Matches, list[ScopeSearch]]:
            rows = [row for row in found if row.units]
            self._catalogue.notice(scopes, rows, now)
            return self._search(connection, rows, keys, limit, now, within, assumed, more)

        found = None
        if within is None and self._catalogue.are_small(scopes):
            found = await self._database.read(search_at_once, is_quick=True)
        matches, searches = found or await self._database.read(search)
        for made in searches:
            if isinstance(made, FullTextSearch) and self._packed.fits(made.row):
                self._pack_later(made.row.id, now)
        return matches

    async def expect_many(self, scopes: Sequence[Scope]) -> None:
        """Prepare for many searches; for a single one, this may take longer than searching."""
        for row in await self._database.read(
            lambda connection: read_scopes(connection, scopes), is_quick=True
        ):
            if self._packed.fits(row):
                await self._pack(row.id)

    async def recent(
        self, scopes: Sequence[Scope], since: datetime, limit: int, *, until: datetime
    ) -> Matches:
        """Return the latest units before `until`, newest first; the score falls to 0 at `since`."""
        first, last = to_micros(since), to_micros(until)
        # In whole days, so that the same question has the same answer all day.
        reach = max((until - since).days, 1)

        def search(connection: Connection) -> Matches:
            rows = read_scopes(connection, scopes)
            latest = [read_latest(connection, row, first, last, limit) for row in rows]
            best = Ranking.of(latest).top(limit)
            age = (last - best.scores) // _DAY
            return Matches(
                rows=self._catalogue.rows(connection, rows, best.units),
                raw=best.scores,
                scores=np.clip(1 - age / reach, 0.0, 1.0),
            )

        return await self._database.read(search, is_quick=self._catalogue.are_small(scopes))

    async def terms_of(self, units: Sequence[int]) -> dict[int, frozenset[int]]:
        """Return the term keys of these units, to explain why they were found."""
        rows = await self._database.read(
            lambda connection: read_term_rows(connection, units), is_quick=True
        )
        return {unit: frozenset[int](np.frombuffer(terms, "<u8").tolist()) for unit, terms in rows}

    async def known_terms(self, owners: Sequence[str], analyzer: str) -> KnownTerms:
        """Return the terms of those of these owners that the index holds for this analyzer."""
        return await self._database.read(
            lambda connection: read_known_terms(connection, owners, analyzer)
        )

    async def rank(self, terms: Sequence[int], texts: Sequence[Terms]) -> list[float]:
        """Return calibrated scores of texts that are not in the index, ranked among themselves."""
        return await asyncio.to_thread(_rank, _unique(terms), texts)

    def stats(self) -> IndexStats:
        """Return what is packed now."""
        return self._packed.stats()

    def _search(
        self,
        connection: Connection,
        rows: Sequence[ScopeRow],
        keys: Keys,
        limit: int,
        now: datetime,
        within: Filter | None,
        assumed: tuple[int, ...],
        more: MoreUnits | None,
    ) -> tuple[Matches, list[ScopeSearch]]:
        """Run the part of a search that needs the database, in one snapshot."""
        beside = None if more is None else _packed_texts(more.texts, keys)
        if not rows and beside is None:
            return Matches.none(), []
        searches = [self._scope_search(connection, row, keys) for row in rows]
        counted = [search.statistics for search in (*searches, *filter(None, [beside]))]
        weights = Weights(reduce(add, counted), assumed)
        best = self._best(connection, rows, searches, weights, limit, now, within)
        matches = Matches(
            rows=self._catalogue.rows(connection, rows, best.units),
            raw=best.scores,
            scores=weights.similarities(best.scores),
        )
        if more is not None and beside is not None:
            found = beside.score(weights)
            others = Matches(
                rows=more.rows.take(found.units),
                raw=found.scores,
                scores=weights.similarities(found.scores),
            )
            matches = matches.with_others(others, limit)
        return matches, searches

    def _best(
        self,
        connection: Connection,
        rows: Sequence[ScopeRow],
        searches: Sequence[ScopeSearch],
        weights: Weights,
        limit: int,
        now: datetime,
        within: Filter | None,
    ) -> Ranking:
        if within is None:
            return Ranking.of([search.score(weights) for search in searches]).top(limit)
        if all(isinstance(search, PackedSearch) for search in searches):
            everything = Ranking.of([search.score(weights) for search in searches])
            best = best_within(connection, everything, within, now, limit)
            if best is not None:
                return best
        return Ranking.of(
            search.score(weights, read_allowed(connection, row, within, now))
            for row, search in zip(rows, searches, strict=True)
        ).top(limit)

    def _scope_search(self, connection: Connection, row: ScopeRow, keys: Keys) -> ScopeSearch:
        postings = self._packed.postings(connection, row)
        if postings is None:
            return FullTextSearch(connection, row, keys)
        return PackedSearch(postings, keys)

    def _pack_later(self, scope_id: int, now: datetime) -> None:
        """Pack a scope in the background, unless this is the first search in it."""
        # A program that searches once and ends, like the command line, would pack in vain. One
        # question makes several searches at the same moment.
        is_first = self._first_asked.setdefault(scope_id, now) == now
        if not is_first and scope_id not in self._packing:
            task = asyncio.create_task(self._pack(scope_id))
            self._packing[scope_id] = task
            task.add_done_callback(lambda done: self._after_packing(scope_id, done))

    async def _pack(self, scope_id: int) -> None:
        await self._database.read(lambda connection: self._packed.pack(connection, scope_id))

    def _after_packing(self, scope_id: int, done: asyncio.Task[None]) -> None:
        del self._packing[scope_id]
        if not done.cancelled() and (problem := done.exception()) is not None:
            _log.warning("Scope %d was not packed and stays slow: %s", scope_id, problem)


def _unique(terms: Sequence[int]) -> Keys:
    return np.fromiter(dict.fromkeys(terms), np.uint64)


def _packed_texts(texts: Sequence[Terms], keys: Keys) -> PackedSearch:
    """Return a search in texts that are not stored, numbered as they come."""
    return PackedSearch(PackedPostings().added(pack_texts(texts, only=keys)), keys)


def _rank(keys: Keys, texts: Sequence[Terms]) -> list[float]:
    if not len(keys) or not texts:
        return [0.0] * len(texts)
    search = _packed_texts(texts, keys)
    weights = Weights(search.statistics)
    scores = [0.0] * len(texts)
    ranking = search.score(weights)
    similarities = weights.similarities(ranking.scores)
    for text, score in zip(ranking.units.tolist(), similarities.tolist(), strict=True):
        scores[text] = score
    return scores


# --- The two ways to search a scope: its packed postings, or the database's full text -------------
#
# Both return the same statistics and, for every unit, exactly the same score.


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
        likely = candidates(self.connection, self.row.space, self._frequencies, self.budget)
        return np.array(likely, np.int64)

    @lazy_value
    def _frequencies(self) -> dict[int, int]:
        """Return how many units in the full text have each term."""
        return dialect_of(self.connection).frequencies(
            self.connection, self.row.space, self.keys.tolist()
        )

    @lazy_value
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
