"""The times that questions name are found as the one who asks means them."""

import csv
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.language.analysis import query_terms
from recollect.language.times.calendar import date_terms
from recollect.language.times.expressions import AfterEvent, When, find_times
from tests.growth import grows_in_proportion

ASKED = datetime(2024, 5, 15, 10, tzinfo=UTC)  # a Wednesday
LABELLED = Path(__file__).parents[3] / "data" / "when.tsv"
ENGLISH = (
    "yesterday last this next the week weekend month year before after since until of in on May"
    " March fall Friday two days ago end first half Christmas New Year's Eve Q3 2024 9999 0001"
)
CHINESE = (
    "上 下 个 月 年 日 号 周 三 末 底 初 前 后 之 以来 半 十 最近 国庆 春节 春天 昨晚 第 1 -02-30"
)
TIME_WORDS = [*(f"{word} " for word in ENGLISH.split()), *CHINESE.split()]


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def only_time(question: str, asked_at: datetime = ASKED) -> tuple[datetime, datetime]:
    found = find_times(question, asked_at)
    assert len(found) == 1, found
    assert isinstance(found[0], When)
    return found[0].start, found[0].end


def words_found(question: str) -> list[str]:
    return [found.text for found in find_times(question, ASKED)]


def labelled_questions() -> list[dict[str, str]]:
    with LABELLED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("row", labelled_questions(), ids=lambda row: row["question"])
def test_a_labelled_question_names_the_time_its_label_says_and_no_other(
    row: dict[str, str],
) -> None:
    asked_at = datetime.fromisoformat(row["asked_at"])
    expected: list[When | AfterEvent] = []
    found = find_times(row["question"], asked_at)
    if row["event"]:
        start, end = (timedelta(days=float(row[edge])) for edge in ("start", "end"))
        expected = [AfterEvent(event=row["event"], start=start, end=end, text=words(found))]
    elif row["start"]:
        start, end = (
            datetime.fromisoformat(row[edge]).replace(tzinfo=asked_at.tzinfo)
            for edge in ("start", "end")
        )
        expected = [When(start=start, end=end, text=words(found))]
    assert list(found) == expected


def words(found: tuple[When | AfterEvent, ...]) -> str:
    """Labels do not say which words name the time: that is tested apart."""
    return found[0].text if found else ""


def test_both_languages_are_labelled_with_sixty_times_and_many_that_only_look_like_one() -> None:
    rows = labelled_questions()
    for language in ("en", "zh"):
        mine = [row for row in rows if row["language"] == language]
        assert sum(bool(row["start"]) for row in mine) >= 60
        assert sum(not row["start"] for row in mine) >= 25


def test_the_words_that_name_a_time_are_given_with_it() -> None:
    assert words_found("What did I eat two days before May 5?") == ["two days before May 5"]
    assert words_found("我们去年国庆假期去了哪里") == ["去年国庆假期"]
    assert words_found("What did I buy yesterday, and what on 2024-05-01?") == [
        "yesterday",
        "2024-05-01",
    ]


def test_times_in_mixed_text_are_found_in_both_languages() -> None:
    assert words_found("last week的standup和上周三的review说了什么") == ["last week", "上周三"]


def test_the_one_who_asks_decides_what_a_day_is() -> None:
    moment = datetime(2024, 5, 14, 20, tzinfo=UTC)
    in_shanghai = moment.astimezone(ZoneInfo("Asia/Shanghai"))
    assert only_time("昨天", moment)[0].isoformat() == "2024-05-13T00:00:00+00:00"
    assert only_time("昨天", in_shanghai)[0].isoformat() == "2024-05-14T00:00:00+08:00"


def test_a_day_with_a_clock_change_ends_at_midnight() -> None:
    start, end = only_time("yesterday", datetime(2024, 4, 1, 9, tzinfo=ZoneInfo("Europe/Berlin")))
    assert (start.isoformat(), end.isoformat()) == (
        "2024-03-31T00:00:00+01:00",
        "2024-04-01T00:00:00+02:00",
    )


def test_a_date_without_a_year_is_the_latest_one_that_is_not_to_come() -> None:
    assert only_time("on May 15")[0] == day("2024-05-15")
    assert only_time("on May 16")[0] == day("2023-05-16")
    assert only_time("5月16日")[0] == day("2023-05-16")
    assert only_time("on February 29", day("2023-06-01"))[0] == day("2020-02-29")


def test_a_range_takes_its_year_from_whichever_end_has_one() -> None:
    assert only_time("from March to May 2022") == (day("2022-03-01"), day("2022-06-01"))
    assert only_time("2021年3月到5月") == (day("2021-03-01"), day("2021-06-01"))
    assert only_time("from November to February") == (day("2023-11-01"), day("2024-03-01"))


def test_a_year_beside_a_date_is_the_year_of_that_date() -> None:
    assert only_time("What did I get at Christmas last year?")[0] == day("2023-12-25")
    assert only_time("in March last year") == (day("2023-03-01"), day("2023-04-01"))
    assert only_time("in early March of last year") == (day("2023-03-01"), day("2023-03-11"))
    assert only_time("Where was I last year in December?")[0] == day("2023-12-01")
    assert only_time("on June 3 this year, what is due?")[0] == day("2024-06-03")


def test_what_is_usually_done_names_no_time() -> None:
    assert words_found("What do I usually do at Christmas?") == []
    assert words_found("我周五一般几点下班") == []
    assert words_found("Do I bake every December, and each Friday?") == []
    assert words_found("每年国庆我都去哪里") == []
    assert words_found("What did I say on May 5 that I usually do?") == ["May 5"]
    assert words_found("Show every bug that was fixed in March") == ["March"]
    assert words_found("三月份每个会议的结论") == ["三月份"]


def test_a_sunday_in_the_week_is_the_last_day_of_that_week() -> None:
    sunday = day("2024-05-19")
    assert only_time("this week", sunday) == (day("2024-05-13"), day("2024-05-20"))
    assert only_time("上周日", sunday) == (day("2024-05-12"), day("2024-05-13"))


def test_lunar_holidays_follow_the_lunar_calendar() -> None:
    assert only_time("2025年中秋节")[0] == day("2025-10-06")
    assert only_time("前年除夕")[0] == day("2022-01-31")
    assert words_found("1900年端午") == ["1900年"]


def test_holidays_on_a_weekday_move_with_the_year() -> None:
    assert only_time("Thanksgiving 2022")[0] == day("2022-11-24")
    assert only_time("Memorial Day 2023")[0] == day("2023-05-29")
    assert only_time("Easter 2024")[0] == day("2024-03-31")
    assert only_time("Easter 2038")[0] == day("2038-04-25")
    assert only_time("2024年母亲节")[0] == day("2024-05-12")


def test_an_event_gives_way_to_a_time_beside_it() -> None:
    found = find_times("What did we do after the trip in March?", ASKED)
    assert [(it.text, getattr(it, "event", "")) for it in found] == [
        ("after the trip", "the trip"),
        ("March", ""),
    ]
    assert words_found("1月8日体检后我吃了什么") == ["1月8日", "体检后"]


def test_before_and_since_a_time_reach_as_far_as_they_say() -> None:
    before, since = only_time("before 2023"), only_time("since March")
    assert before[0] < day("1900-01-01")
    assert before[1] == day("2023-01-01")
    assert since == (day("2024-03-01"), day("2024-05-16"))


def test_the_thirtieth_of_february_is_no_day() -> None:
    assert words_found("on 2024-02-30") == []
    assert words_found("on February 30") == ["February"]


def test_a_day_is_found_by_its_date_in_both_languages() -> None:
    indexed = set(date_terms(date(2023, 5, 8)))
    assert indexed == {"may", "2023", "5月", "8日"}
    for question in ("What happened in May 2023?", "2023年5月8日", "8 May 2023", "5月"):
        assert set(query_terms(question)) & indexed, question


@pytest.mark.parametrize("year", [1, 2, 9998, 9999])
@pytest.mark.parametrize("month_and_day", [(1, 1), (6, 15), (12, 31)])
def test_every_labelled_question_can_be_asked_at_the_ends_of_the_calendar(
    year: int, month_and_day: tuple[int, int]
) -> None:
    asked_at = datetime(year, *month_and_day, 23, 59, tzinfo=UTC)
    for row in labelled_questions():
        for found in find_times(f"{row['question']} in March last year", asked_at):
            assert found.text


@given(
    text=st.one_of(st.text(), st.lists(st.sampled_from(TIME_WORDS), max_size=12).map("".join)),
    asked_at=st.datetimes(
        timezones=st.sampled_from(
            [UTC, ZoneInfo("Asia/Shanghai"), timezone(timedelta(hours=-14)), timezone.max]
        )
    ),
)
def test_any_text_asked_in_any_year_gives_times_that_every_zone_can_express(
    text: str, asked_at: datetime
) -> None:
    for found in find_times(text, asked_at):
        assert found.text
        if isinstance(found, When):
            assert found.start.tzinfo is asked_at.tzinfo
            assert found.start.astimezone(UTC) < found.end.astimezone(UTC)
        else:
            assert found.event in found.text
            assert found.start < found.end


@given(st.lists(st.sampled_from(TIME_WORDS), max_size=10).map("".join))
def test_the_same_text_gives_the_same_times(text: str) -> None:
    assert find_times(text, ASKED) == find_times(text, ASKED)


@pytest.mark.parametrize(
    "piece",
    [
        *("1", "1/1/", "2024-04-", "the ", "a few ", "in the ", "before the ", "day before "),
        *("after I was ", "Aa's ", "Monday, ", "May ", "May 5 ", "'s "),
        *("上", "一", "月", "3月", "年", "前", "昨天到", "旅行后", "第一"),
        "".join(TIME_WORDS),
    ],
)
def test_a_long_text_of_one_repeated_word_takes_time_in_proportion_to_its_length(
    piece: str,
) -> None:
    text = (piece * 20_000)[:20_000]
    assert grows_in_proportion(lambda part: find_times(part, ASKED), text)
