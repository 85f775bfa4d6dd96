"""Time spans that a question is about, and how close moments are to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from recollect.domain.times import to_micros
from recollect.ports.units import Ids, Scores

_DAY_MICROS: Final = 86_400 * 1_000_000
# A longer span says less about what is meant.
_FULL_WEIGHT_MICROS: Final = 366 * _DAY_MICROS


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time that a question is about, in microseconds."""

    start: int
    end: int

    @classmethod
    def between(cls, start: datetime, end: datetime) -> TimeSpan:
        return cls(to_micros(start), to_micros(end))

    def closeness(self, moments: Ids) -> Scores:
        """Return 1 inside the span, falling to 0 about as fast as the span is long."""
        away = np.maximum(np.maximum(self.start - moments, moments - self.end), 0)
        length = max(self.end - self.start, _DAY_MICROS)
        tells = min(1.0, _FULL_WEIGHT_MICROS / length)
        return tells * np.exp(-away / length)


def closeness(moments: Ids, spans: Sequence[TimeSpan]) -> Scores:
    """Return how close moments are to the nearest of several spans."""
    near = np.zeros(len(moments))
    for span in spans:
        near = np.maximum(near, span.closeness(moments))
    return near
