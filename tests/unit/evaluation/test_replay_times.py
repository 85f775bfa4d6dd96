"""Every notation of time that the recall sets use."""

from datetime import UTC, datetime

import pytest

from recollect.evaluation.replay import parse_time


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:09 am on 13 September, 2023", datetime(2023, 9, 13, 0, 9, tzinfo=UTC)),
        ("March-15-2024", datetime(2024, 3, 15, tzinfo=UTC)),
        ("2024年04月02日 周二 07:08", datetime(2024, 4, 2, 7, 8, tzinfo=UTC)),
        ("2024年4月2日", datetime(2024, 4, 2, tzinfo=UTC)),
        ("2023/05/20 (Sat) 04:48", datetime(2023, 5, 20, 4, 48, tzinfo=UTC)),
        ("2025-12-25 (Thursday)", datetime(2025, 12, 25, tzinfo=UTC)),
        ("2025-01", datetime(2025, 1, 1, tzinfo=UTC)),
        ("2025-01-02", datetime(2025, 1, 2, tzinfo=UTC)),
        ("2025-01-02 08:20:15", datetime(2025, 1, 2, 8, 20, 15, tzinfo=UTC)),
        ("2023-05-30T08:00:00+08:00", datetime(2023, 5, 30, tzinfo=UTC)),
    ],
)
def test_a_known_notation_is_read_as_utc(written, meant):
    assert parse_time(written) == meant


@pytest.mark.parametrize("written", [None, "", "yesterday", "2024-13-01", "上周"])
def test_what_names_no_moment_is_left_out(written):
    assert parse_time(written) is None
