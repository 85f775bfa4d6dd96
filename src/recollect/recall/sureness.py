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

from recollect.recall.candidates import Candidates
from recollect.recall.paths import Found, PathName

# A cosine says as much as twice the share of words.
_NEARNESS: Final = 2.0
# Below the first nothing is sure, from the second on everything is.
_DOUBTFUL: Final = 0.3
_SURE: Final = 0.7
# What is found is still found when somebody wants all of it.
_LEAST: Final = 0.1


def sureness(candidates: Candidates, found: Sequence[Found], recent: float) -> float:
    """From almost 0 to 1; `recent` is how much a message is about what was last, whatever it is."""
    vector = next((it for it in found if it.path == "vector"), None)
    if vector is None or not vector.trust or "vector" not in candidates.opinions:
        # Words alone know nothing of what means the same.
        return 1.0
    words, nearness = _best(candidates, "keyword"), _best(candidates, "vector")
    fit = math.hypot(words, _NEARNESS * nearness)
    sure = (fit - _DOUBTFUL) / (_SURE - _DOUBTFUL)
    # A question that is about a time is answered by what was then.
    timed = max((it.trust for it in found if it.stretches), default=0.0)
    return min(1.0, max(_LEAST, sure, timed, recent))


def _best(candidates: Candidates, path: PathName) -> float:
    opinion = candidates.opinions.get(path)
    return 0.0 if opinion is None else float(opinion.scores.max())
