"""The effect of links on a recall: duplicates, successors, and the order they imply."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from recollect.domain.hit import Boost
from recollect.domain.link import Link
from recollect.domain.record import Record
from recollect.recall.candidate_loader import Weighed


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


def newest_first(weighed: Sequence[Weighed], after: Mapping[str, Sequence[str]]) -> list[Weighed]:
    """Sort best first, with every newer item before the older one that it follows.

    A newer item takes over a better score of the older one, because both are about the same.
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
