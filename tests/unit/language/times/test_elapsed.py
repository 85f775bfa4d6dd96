"""How long ago something was, in both languages."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from recollect.language.times.mentions import ago, days_ago

_NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "chinese", "english"),
    [
        (timedelta(seconds=20), "刚刚", "just now"),
        (timedelta(seconds=-20), "刚刚", "just now"),
        (timedelta(minutes=1), "1分钟前", "1 minute ago"),
        (timedelta(minutes=59), "59分钟前", "59 minutes ago"),
        (timedelta(hours=1), "1小时前", "1 hour ago"),
        (timedelta(hours=23), "23小时前", "23 hours ago"),
        (timedelta(hours=26), "昨天", "yesterday"),
        (timedelta(days=2), "2天前", "2 days ago"),
        (timedelta(hours=-3), "3小时后", "in 3 hours"),
    ],
)
def test_within_a_day_it_is_told_to_the_minute(before, chinese, english):
    assert ago(_NOW - before, _NOW, "zh") == chinese
    assert ago(_NOW - before, _NOW, "en") == english


@pytest.mark.parametrize(
    ("then", "chinese", "english"),
    [
        (datetime(2026, 3, 15, 0, 0, tzinfo=UTC), "今天", "today"),
        (datetime(2026, 3, 14, 23, 59, tzinfo=UTC), "昨天", "yesterday"),
        (datetime(2026, 3, 13, 23, 59, tzinfo=UTC), "2天前", "2 days ago"),
        (datetime(2026, 3, 2, tzinfo=UTC), "13天前", "13 days ago"),
        (datetime(2026, 3, 1, tzinfo=UTC), "2周前", "2 weeks ago"),
        (datetime(2026, 1, 16, tzinfo=UTC), "8周前", "8 weeks ago"),
        (datetime(2026, 1, 15, tzinfo=UTC), "2个月前", "2 months ago"),
        (datetime(2024, 3, 16, tzinfo=UTC), "23个月前", "23 months ago"),
        (datetime(2024, 3, 15, tzinfo=UTC), "2年前", "2 years ago"),
        (datetime(2016, 3, 16, tzinfo=UTC), "9年前", "9 years ago"),
        (datetime(2026, 3, 16, 1, 0, tzinfo=UTC), "明天", "tomorrow"),
        (datetime(2026, 3, 20, 1, 0, tzinfo=UTC), "5天后", "in 5 days"),
    ],
)
def test_days_are_those_of_the_calendar(then, chinese, english):
    assert days_ago(then, _NOW, "zh") == chinese
    assert days_ago(then, _NOW, "en") == english


def test_the_words_do_not_change_between_two_midnights():
    then = datetime(2026, 3, 13, 18, 30, tzinfo=UTC)
    said = {days_ago(then, _NOW.replace(hour=hour, minute=hour), "zh") for hour in range(24)}
    assert said == {"2天前"}


def test_a_day_begins_where_the_asker_lives():
    late_in_london = datetime(2026, 3, 14, 23, 0, tzinfo=UTC)
    in_beijing = _NOW.astimezone(timezone(timedelta(hours=8)))
    assert days_ago(late_in_london, _NOW, "en") == "yesterday"
    assert days_ago(late_in_london, in_beijing, "en") == "today"


def test_the_ends_of_the_calendar_can_be_told():
    in_beijing = _NOW.astimezone(timezone(timedelta(hours=8)))
    assert days_ago(datetime.max.replace(tzinfo=UTC), in_beijing, "en") == "in 7973 years"
    assert days_ago(datetime.min.replace(tzinfo=UTC), in_beijing, "zh") == "2025年前"
