"""How confident it is that memory holds anything relevant to a question.

The evidence for a candidate also adds up where nothing fits: a question about black holes meets a
"hole" and somebody who talks all day. The best keyword and vector scores tell the two cases apart
(measured, see docs/decisions/0017-sureness.md). The confidence is the same for all candidates of a
question, so it changes no order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from recollect.domain.embedding import MemoryCalibration
from recollect.ports.units import Scores
from recollect.recall.candidates import Candidates
from recollect.recall.paths import Found, PathName

# Above 0, so that a recall with a low `min_score` still returns everything.
_MIN_CONFIDENCE: Final = 0.1
_MIN_OWN_CONFIDENCE: Final = 0.5


def confidence(
    candidates: Candidates,
    found: Sequence[Found],
    recent: float,
    model: MemoryCalibration,
    *,
    only_asks: bool,
) -> float:
    """Return the confidence, from almost 0 to 1.

    `recent` is how much a message is about the most recent events; `model` calibrates the vector
    scores. `only_asks` is whether the message is a single question: an answer must be about all of
    it, while a task is served by anything that bears on a part of it.
    """
    if not _has_vectors(candidates, found):
        return 1.0
    words, nearness = _best(candidates, "keyword"), _best(candidates, "vector")
    fit = math.hypot(words, model.nearness * nearness)
    doubtful, certain = (
        (model.question_doubtful, model.question_sure)
        if only_asks
        else (model.doubtful, model.sure)
    )
    sure = (fit - doubtful) / (certain - doubtful)
    # A question about a time is answered by whatever happened then.
    timed = max((answer.trust for answer in found if answer.spans), default=0.0)
    return min(1.0, max(_MIN_CONFIDENCE, sure, timed, recent))


def own_confidence(
    candidates: Candidates,
    found: Sequence[Found],
    recent: float,
    model: MemoryCalibration,
) -> Scores | float:
    """Return for each candidate the confidence that its own text is relevant.

    The surroundings of a text decide which candidate is best, never whether one fits at all.
    """
    if not _has_vectors(candidates, found):
        return 1.0
    horizon = candidates.opinions["vector"].horizon
    nearness = model.nearness * candidates.scores("vector", otherwise=horizon)
    fit = np.hypot(candidates.scores("keyword"), nearness)
    sure = (fit - model.foreign) / (model.fitting - model.foreign)
    return np.clip(sure, max(_MIN_OWN_CONFIDENCE, recent), 1.0)


def _has_vectors(candidates: Candidates, found: Sequence[Found]) -> bool:
    """Return whether the vector path answered; keywords alone cannot find synonyms."""
    vector = next((answer for answer in found if answer.path == "vector"), None)
    return vector is not None and vector.trust > 0 and "vector" in candidates.opinions


def _best(candidates: Candidates, path: PathName) -> float:
    opinion = candidates.opinions.get(path)
    return 0.0 if opinion is None else float(opinion.scores.max())
