"""What is stored that a new record may say again, change or contradict."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Final

import numpy as np

from recollect.domain.category import is_user_profile
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.filters import Filter
from recollect.domain.record import Kind, Record
from recollect.domain.scope import Caller, Scope
from recollect.domain.unit import OwnerUnits
from recollect.ports.store import Store
from recollect.ports.units import KINDS, Matches, Scores, UnitIndex
from recollect.ports.vectors import Vector, VectorIndex
from recollect.text.analysis import term_keys, terms

# Turns that say the same stand beside the records made of them, and are not looked at.
_LOOKED_AT: Final = 200
_FEW: Final = 24
# Of the labelled pairs that concern each other, two in a hundred share fewer words than this.
_ALIKE: Final = 0.12
_NEAR: Final = 0.3
_RECORD: Final = KINDS.index("record")
# Of texts with more characters those of one thing share at least this part of their terms; in the
# labelled pairs the longer ones share far more.
_LONG: Final = 60
_SHARED: Final = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A stored record that may be about the same thing, and how near its vector is, if known."""

    record: Record
    cosine: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Near:
    """The ids of what is near a new record, nearest first, and the cosines that are known."""

    new: Record
    words: frozenset[str]
    wanted: Sequence[str]
    latest: Sequence[Record]
    cosines: Mapping[str, float]


class Candidates:
    """Finds the records nearest to new ones by their words and by their meaning."""

    def __init__(
        self, store: Store, units: UnitIndex, vectors: VectorIndex, *, each: int = 5
    ) -> None:
        self._store = store
        self._units = units
        self._vectors = vectors
        self._each = each

    async def of(
        self,
        caller: Caller,
        new: Sequence[Record],
        embedded: Mapping[str, OwnerUnits],
        model: EmbeddingModel | None,
        now: datetime,
    ) -> dict[str, list[Candidate]]:
        """For each new record the live ones of its kind that this caller may change, those nearest
        first. What is said together is near to the same ones: they are read once."""
        near = [await self._near(caller, it, embedded[it.id], model, now) for it in new]
        scopes = chain.from_iterable(compared_scopes(caller, it.scope) for it in new)
        found = await self._store.records(
            list(dict.fromkeys(scopes)),
            Filter(kinds=frozenset(chain.from_iterable(compared_kinds(it.kind) for it in new))),
            now=now,
            ids=list(dict.fromkeys(chain.from_iterable(it.wanted for it in near))),
        )
        known = chain(found, *(it.latest for it in near))
        by_id = {it.id: it for it in known if _may_change(caller, it)}
        return {it.new.id: _candidates(it, by_id) for it in near}

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
            self._by_words(scopes, said, now), self._by_meaning(scopes, embedded, model, now)
        )
        near = [it for it, cosine in cosines.items() if cosine >= _NEAR]
        alike = [it for it, score in by_words.items() if score >= _ALIKE]
        latest: Sequence[Record] = ()
        if len(by_words) < self._each:
            # Where little is stored all of it is looked at: "moved to Munich" shares no word with
            # "lives in Berlin".
            where = Filter(kinds=compared_kinds(new.kind))
            latest = await self._store.records(scopes, where, now=now, limit=_FEW)
        wanted = [*near[: self._each], *alike[: self._each], *(it.id for it in latest)]
        return _Near(
            new=new,
            words=frozenset(said),
            wanted=list(dict.fromkeys(wanted)),
            latest=latest,
            cosines=cosines,
        )

    async def _by_words(
        self, scopes: Sequence[Scope], said: Sequence[str], now: datetime
    ) -> dict[str, float]:
        """The records that share words, and how much."""
        found = await self._units.search(scopes, term_keys(said), _LOOKED_AT, now=now)
        return _owners(found, found.scores)

    async def _by_meaning(
        self,
        scopes: Sequence[Scope],
        embedded: OwnerUnits,
        model: EmbeddingModel | None,
        now: datetime,
    ) -> dict[str, float]:
        """The nearest records and their cosines."""
        vector = _vector(embedded)
        if model is None or vector is None:
            return {}
        nearest = await self._vectors.search(scopes, {model: vector}, _LOOKED_AT, now=now)
        return _owners(nearest.matches, nearest.matches.raw)


def _candidates(near: _Near, records: Mapping[str, Record]) -> list[Candidate]:
    new = near.new
    found = [records[it] for it in near.wanted if it in records]
    return [
        Candidate(record=it, cosine=near.cosines.get(it.id))
        for it in found
        if it.kind in compared_kinds(new.kind)
        and (len(new.content) <= _LONG or _may_concern(near.words, it.content))
    ]


def _may_concern(words: frozenset[str], old: str) -> bool:
    """Whether a long text is worth comparing: with a claim always, else if they share words."""
    if len(old) <= _LONG:
        return True
    theirs = set(terms(old))
    return len(words & theirs) >= _SHARED * min(len(words), len(theirs))


def compared_kinds(kind: Kind) -> frozenset[Kind]:
    """What a new record is compared with: its own kind, and an event with the facts it may end."""
    return frozenset({kind, Kind.SEMANTIC}) if kind is Kind.EPISODIC else frozenset({kind})


def compared_scopes(caller: Caller, target: Scope) -> Sequence[Scope]:
    """Where a new record is compared: where it belongs, and where this caller might have kept it
    otherwise, since a preference stands with the agent or with the user."""
    own = [target]
    if target in (caller.scope, caller.scope.of_user):
        own += [it for it in (caller.scope, caller.scope.of_user) if it in caller.writable]
    return tuple(dict.fromkeys(own))


def _owners(matches: Matches, scores: Scores) -> dict[str, float]:
    """The records among what was found, best first, each with its best score."""
    is_record = matches.rows["kind"] == _RECORD
    owners = matches.rows["owner"][is_record].tolist()
    # Of an owner that comes again, the first and best score is the one that is set last.
    best = dict(zip(reversed(owners), reversed(scores[is_record].tolist()), strict=True))
    return {owner: best[owner] for owner in dict.fromkeys(owners)}


def _vector(embedded: OwnerUnits) -> Vector | None:
    whole = embedded.units[0].vector if embedded.units else None
    return None if whole is None else np.frombuffer(whole, "<f2").astype(np.float32)


def _may_change(caller: Caller, record: Record) -> bool:
    is_users_own = record.scope == caller.scope.of_user != caller.scope
    return not is_users_own or is_user_profile(record.category)
