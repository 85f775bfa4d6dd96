"""Evidence for a candidate from the texts around it.

An answer often shares no word with its question, but the turn before it does; and the answer is
likely in a session or on a day in which much fits. Measured in docs/decisions/0008-conversation.md.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.domain.sections import RecallSettings
from recollect.domain.unit import TURN, UNIT_OWNERS, Trait
from recollect.ports.units import Ids, Scores
from recollect.recall.candidates import Candidates

_TURN: Final = UNIT_OWNERS.index(TURN)
# A longer text explains itself, and covers too much to explain its neighbours.
_SELF_CONTAINED_CHARS: Final = 600

Flags = NDArray[np.bool_]


def from_neighbours(
    candidates: Candidates, evidence: Scores, words: Scores, recall: RecallSettings
) -> Scores:
    """Return the evidence that each candidate gains from its surroundings."""
    order = np.lexsort(candidates.rows.columns("place", "cluster"))
    every = candidates.rows.columns("cluster", "place", "size", "kind", "traits")
    clusters, places, sizes, kinds, traits = np.stack(every).take(order, axis=1)
    brevity = np.maximum(1 - sizes / _SELF_CONTAINED_CHARS, 0.0)
    said = evidence[order] * brevity
    is_turn = kinds == _TURN
    weight = np.where(is_turn, recall.session_weight, recall.day_weight)
    added = weight * _company(clusters, said, evidence[order])
    if len(order) > 1 and is_turn.any():
        for step in (1, 2)[: len(order) - 1]:
            near = _are_near(clusters, places, is_turn, step) * (recall.neighbour_weight / step)
            added[step:] += near * said[:-step]
            added[:-step] += near * said[step:]
        asked = words[order] * brevity * (traits & Trait.ASKS > 0)
        # An assistant answers any question, so its answers are no evidence.
        answers = is_turn & (traits & Trait.BY_ASSISTANT == 0)
        follows = _are_near(clusters, places, is_turn, 1) & answers[1:]
        added[1:] += recall.answer_weight * asked[:-1] * follows
    back = np.empty(len(order))
    back[order] = added
    return back


def _company(clusters: Ids, said: Scores, alone: Scores) -> Scores:
    """Return the best evidence in the same session or on the same day, including its own.

    The larger the share of candidates in one session or day, the less being there means.
    """
    # A candidate without a cluster is alone.
    begins = clusters == 0
    begins[0] = True
    begins[1:] |= clusters[1:] != clusters[:-1]
    number = begins.cumsum() - 1
    share = np.bincount(number) / len(clusters)
    best = np.maximum(np.maximum.reduceat(said, begins.nonzero()[0])[number], alone)
    return best * (1 - share[number])


def _are_near(clusters: Ids, places: Ids, is_turn: Flags, step: int) -> Flags:
    """Return whether each row is a turn said right after the one `step` rows before."""
    together = is_turn[step:] & (clusters[step:] == clusters[:-step])
    return together & (places[step:] - places[:-step] <= step)
