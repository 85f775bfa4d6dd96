"""How sure it is that a memory has anything to do with a question.

Everything around what was found, its speaker and its names add up, also where nothing fits: a
question about black holes meets a "hole" and somebody who talks all day. What the words and the
nearness say at their best tells the two apart (measured, see docs/decisions/0017-sureness.md). It
is the same for all that a question finds, so it changes no order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from recollect.domain.calibration import MemoryCalibration
from recollect.ports.units import Scores
from recollect.recall.candidates import Candidates
from recollect.recall.paths import Found, PathName

# What is found is still found when somebody wants all of it.
_LEAST: Final = 0.1
_LEAST_OWN: Final = 0.5


def confidence(
    candidates: Candidates,
    found: Sequence[Found],
    recent: float,
    model: MemoryCalibration,
    *,
    only_asks: bool,
) -> float:
    """Return how sure it is, from almost 0 to 1.

    `recent` is how much a message is about what was last, whatever it is; `model` says what
    nearness means. `only_asks` is whether the message is one question: what answers a question is
    about all of it, while a task is served by what bears on a part of it.
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
    # A question that is about a time is answered by what was then.
    timed = max((it.trust for it in found if it.spans), default=0.0)
    return min(1.0, max(_LEAST, sure, timed, recent))


def own_confidence(
    candidates: Candidates,
    found: Sequence[Found],
    recent: float,
    model: MemoryCalibration,
) -> Scores | float:
    """Return for each candidate how sure it is that its own text has to do with the question.

    What stands around a text decides which one is best, never whether one fits at all.
    """
    if not _has_vectors(candidates, found):
        return 1.0
    horizon = candidates.opinions["vector"].horizon
    nearness = model.nearness * candidates.scores("vector", otherwise=horizon)
    fit = np.hypot(candidates.scores("keyword"), nearness)
    sure = (fit - model.foreign) / (model.fitting - model.foreign)
    return np.clip(sure, max(_LEAST_OWN, recent), 1.0)


def _has_vectors(candidates: Candidates, found: Sequence[Found]) -> bool:
    """Return whether meaning was asked: words alone know nothing of what means the same."""
    vector = next((it for it in found if it.path == "vector"), None)
    return vector is not None and vector.trust > 0 and "vector" in candidates.opinions


def _best(candidates: Candidates, path: PathName) -> float:
    opinion = candidates.opinions.get(path)
    return 0.0 if opinion is None else float(opinion.scores.max())
