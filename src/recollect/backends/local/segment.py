"""A segment: which units have which terms, packed in immutable arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.backends.local.bm25 import MAX_REPEATS, Scores, Weights, gains
from recollect.ports.units import Terms

Ids = NDArray[np.int64]
Keys = NDArray[np.uint64]
Mask = NDArray[np.bool_]
# Places in a segment; two bytes are enough for those of most.
Members = NDArray[np.uint16] | NDArray[np.int32]
# Where the members of each query term begin and end.
Spans = list[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Units in ascending order; those with term `i` are `members[starts[i] : starts[i + 1]]`."""

    units: Ids
    lengths: NDArray[np.int32]
    terms: Keys
    starts: NDArray[np.int32]
    members: Members
    repeats: NDArray[np.uint8]

    @property
    def size(self) -> int:
        return len(self.units)

    @property
    def bytes(self) -> int:
        arrays = (self.units, self.lengths, self.terms, self.starts, self.members, self.repeats)
        return sum(array.nbytes for array in arrays)

    def spans(self, keys: Keys) -> Spans:
        """Return where the members of each of these terms begin and end."""
        places = self.terms.searchsorted(keys)
        ends = self.terms.searchsorted(keys, "right")
        return list(zip(self.starts[places].tolist(), self.starts[ends].tolist(), strict=True))

    def score(self, spans: Spans, weights: Weights) -> Scores:
        """Return the BM25 score of every unit, given the members of each query term."""
        present = [
            (worth, slice(start, end))
            for worth, (start, end) in zip(weights.terms, spans, strict=True)
            if start < end
        ]
        if not present:
            return np.zeros(self.size)
        worths, places = zip(*present, strict=True)
        members = np.concatenate([self.members[place] for place in places]).astype(np.intp)
        repeats = np.concatenate([self.repeats[place] for place in places])
        worth = np.array(worths).repeat([place.stop - place.start for place in places])
        damping = weights.damping(self.lengths)[members]
        # Sum up in the order of the query, so that every index gives exactly the same score.
        gained = gains(repeats, damping, worth)
        return np.bincount(members, gained, self.size).astype(np.float64, copy=False)


def pack(
    units: Ids, lengths: NDArray[np.int32], keys: Keys, *, only: Keys | None = None
) -> Segment:
    """Pack units (in ascending order) whose terms are concatenated in `keys`.

    With `only`, other terms are left out; the lengths stay those of the whole units.
    """
    members = np.repeat(np.arange(len(units), dtype=np.int32), lengths)
    if only is not None:
        wanted = np.isin(keys, only)
        keys, members = keys[wanted], members[wanted]
    order = _stable_order(keys)
    keys, members = keys[order], members[order]
    firsts = np.flatnonzero(_differs(keys) | _differs(members))
    repeats = np.diff(np.append(firsts, len(keys)))
    keys, members = keys[firsts], members[firsts]
    starts = np.flatnonzero(_differs(keys))
    return Segment(
        units=units,
        lengths=lengths,
        terms=keys[starts],
        starts=np.append(starts, len(keys)).astype(np.int32),
        members=_narrow(members, len(units)),
        repeats=np.minimum(repeats, MAX_REPEATS).astype(np.uint8),
    )


def join(segments: Sequence[Segment]) -> Segment:
    """Return all segments as one; every unit of a segment must come before those of the next."""
    if len(segments) == 1:
        return segments[0]
    # Sorting is many times as fast as numpy's unique, which hashes.
    terms = np.sort(np.concatenate([part.terms for part in segments]))
    terms = terms[_differs(terms)]
    counts = np.zeros(len(terms), np.int64)
    places: list[NDArray[np.int64]] = []
    for part in segments:
        at = np.searchsorted(terms, part.terms)
        # Relative to the start of the joined term, after those of earlier segments.
        places.append(counts[at] - part.starts[:-1])
        counts[at] += np.diff(part.starts)
    starts = np.append(0, np.cumsum(counts))
    members = np.empty(starts[-1], np.int32)
    repeats = np.empty(starts[-1], np.uint8)
    before = 0
    for part, place in zip(segments, places, strict=True):
        at = np.searchsorted(terms, part.terms)
        shift = np.repeat(starts[at] + place, np.diff(part.starts))
        target = np.arange(len(part.members)) + shift
        members[target] = part.members.astype(np.int32) + np.int32(before)
        repeats[target] = part.repeats
        before += part.size
    return Segment(
        units=np.concatenate([part.units for part in segments]),
        lengths=np.concatenate([part.lengths for part in segments]),
        terms=terms,
        starts=starts.astype(np.int32),
        members=_narrow(members, before),
        repeats=repeats,
    )


def keep(segment: Segment, alive: Mask) -> Segment:
    """Return the segment without removed units, and without terms that only those have."""
    kept = alive[segment.members]
    starts = np.append(0, np.cumsum(kept))[segment.starts]
    used = np.diff(starts) > 0
    renumbered = (np.cumsum(alive) - 1).astype(np.int32)
    return Segment(
        units=segment.units[alive],
        lengths=segment.lengths[alive],
        terms=segment.terms[used],
        starts=np.append(starts[:-1][used], starts[-1]).astype(np.int32),
        members=_narrow(renumbered[segment.members[kept]], int(alive.sum())),
        repeats=segment.repeats[kept],
    )


def pack_texts(texts: Sequence[Terms], *, only: Keys) -> Segment:
    """Pack texts that are not stored anywhere, numbered as they come."""
    lengths = np.fromiter(map(len, texts), np.int32, len(texts))
    keys = np.concatenate([np.asarray(one, np.uint64) for one in texts])
    return pack(np.arange(len(texts), dtype=np.int64), lengths, keys, only=only)


def _stable_order(keys: Keys) -> Ids:
    """Return the indexes that sort the keys; those of equal keys stay in ascending order.

    Plain numbers sort many times as fast as indexes by their keys. So each number is the leading
    bits of a key followed by its index. Different keys hardly ever have the same leading bits.
    """
    mask = np.uint64((1 << len(keys).bit_length()) - 1)
    order = (np.sort((keys & ~mask) | np.arange(len(keys), dtype=np.uint64)) & mask).astype(np.intp)
    ordered = keys[order]
    if (ordered[1:] < ordered[:-1]).any():
        return np.argsort(keys, kind="stable")
    return order


def _narrow(members: NDArray[np.int32], size: int) -> Members:
    return members.astype(np.uint16) if size <= 1 << 16 else members


def _differs(values: NDArray[np.generic]) -> Mask:
    """Return where a value differs from the one before it."""
    differs = np.ones(len(values), np.bool_)
    differs[1:] = values[1:] != values[:-1]
    return differs
