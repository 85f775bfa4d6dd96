"""What is stored that a new record may say again, change or contradict."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from recollect.domain.category import is_user_profile
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.filters import Filter
from recollect.domain.record import Record
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


class Candidates:
    """Finds the records nearest to a new one by their words and by their meaning."""

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
        new: Record,
        embedded: OwnerUnits,
        model: EmbeddingModel | None,
        now: datetime,
    ) -> list[Candidate]:
        """Live records of the same kind that this caller may change, those nearest first."""
        scopes = compared_scopes(caller, new.scope)
        said = terms(new.content)
        by_words, cosines = await asyncio.gather(
            self._by_words(scopes, said, now), self._by_meaning(scopes, embedded, model, now)
        )
        near = [it for it, cosine in cosines.items() if cosine >= _NEAR]
        alike = [it for it, score in by_words.items() if score >= _ALIKE]
        wanted = list(dict.fromkeys([*near[: self._each], *alike[: self._each]]))
        where = Filter(kinds=frozenset({new.kind}))
        found = await self._store.records(scopes, where, now=now, ids=wanted)
        if len(by_words) < self._each:
            # Where little is stored all of it is looked at: "moved to Munich" shares no word with
            # "lives in Berlin".
            latest = await self._store.records(scopes, where, now=now, limit=_FEW)
            wanted = list(dict.fromkeys([*wanted, *(it.id for it in latest)]))
            found = [*found, *latest]
        by_id = {it.id: it for it in found if _may_change(caller, it)}
        words = frozenset(said)
        return [
            Candidate(record=by_id[it], cosine=cosines.get(it))
            for it in wanted
            if it in by_id and (len(new.content) <= _LONG or _may_concern(words, by_id[it].content))
        ]

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


def _may_concern(words: frozenset[str], old: str) -> bool:
    """Whether a long text is worth comparing: with a claim always, else if they share words."""
    if len(old) <= _LONG:
        return True
    theirs = set(terms(old))
    return len(words & theirs) >= _SHARED * min(len(words), len(theirs))


def compared_scopes(caller: Caller, target: Scope) -> Sequence[Scope]:
    """Where a new record is compared: where it belongs, and where this caller might have kept it
    otherwise, since a preference stands with the agent or with the user."""
    own = [target]
    if target in (caller.scope, caller.scope.of_user):
        own += [it for it in (caller.scope, caller.scope.of_user) if it in caller.writable]
    return tuple(dict.fromkeys(own))


def _owners(matches: Matches, scores: Scores) -> dict[str, float]:
    """The records among what was found, best first, each with its best score."""
    best: dict[str, float] = {}
    is_record = matches.rows["kind"] == _RECORD
    owners = matches.rows["owner"][is_record]
    for owner, score in zip(owners.tolist(), scores[is_record].tolist(), strict=True):
        best.setdefault(owner, score)
    return best


def _vector(embedded: OwnerUnits) -> Vector | None:
    whole = embedded.units[0].vector if embedded.units else None
    return None if whole is None else np.frombuffer(whole, "<f2").astype(np.float32)


def _may_change(caller: Caller, record: Record) -> bool:
    is_users_own = record.scope == caller.scope.of_user != caller.scope
    return not is_users_own or is_user_profile(record.category)
