"""The ways Chinese names a time by itself: 4月2日, 去年春天, 上周三, 三个月前, 国庆.

Texts come folded: simplified characters and plain digits. Chinese has no spaces, so what may not
stand beside a word is part of its rule: 上周三个会议 is last week, 每周三 is no time at all.
"""

import re
from datetime import datetime

from recollect.text.dates import (
    DAY,
    Interval,
    PartOfDay,
    Unit,
    Which,
    days,
    days_of_month,
    edge_of,
    months,
    part_of_day,
    pick,
    season,
    some_ago,
    unit_around,
    up_to_now,
    weekday,
    weekend,
    weekend_of,
)
from recollect.text.holidays import CHINESE_NAMES, holiday
from recollect.text.mentions import Reader, Rule

DIGITS = "零〇一二三四五六七八九"
COUNT = r"\d{1,4}|[一二两三四五六七八九十百]{1,5}|半|几"
UNIT = "个[多半]?月|年[多半]?|个?(?:星期|礼拜|周)|天|个?(?:小时|钟头)|分钟|个?季度"
WEEK = "周|星期|礼拜"
DAY_OF_WEEK = "一二三四五六日天"

_MOST_YEARS_AGO = 200  # 2000年前 is before the year 2000
_NUMBERS = rf"\d{DIGITS}十百"
_ONE_TO_NINE = DIGITS[2:]
_MONTH = rf"1[0-2]|0?[1-9]|十[一二]?|[{_ONE_TO_NINE}]"
_DAY = rf"3[01]|[12]\d|0?[1-9]|三十一?|(?:二?十|廿)[{_ONE_TO_NINE}]?|[{_ONE_TO_NINE}]"
_YEAR = (
    rf"(?:(?P<year>(?<!\d)(?:1[89]|2[01])\d\d|[一二][{DIGITS}]{{3}}"
    rf"|(?<![\d.])\d\d(?=年的?(?:[{_NUMBERS}]{{1,2}}月|[初底末春夏秋冬]|[上下]半年"
    rf"|第?[{_NUMBERS}]季度|出生|毕业)))年"
    r"|(?P<which>大前年|(?<!年)前年|去年|今年|本年|明年|(?<![以之年])后年))"
)
_PART = (
    "(?:的?(?P<part>凌晨|清晨|早[上晨]|上午|中午|下午|傍晚|晚上|夜[里晚]"
    "|(?<!的)[早晚夜](?![饭餐会点宵])))?"
)
_NOT_A_MONTH = r"(?![兔河雪饼球亮薪]|花(?![了费钱多掉])|天(?!气)|流火|[一两\d]次|份额)"

_years_from_now = {"大前年": -3, "前年": -2, "去年": -1, "明年": 1, "后年": 2}
_days_from_now = {"大前天": -3, "前天": -2, "昨": -1, "今": 0, "明": 1, "后天": 2, "大后天": 3}
_near: dict[str, Which] = {"上": "last", "这": "this", "今": "this", "下": "next"}
_parts: dict[str, PartOfDay] = {
    "凌晨": "dawn",
    "清晨": "morning",
    "早": "morning",
    "早上": "morning",
    "早晨": "morning",
    "上午": "morning",
    "中午": "noon",
    "下午": "afternoon",
    "傍晚": "evening",
    "晚上": "evening",
    "晚": "night",
    "夜": "night",
    "夜里": "night",
    "夜晚": "night",
}
_units: dict[str, Unit] = {
    "月": "month",
    "年": "year",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "天": "day",
    "小时": "hour",
    "钟头": "hour",
    "分钟": "minute",
    "季度": "quarter",
}


def number_of(words: str) -> float:
    """The number that digits or characters say: 12, 十二, 二〇二四, 半; 几 means five at most."""
    if words.isdecimal():
        return int(words)
    if words in ("半", "几"):
        return 0.5 if words == "半" else 5
    if not re.search("[十百廿]", words):
        return int("".join(str(_digit(character)) for character in words))
    total = digit = 0
    for character in words.replace("廿", "二十"):
        if character in "十百":
            total += (digit or 1) * (10 if character == "十" else 100)
            digit = 0
        else:
            digit = _digit(character)
    return total + digit


def unit_of(words: str) -> Unit:
    return _units[words.strip("个多半") if "月" not in words else "月"]


def weekday_number(character: str) -> int:
    return min(DAY_OF_WEEK.index(character), 6)


def _digit(character: str) -> int:
    return 2 if character == "两" else max(0, DIGITS.index(character) - 1)


def _part(match: re.Match[str]) -> PartOfDay | None:
    return _parts[match["part"]] if match["part"] else None


def _year_of(match: re.Match[str], now: datetime) -> int | None:
    """The year that words say; two digits mean the nearer century."""
    if match["which"]:
        return now.year + _years_from_now.get(match["which"], 0)
    if not match["year"]:
        return None
    year = int(number_of(match["year"]))
    if year >= 100:
        return year
    century = now.year // 100 * 100
    return century + year if century + year <= now.year + 10 else century - 100 + year


def _weeks(which: str) -> int:
    """How many weeks, months … from now 上, 上上, 这, 本 or 下 are."""
    return which.count("下") - which.count("上")


def _day_of_month(match: re.Match[str], now: datetime) -> Interval | None:
    month, first = int(number_of(match["month"])), int(number_of(match["day"]))
    last = int(number_of(match["last"])) if match["last"] else first
    found = pick(_year_of(match, now), lambda year: days_of_month(year, month, first, last), now)
    return part_of_day(found, _part(match)) if found and found.start < found.end else None


def _day_of_near_month(match: re.Match[str], now: datetime) -> Interval:
    first = unit_around(now, "month", _weeks(match["which"])).start
    return part_of_day(days(first.replace(day=int(number_of(match["day"])))), _part(match))


def _day_alone(match: re.Match[str], now: datetime) -> Interval:
    number = int(number_of(match["day"]))
    month = unit_around(now, "month", 0 if number <= now.day else -1)
    return part_of_day(days(month.start.replace(day=number)), _part(match))


def _month(match: re.Match[str], now: datetime) -> Interval | None:
    number = int(number_of(match["month"]))
    return pick(_year_of(match, now), lambda year: months(year, number), now)


def _near_unit(match: re.Match[str], now: datetime) -> Interval:
    return unit_around(now, unit_of(match["unit"]), _weeks(match["which"]))


def _year(match: re.Match[str], now: datetime) -> Interval | None:
    year = _year_of(match, now)
    return months(year, 1, 12) if year else None


def _quarter(match: re.Match[str], now: datetime) -> Interval | None:
    number = int(number_of(match["nth"]))
    return pick(_year_of(match, now), lambda year: months(year, 3 * number - 2, 3), now)


def _half_year(match: re.Match[str], now: datetime) -> Interval | None:
    first = 1 if match["half"] == "上" else 7
    return pick(_year_of(match, now), lambda year: months(year, first, 6), now)


def _season(match: re.Match[str], now: datetime) -> Interval | None:
    number = "春夏秋冬".index(match["season"])
    which = _near[match["near"][0]] if match["near"] else _year_of(match, now)
    return pick(which, lambda year: season(year, number), now)


def _day_word(match: re.Match[str], now: datetime) -> Interval:
    word = match["day"]
    offset = _days_from_now[word if word in _days_from_now else word[0]]
    return part_of_day(days(now + offset * DAY), _part(match))


def _week(match: re.Match[str], now: datetime) -> Interval | None:
    which, name = match["which"], match["weekday"]
    if which is None:
        if name is None:
            return None
        if name == "末":
            return weekend(None, now)
        return part_of_day(weekday(weekday_number(name), None, now), _part(match))
    week = unit_around(now, "week", _weeks(which))
    if name == "末":
        return weekend_of(week.start)
    if name is None:
        return week
    return part_of_day(days(week.start + weekday_number(name) * DAY), _part(match))


def _ago(match: re.Match[str], now: datetime) -> Interval | None:
    count, unit = number_of(match["count"]), unit_of(match["unit"])
    if unit == "year" and count > _MOST_YEARS_AGO:
        return None
    if match["side"].endswith("后"):
        return unit_around(now, unit, int(count))
    return some_ago(now, unit, count, few=match["count"] == "几")


def _rolling(match: re.Match[str], now: datetime) -> Interval | None:
    if match["near"] == "这" and match["count"] in ("一", "1"):
        return None  # 这一天 is a day told of
    return up_to_now(now, unit_of(match["unit"]), number_of(match["count"]))


def _some_days_back(match: re.Match[str], now: datetime) -> Interval:
    if match["count"] == "几":
        return some_ago(now, unit_of(match["unit"]), 0, few=True)
    return Interval(days(now - 3 * DAY).start, days(now).start)


def _edge_of_now(match: re.Match[str], now: datetime) -> Interval:
    whole = unit_around(now, unit_of(match["unit"]))
    return edge_of(whole, "early" if match["edge"] == "初" else "late")


def _holiday(match: re.Match[str], now: datetime) -> Interval | None:
    return pick(_year_of(match, now), holiday(match["name"]), now)


def _rule(clues: str, pattern: str, read: Reader, *, recurring: bool = False) -> Rule:
    return Rule(clues=frozenset(clues), pattern=pattern, read=read, recurring=recurring)


_WHICH = "上{1,2}一?个?|这一?个?|本|(?<!一)下{1,2}一?个?"
_WEEKDAY = (
    "一(?![直共起些样下定般边律切旦次个天月年])|[二三四五六](?![个次天年月周场位名条节章集期届十百千万岁倍楼层])"
    "|日(?![程常报均期记本志历])|天(?![气天空])|末(?!日)"
)
_TELLS_NO_DAY = "以之目当眼提从然最今天年月周期时"

RULES = (
    _rule(
        "月",
        rf"(?<![{_NUMBERS}.第每])(?P<time>(?:{_YEAR}的?)?(?P<month>{_MONTH})月份?的?(?P<day>{_DAY})"
        rf"(?:[日号]?[到至~-](?P<last>{_DAY}))?[日号]"
        rf"(?:[(, ]{{0,2}}(?:{WEEK})[{DAY_OF_WEEK}]\)?)?{_PART})",
        _day_of_month,
        recurring=True,
    ),
    _rule(
        "月",
        rf"(?P<time>(?P<which>{_WHICH})月的?(?P<day>{_DAY})[日号]{_PART})",
        _day_of_near_month,
    ),
    _rule(
        "日号",
        rf"(?<![{_NUMBERS}.月第])(?P<time>(?P<day>{_DAY})[日号]"
        rf"(?=那天|当天|凌晨|早上|上午|中午|下午|晚上){_PART})",
        _day_alone,
    ),
    _rule(
        "月",
        rf"(?<![{_NUMBERS}.第每])(?P<time>(?:{_YEAR}的?)?(?P<month>{_MONTH})月{_NOT_A_MONTH}份?)",
        _month,
        recurring=True,
    ),
    _rule(
        "月季",
        rf"(?<![以晚早])(?P<time>(?P<which>{_WHICH})(?P<unit>季度|月)){_NOT_A_MONTH}",
        _near_unit,
    ),
    _rule("年", rf"(?P<time>{_YEAR})(?![薪级龄轮])", _year),
    _rule(
        "季",
        rf"(?P<time>(?:{_YEAR}的?)?第?(?P<nth>[一二三四1-4])季度(?!假))",
        _quarter,
        recurring=True,
    ),
    _rule("半", rf"(?P<time>(?:{_YEAR}的?)?(?P<half>[上下])半年)", _half_year, recurring=True),
    _rule(
        "春夏秋冬",
        rf"(?P<time>(?:{_YEAR}的?|(?P<near>[上这下]一?个|今)|(?<![欢是爱厌像年])(?=[春夏秋冬]天))"
        r"(?P<season>[春夏秋冬])[天季]?)",
        _season,
        recurring=True,
    ),
    _rule(
        "天昨今明",
        rf"(?P<time>(?P<day>大前天|(?<![{_TELLS_NO_DAY}])前天|大后天|(?<![{_TELLS_NO_DAY}])后天(?!性)"
        rf"|[昨今明]天|[昨今]日(?!头条)|昨(?=[晚夜早])|今(?=[晚夜早])|明(?=[晚早])){_PART})",
        _day_word,
    ),
    _rule(
        "周星礼",
        rf"(?P<time>(?:(?<![以晚早马])(?P<which>{_WHICH})"
        rf"|(?<![{_NUMBERS}每第两几数多半整个])(?=(?:{WEEK})[{DAY_OF_WEEK}末]))"
        rf"(?:{WEEK})(?![期围边转年岁折密长])(?P<weekday>{_WEEKDAY})?{_PART})",
        _week,
        recurring=True,
    ),
    _rule(
        "前后",
        rf"(?<![{_NUMBERS}.第])(?P<time>(?P<count>{COUNT})(?P<unit>{UNIT})"
        r"(?P<side>[之以]?[前后])(?!端))",
        _ago,
    ),
    _rule(
        "近去这",
        rf"(?P<time>(?P<near>最近|过去|(?<![附接将靠])近|这)的?(?P<count>{COUNT})(?P<unit>{UNIT}))"
        "(?![前后])",
        _rolling,
    ),
    _rule(
        "前",
        rf"(?<![{_TELLS_NO_DAY}])(?P<time>前(?P<count>几|两(?=天))(?P<unit>{UNIT}))",
        _some_days_back,
    ),
    _rule(
        "初底末",
        rf"(?<![{_NUMBERS}个上下这本每当年前去今明后大])(?P<time>(?P<unit>月|年)(?P<edge>[初底末]))",
        _edge_of_now,
    ),
    _rule(
        "节旦一庆诞年夕宵午秋夜二12假",
        rf"(?P<time>(?:{_YEAR}的?)?(?P<name>{CHINESE_NAMES})(?:假期|长假|黄金周)?)",
        _holiday,
        recurring=True,
    ),
)
