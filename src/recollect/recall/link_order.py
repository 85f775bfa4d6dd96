"""What links say about what was found: what repeats, what came later, what is the earlier one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from recollect.domain.hit import Boost
from recollect.domain.link import Link
from recollect.domain.record import Record
from recollect.recall.candidate_loader import Weighed


def repeated(links: Iterable[Link], found: Collection[str]) -> dict[str, str]:
    """Of what was found and is linked as the same: what is left out, with what stands for it.

    A record stands for a turn, and otherwise the newer for the older: if they differ after all,
    it says what holds now.
    """
    pairs: dict[str, str] = {}
    for link in links:
        if link.relation == "same" and link.newer in found and link.older in found:
            is_turn = link.newer.startswith("turn_") and not link.older.startswith("turn_")
            shown, left_out = (link.older, link.newer) if is_turn else (link.newer, link.older)
            pairs[left_out] = shown
    return {left_out: (_chain(left_out, pairs, found) or [left_out])[-1] for left_out in pairs}


def counted(records: Mapping[str, Record], repeats: Mapping[str, str]) -> dict[str, int]:
    """How often what is shown was said: by itself and by what it stands for."""
    counts: Counter[str] = Counter()
    for left_out, shown in repeats.items():
        if left_out in records and shown in records:
            counts[shown] += records[left_out].evidence_count
    return {owner: records[owner].evidence_count + more for owner, more in counts.items()}


def followers(links: Iterable[Link]) -> dict[str, tuple[str, ...]]:
    """Return the newer ones of each that is linked as their earlier value or contradicted by them.

    The one that was judged last comes last.
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    for link in links:
        if link.relation in ("update", "conflict"):
            found[link.older].append(link.newer)
    return {older: tuple(newer) for older, newer in found.items()}


def newest_first(weighed: Sequence[Weighed], after: Mapping[str, Sequence[str]]) -> list[Weighed]:
    """Return the same, best first, where every newer one stands before what it follows.

    It takes over the score of the earlier one if that is better: it is about the same.
    """
    by_owner = {one.fused.owner_id: one for one in weighed}
    depths = {owner: _depth(owner, after, by_owner, frozenset()) for owner in by_owner}
    for owner in sorted(by_owner, key=lambda name: -depths[name]):
        earlier = by_owner[owner]
        for newer in after.get(owner, ()):
            later = by_owner.get(newer)
            if later is not None and later.score < earlier.score and depths[newer] < depths[owner]:
                boost = Boost(reason=f"follows {owner}", factor=earlier.score / later.score)
                by_owner[newer] = later._replace(score=earlier.score, boosts=(*later.boosts, boost))
    return sorted(by_owner.values(), key=lambda one: (-one.score, depths[one.fused.owner_id]))


def _depth(
    owner: str, after: Mapping[str, Sequence[str]], among: Collection[str], seen: frozenset[str]
) -> int:
    """Return how many steps lead from it to what nothing follows."""
    seen |= {owner}
    steps = [
        1 + _depth(newer, after, among, seen)
        for newer in after.get(owner, ())
        if newer in among and newer not in seen
    ]
    return max(steps, default=0)


def _chain(owner: str, after: Mapping[str, str], among: Collection[str]) -> list[str]:
    """What follows on it, step by step, as far as it is there."""
    chain: list[str] = []
    while (owner := after.get(owner, "")) in among and owner not in chain:
        chain.append(owner)
    return chain
