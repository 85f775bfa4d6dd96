"""What was said of "next week" is read weeks later; the date of that week stands beside it."""

from datetime import UTC, datetime

import pytest

from recollect.language.times.dating import with_dates, without_dates

THURSDAY = datetime(2026, 11, 19, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Moved to Porto last month", "Moved to Porto last month (2026-10)"),
        ("The demo is next Wednesday at 3pm", "The demo is next Wednesday (2026-11-25) at 3pm"),
        ("Dentist tomorrow morning", "Dentist tomorrow morning (2026-11-20)"),
        ("We fly next week", "We fly next week (2026-11-23 to 2026-11-29)"),
        ('Likes "Help!", flies tomorrow', 'Likes "Help!", flies tomorrow (2026-11-20)'),
        ("We hire five this year", "We hire five this year (2026)"),
        ("下周三要去深圳出差", "下周三（2026-11-25）要去深圳出差"),
        ("上个月搬家，去年还住西湖区", "上个月（2026-10）搬家，去年（2025）还住西湖区"),
        ("下周很忙", "下周（2026-11-23至2026-11-29）很忙"),
    ],
)
def test_a_time_that_counts_from_that_day_has_its_date(said: str, kept: str) -> None:
    assert with_dates(said, THURSDAY, "zh" if "周" in said or "月" in said else "en") == kept
    assert without_dates(kept) == said


@pytest.mark.parametrize(
    "said",
    [
        "The demo is next Friday",  # tomorrow, or a week later
        "I met her on Friday",
        "The launch is in March",
        "Lived in Lyon in 2019, from 2019-03-01 on",
        "Recently took up running",
        "Talks about today's youth",
        "Works at Tomorrow Ltd and reads USA Today",
        'Sings "Yesterday" at parties',
        "喜欢《明天会更好》，在看“后天”",
        "出差的时候这几天评审推迟",
        "他那几天以后由慕容雪顶上",
        "Back tomorrow (2026-11-20)",
        "后天（周六）去爬山",
        "周五交报告，国庆去北京，最近在减肥",
        "No time at all",
    ],
)
def test_a_time_that_is_clear_or_may_mean_several_is_left_as_it_is(said: str) -> None:
    assert with_dates(said, THURSDAY, "en") == said
