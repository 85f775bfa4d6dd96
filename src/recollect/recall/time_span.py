"""Stretches of time that a question is about, and how close moments are to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from recollect.domain.times import to_micros
from recollect.ports.units import Ids, Scores

_DAY: Final = 86_400 * 1_000_000
# A longer stretch of time says less about what is meant.
_TELLING: Final = 366 * _DAY


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time that a question is about, in microseconds."""

    start: int
    end: int

    @classmethod
    def between(cls, start: datetime, end: datetime) -> TimeSpan:
        return cls(to_micros(start), to_micros(end))

    def closeness(self, moments: Ids) -> Scores:
        """1 within it, falling to nothing about as fast as it is long."""
        away = np.maximum(np.maximum(self.start - moments, moments - self.end), 0)
        length = max(self.end - self.start, _DAY)
        tells = min(1.0, _TELLING / length)
        return tells * np.exp(-away / length)


def closeness(moments: Ids, spans: Sequence[TimeSpan]) -> Scores:
    """How close moments are to the nearest of several times."""
    near = np.zeros(len(moments))
    for stretch in spans:
        near = np.maximum(near, stretch.closeness(moments))
    return near
