"""Superseded turns: the record that says what is current takes their place in an answer.

A record that overwrites an earlier version keeps the turns of that version among its related terms,
and is found by them. When it is undone, deleted or forgotten, the turns count again on their own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from recollect.domain.record import Record
from recollect.domain.relation import Link
from recollect.language.units import turn_key
from recollect.ports.units import UnitIndex
from recollect.recall.candidates import Candidate, Candidates, best_first
from recollect.recall.paths import Found
from recollect.recall.question import Question

# Successors are looked up for turns among the best, up to this many times the limit.
_REACH_FACTOR: Final = 4
# The same turns are found again and again.
_key_of: Final = lru_cache(maxsize=4_096)(turn_key)
# One turn may have said several things that changed.
_RECORDS_PER_TURN: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Succession:
    """The records that supersede turns among the hits, and the record for each turn."""

    found: Found = field(default_factory=lambda: Found(path="replaced"))
    by_turn: Mapping[str, str] = field(default_factory=dict[str, str])


async def search_successors(units: UnitIndex, question: Question, ranked: Candidates) -> Succession:
    """Return the records that supersede the best turns."""
    turns = {_key_of(turn): turn for turn in ranked.turns(_REACH_FACTOR * question.limit)}
    if not turns:
        return Succession()
    matches = await units.search(
        question.scopes, sorted(turns), _RECORDS_PER_TURN * len(turns), now=question.now
    )
    if not len(matches):
        return Succession()
    places: list[int] = matches.column("unit").tolist()
    keys = await units.terms_of(places)
    by_turn: dict[str, str] = {}
    for unit, record in zip(places, matches.column("owner").tolist(), strict=True):
        for key in turns.keys() & keys.get(unit, frozenset[int]()):
            by_turn.setdefault(turns[key], record)
    return Succession(found=Found(path="replaced", matches=matches), by_turn=by_turn)


def outlived(by_turn: Mapping[str, str], records: Iterable[Record]) -> dict[str, str]:
    """Return the turns that no other of these records relies on, with their successors."""
    alive = {(source.turn, record.id) for record in records for source in record.evidence}
    return {
        turn: successor
        for turn, successor in by_turn.items()
        if all(other != turn or record == successor for other, record in alive)
    }


def below_successors(scored: Sequence[Candidate]) -> Sequence[Candidate]:
    """Sort best first, with nothing superseded before its successor."""
    if not scored or not scored[0].candidates.superseded:
        return scored
    scores = {hit.owner_id: hit.score for hit in scored}
    bounded = [
        hit._replace(score=min(hit.score, scores.get(hit.superseded_by or "", hit.score)))
        for hit in scored
    ]
    return sorted(bounded, key=lambda hit: (-hit.score, hit.superseded_by is not None))


# --- The effect of links on a recall: duplicates, successors, and the order they imply ------------


def repeated(links: Iterable[Link], found: Collection[str]) -> dict[str, str]:
    """Return the duplicates among the found items by their links, with the item that is shown.

    A record is shown instead of a turn, and otherwise the newer item instead of the older: if they
    differ after all, the newer one is current.
    """
    pairs: dict[str, str] = {}
    for link in links:
        if link.relation == "same" and link.newer in found and link.older in found:
            is_turn = link.newer.startswith("turn_") and not link.older.startswith("turn_")
            shown, left_out = (link.older, link.newer) if is_turn else (link.newer, link.older)
            pairs[left_out] = shown
    return {left_out: (_chain(left_out, pairs, found) or [left_out])[-1] for left_out in pairs}


def counted(records: Mapping[str, Record], repeats: Mapping[str, str]) -> dict[str, int]:
    """Return how often each shown record was said, including its duplicates."""
    counts: Counter[str] = Counter()
    for left_out, shown in repeats.items():
        if left_out in records and shown in records:
            counts[shown] += records[left_out].evidence_count
    return {owner: records[owner].evidence_count + more for owner, more in counts.items()}


def followers(links: Iterable[Link]) -> dict[str, tuple[str, ...]]:
    """Return, for each older item, the newer ones that update or contradict it.

    The one that was judged last comes last.
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    for link in links:
        if link.relation in ("update", "conflict"):
            found[link.older].append(link.newer)
    return {older: tuple(newer) for older, newer in found.items()}


def newest_first(
    scored: Sequence[Candidate], after: Mapping[str, Sequence[str]]
) -> list[Candidate]:
    """Sort best first, with every newer item before the older one that it follows.

    A newer item takes over a better score of the older one, because both are about the same.
    """
    if not after:
        return best_first(scored)
    by_owner = {hit.owner_id: hit for hit in scored}
    depths = {
        owner: _depth(owner, after, by_owner, frozenset()) if owner in after else 0
        for owner in by_owner
    }
    for owner in sorted(by_owner, key=depths.__getitem__, reverse=True):
        earlier = by_owner[owner]
        for newer in after.get(owner, ()):
            later = by_owner.get(newer)
            if later is not None and later.score < earlier.score and depths[newer] < depths[owner]:
                by_owner[newer] = later.moved(earlier.score, f"follows {owner}")
    newest = sorted(by_owner, key=depths.__getitem__)
    return best_first([by_owner[owner] for owner in newest])


def _depth(
    owner: str, after: Mapping[str, Sequence[str]], among: Collection[str], seen: frozenset[str]
) -> int:
    """Return the number of steps from an item to the newest one that follows it."""
    seen |= {owner}
    steps = [
        1 + _depth(newer, after, among, seen)
        for newer in after.get(owner, ())
        if newer in among and newer not in seen
    ]
    return max(steps, default=0)


def _chain(owner: str, after: Mapping[str, str], among: Collection[str]) -> list[str]:
    """Return the items that follow, step by step, as far as they were found."""
    chain: list[str] = []
    while (owner := after.get(owner, "")) in among and owner not in chain:
        chain.append(owner)
    return chain
