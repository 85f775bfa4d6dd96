"""How close moments are to the times that a question names."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.times import to_micros
from recollect.recall.paths import TimeSpan, closeness

_DAY = timedelta(days=1)
_WEDNESDAY = datetime(2026, 2, 25, tzinfo=UTC)


def _closeness(*moments: datetime, stretch: TimeSpan) -> list[float]:
    return stretch.closeness(np.array([to_micros(it) for it in moments], np.int64)).tolist()


def test_what_lies_within_is_as_close_as_can_be():
    day = TimeSpan.between(_WEDNESDAY, _WEDNESDAY + _DAY)
    assert _closeness(_WEDNESDAY, _WEDNESDAY + _DAY / 2, stretch=day) == [1.0, 1.0]


def test_closeness_falls_on_both_sides_alike_and_about_as_fast_as_the_time_is_long():
    day = TimeSpan.between(_WEDNESDAY, _WEDNESDAY + _DAY)
    before, after, far = _closeness(
        _WEDNESDAY - _DAY, _WEDNESDAY + 2 * _DAY, _WEDNESDAY + 30 * _DAY, stretch=day
    )
    assert before == after == pytest.approx(np.exp(-1))
    assert far < 0.001
    month = TimeSpan.between(_WEDNESDAY, _WEDNESDAY + 30 * _DAY)
    assert _closeness(_WEDNESDAY - _DAY, stretch=month)[0] > 0.9


def test_an_hour_is_not_read_more_sharply_than_a_day():
    hour = TimeSpan.between(_WEDNESDAY, _WEDNESDAY + _DAY / 24)
    assert _closeness(_WEDNESDAY + _DAY / 2, stretch=hour)[0] > 0.5


def test_a_decade_tells_less_than_a_year():
    decade = TimeSpan.between(_WEDNESDAY, _WEDNESDAY + 3660 * _DAY)
    year = TimeSpan.between(_WEDNESDAY, _WEDNESDAY + 366 * _DAY)
    assert _closeness(_WEDNESDAY, stretch=decade) == [pytest.approx(0.1)]
    assert _closeness(_WEDNESDAY, stretch=year) == [1.0]


def test_of_several_times_the_nearest_counts():
    one = TimeSpan.between(_WEDNESDAY, _WEDNESDAY + _DAY)
    other = TimeSpan.between(_WEDNESDAY + 50 * _DAY, _WEDNESDAY + 51 * _DAY)
    moments = np.array([to_micros(_WEDNESDAY), other.start, one.end + 20 * (one.end - one.start)])
    near = closeness(moments, [one, other])
    assert near[:2].tolist() == [1.0, 1.0]
    assert near[2] < 0.001
    assert closeness(moments, []).tolist() == [0.0, 0.0, 0.0]


@given(
    st.integers(-(10**15), 10**15),
    st.integers(0, 10**16),
    st.lists(st.integers(-(10**16), 10**16), min_size=1, max_size=8),
)
def test_closeness_is_a_share(start: int, length: int, moments: list[int]):
    near = closeness(np.array(moments, np.int64), [TimeSpan(start, start + length)])
    assert ((near >= 0) & (near <= 1)).all()
