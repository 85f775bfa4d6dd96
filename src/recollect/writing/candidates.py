"""Stored records that a new record may repeat, change or contradict."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, zip_longest
from typing import Final

import numpy as np

from recollect.domain.embedding import EmbeddingModel
from recollect.domain.facets import facets
from recollect.domain.filters import Filter
from recollect.domain.record import Kind, Record, is_user_profile
from recollect.domain.scope import Caller, Holding, Scope, split
from recollect.domain.unit import UNIT_OWNERS, OwnerUnits, UnitOwner
from recollect.language.analysis import term_keys, terms
from recollect.language.claims.instructions import contradicts, instruction
from recollect.ports.store import Store
from recollect.ports.units import Matches, Scores, UnitIndex, Vector, VectorIndex

# Includes turns that say the same as the records made from them, which are not compared.
_MAX_HITS: Final = 200
_MAX_COMPARED_RECORDS: Final = 24
# The latest that state the same attribute of the same subject, which has one value at a time.
_MAX_OF_ONE_FACET: Final = 3
# Two in a hundred of the labelled related pairs share fewer words than this.
_MIN_WORD_SCORE: Final = 0.12
_MIN_COSINE: Final = 0.3
# Longer texts about one thing share at least this part of their terms; in the labelled pairs they
# share far more.
_MAX_SHORT_CHARACTERS: Final = 60
_MIN_SHARED_TERMS_RATIO: Final = 0.25


# The keyword index and the vector index; each store has its own.
Indexes = tuple[UnitIndex, VectorIndex]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A stored record that may be about the same thing, and its similarity if known."""

    record: Record
    near: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Near:
    """The ids of neighbours, nearest first, and the cosines that are known."""

    new: Record
    words: frozenset[str]
    wanted: Sequence[str]
    latest: Sequence[Record]
    cosines: Mapping[str, float]


class Candidates:
    """A search for the records nearest to new ones, by words and by meaning."""

    def __init__(self, store: Store, indexes: Holding[Indexes], *, each: int = 5) -> None:
        self._store = store
        self._indexes = indexes
        self._each = each

    async def of(
        self,
        caller: Caller,
        new: Sequence[Record],
        embedded: Mapping[str, OwnerUnits],
        model: EmbeddingModel | None,
        now: datetime,
    ) -> dict[str, list[Candidate]]:
        """Return, for each new record, the nearest live records that the caller may change.

        Records said together have the same neighbours, which are read once.
        """
        near = [await self._near(caller, record, embedded[record.id], model, now) for record in new]
        scopes = chain.from_iterable(compared_scopes(caller, record.scope) for record in new)
        found = await self._store.records(
            list(dict.fromkeys(scopes)),
            Filter(
                kinds=frozenset(chain.from_iterable(compared_kinds(record.kind) for record in new))
            ),
            now=now,
            ids=list(dict.fromkeys(chain.from_iterable(neighbours.wanted for neighbours in near))),
        )
        known = chain(found, *(neighbours.latest for neighbours in near))
        by_id = {record.id: record for record in known if _may_change(caller, record)}
        return {neighbours.new.id: _candidates(neighbours, by_id) for neighbours in near}

    async def ids_near(
        self,
        scopes: Sequence[Scope],
        text: str,
        embedded: OwnerUnits,
        model: EmbeddingModel | None,
        now: datetime,
    ) -> dict[str, float | None]:
        """Return the ids of the records and turns nearest to a text, with known cosines."""
        by_words, cosines = await asyncio.gather(
            self._by_words(scopes, terms(text), now, UNIT_OWNERS),
            self._by_vectors(scopes, embedded, model, now, UNIT_OWNERS),
        )
        return {owner: cosines.get(owner) for owner in self._best(by_words, cosines)}

    async def stating(
        self, scopes: Sequence[Scope], facet: str | None, about: str, kind: Kind, now: datetime
    ) -> Sequence[Record]:
        """Return the latest records with another value of an attribute that has one at a time."""
        known = facets().get(facet or "")
        if known is None or not known.single:
            return ()
        where = Filter(facets=frozenset({known.name}), kinds=compared_kinds(kind))
        found = await self._store.records(scopes, where, now=now, limit=_MAX_COMPARED_RECORDS)
        alike = [record for record in found if _are_of_one(record.about, about)]
        return alike[:_MAX_OF_ONE_FACET]

    def _best(self, by_words: Mapping[str, float], cosines: Mapping[str, float]) -> list[str]:
        """Return the nearest owners by either index, nearest first, as many as are judged."""
        near = [owner for owner, cosine in cosines.items() if cosine >= _MIN_COSINE]
        alike = [owner for owner, score in by_words.items() if score >= _MIN_WORD_SCORE]
        best = chain.from_iterable(zip_longest(near[: self._each], alike[: self._each]))
        return list(dict.fromkeys(filter(None, best)))

    async def _near(
        self,
        caller: Caller,
        new: Record,
        embedded: OwnerUnits,
        model: EmbeddingModel | None,
        now: datetime,
    ) -> _Near:
        scopes = compared_scopes(caller, new.scope)
        said = terms(new.content)
        by_words, cosines = await asyncio.gather(
            self._by_words(scopes, said, now), self._by_vectors(scopes, embedded, model, now)
        )
        latest: Sequence[Record] = ()
        if len(by_words) < self._each:
            # Where little is stored, all of it is compared: "moved to Munich" shares no word with
            # "lives in Berlin".
            where = Filter(kinds=compared_kinds(new.kind))
            latest = await self._store.records(scopes, where, now=now, limit=_MAX_COMPARED_RECORDS)
        stating = await self.stating(scopes, new.facet, new.about, new.kind, now)
        best = [*(record.id for record in stating), *self._best(by_words, cosines)]
        wanted = [*best, *(record.id for record in latest)]
        return _Near(
            new=new,
            words=frozenset(said),
            wanted=list(dict.fromkeys(wanted)),
            latest=[*stating, *latest],
            cosines=cosines,
        )

    async def _by_words(
        self,
        scopes: Sequence[Scope],
        said: Sequence[str],
        now: datetime,
        kinds: Sequence[UnitOwner] = ("record",),
    ) -> dict[str, float]:
        """Return the owners that share words, with their scores."""
        keys = term_keys(said)
        found = [
            await units.search(some, keys, _MAX_HITS, now=now)
            for (units, _), some in split(scopes, self._indexes)
        ]
        return _best_first(_owners(it, it.scores, kinds) for it in found)

    async def _by_vectors(
        self,
        scopes: Sequence[Scope],
        embedded: OwnerUnits,
        model: EmbeddingModel | None,
        now: datetime,
        kinds: Sequence[UnitOwner] = ("record",),
    ) -> dict[str, float]:
        """Return the nearest owners with their cosines."""
        vector = _vector(embedded)
        if model is None or vector is None:
            return {}
        asked = {model: vector}
        found = [
            await vectors.search(some, asked, _MAX_HITS, now=now)
            for (_, vectors), some in split(scopes, self._indexes)
        ]
        return _best_first(_owners(it.matches, it.matches.raw, kinds) for it in found)


def _candidates(near: _Near, records: Mapping[str, Record]) -> list[Candidate]:
    new = near.new
    found = [records[wanted] for wanted in near.wanted if wanted in records]
    return [
        Candidate(record=record, near=near.cosines.get(record.id))
        for record in found
        if record.kind in compared_kinds(new.kind)
        and (len(new.content) <= _MAX_SHORT_CHARACTERS or _may_concern(near.words, record.content))
    ]


def _may_concern(words: frozenset[str], old: str) -> bool:
    """Return whether a stored text is worth comparing: if it is short or shares words."""
    if len(old) <= _MAX_SHORT_CHARACTERS:
        return True
    theirs = set(terms(old))
    return len(words & theirs) >= _MIN_SHARED_TERMS_RATIO * min(len(words), len(theirs))


def _are_of_one(one: str, other: str) -> bool:
    """Return whether two may be about the same subject, as far as that is known."""
    return not one or not other or one == other


def compared_kinds(kind: Kind) -> frozenset[Kind]:
    """Return the kinds to compare with: its own, and for an event the facts it may end."""
    return frozenset({kind, Kind.SEMANTIC}) if kind is Kind.EPISODIC else frozenset({kind})


def compared_scopes(caller: Caller, target: Scope) -> Sequence[Scope]:
    """Return the scopes to compare a new record with: its own, and others the caller may use.

    A preference may be stored with the agent or with the user.
    """
    own = [target]
    if target in (caller.scope, caller.scope.of_user):
        own += [scope for scope in (caller.scope, caller.scope.of_user) if scope in caller.writable]
    return tuple(dict.fromkeys(own))


def _owners(matches: Matches, scores: Scores, kinds: Sequence[UnitOwner]) -> dict[str, float]:
    """Return the owners of these kinds among the hits, best first, with their best score."""
    is_wanted = np.isin(matches.rows["kind"], [UNIT_OWNERS.index(kind) for kind in kinds])
    owners = matches.rows["owner"][is_wanted].tolist()
    # In reverse order, so that the first and best score of an owner is set last.
    best = dict(zip(reversed(owners), reversed(scores[is_wanted].tolist()), strict=True))
    return {owner: best[owner] for owner in dict.fromkeys(owners)}


def _best_first(found: Iterable[dict[str, float]]) -> dict[str, float]:
    """Merge the results of several indexes."""
    first, *others = found
    if not others:
        return first
    every = chain(first.items(), *(other.items() for other in others))
    return dict(sorted(every, key=lambda scored: -scored[1]))


def _vector(embedded: OwnerUnits) -> Vector | None:
    whole = embedded.units[0].vector if embedded.units else None
    return None if whole is None else np.frombuffer(whole, "<f2").astype(np.float32)


def _may_change(caller: Caller, record: Record) -> bool:
    if record.is_session_episode:
        return False
    is_users_own = record.scope == caller.scope.of_user != caller.scope
    return not is_users_own or is_user_profile(record.category)


# --- Stored instructions that a new one excludes; the later one holds --------------------------


# The categories of instructions, and how many of the latest are compared.
_CATEGORIES: Final = frozenset({"preference", "feedback", "convention", "general"})
_MAX_INSTRUCTIONS: Final = 300


class StandingInstructions:
    """A search for stored instructions that contradict a new one."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def contradicted(self, caller: Caller, new: Record, now: datetime) -> list[Record]:
        """Return the stored instructions that the new one ends."""
        if instruction(new.content) is None:
            return []
        found = await self._store.records(
            compared_scopes(caller, new.scope),
            Filter(categories=_CATEGORIES),
            now=now,
            limit=_MAX_INSTRUCTIONS,
        )
        return [record for record in found if contradicts(new.content, record.content)]
