"""The days that have a name in both countries' calendars."""

from collections.abc import Callable
from datetime import date, datetime

from recollect.text.dates import DAY, Interval, days, months, nth_weekday_of

_MONDAY, _THURSDAY, _SUNDAY = 0, 3, 6

ENGLISH_NAMES = (
    r"new year'?s? eve|new year(?:'?s)?(?: day)?(?!'?s? (?:resolution|eve))|christmas eve"
    r"|christmas(?: day)?|xmas|boxing day|halloween|valentine'?s?(?: day)?"
    r"|(?:st\.?|saint) patrick'?s? day|april fool'?s?'?(?: day)?|independence day"
    r"|(?:fourth|4th) of july|thanksgiving(?: day)?|black friday|mother'?s'? day|father'?s'? day"
    r"|memorial day|labor day|easter(?: sunday| monday)?"
)
# 五一 and 六一 are also parts of numbers and of addresses, 十一 is eleven.
CHINESE_NAMES = (
    r"元旦节?|情人节|妇女节|三八(?:妇女)?节|愚人节|劳动节"
    r"|(?<![\d零〇一二三四五六七八九十百千万])[五六]一(?![\d零〇一二三四五六七八九十百千万路街大广个中小])"
    r"(?:劳动节|儿童节|节)?|青年节|儿童节|教师节|国庆节?|十一(?=假期|长假|黄金周|期间)|万圣节"
    r"|双十一|双11(?!\d)|光棍节|双十二|双12(?!\d)|平安夜|圣诞节?(?!树|老人|歌|帽)|跨年夜?|母亲节"
    r"|父亲节|感恩节|春节|过年|大年初一|大年三十|除夕夜?|元宵节?|端午节?|中秋节?|[暑寒]假"
)

# The first day of the lunar year, the fifth of its fifth month, the fifteenth of its eighth month.
_LUNAR_YEARS = {
    2015: ("02-19", "06-20", "09-27"),
    2016: ("02-08", "06-09", "09-15"),
    2017: ("01-28", "05-30", "10-04"),
    2018: ("02-16", "06-18", "09-24"),
    2019: ("02-05", "06-07", "09-13"),
    2020: ("01-25", "06-25", "10-01"),
    2021: ("02-12", "06-14", "09-21"),
    2022: ("02-01", "06-03", "09-10"),
    2023: ("01-22", "06-22", "09-29"),
    2024: ("02-10", "06-10", "09-17"),
    2025: ("01-29", "05-31", "10-06"),
    2026: ("02-17", "06-19", "09-25"),
    2027: ("02-06", "06-09", "09-15"),
    2028: ("01-26", "05-28", "10-03"),
    2029: ("02-13", "06-16", "09-22"),
    2030: ("02-03", "06-05", "09-12"),
    2031: ("01-23", "06-24", "10-01"),
    2032: ("02-11", "06-12", "09-19"),
    2033: ("01-31", "06-01", "09-08"),
    2034: ("02-19", "06-20", "09-27"),
    2035: ("02-08", "06-10", "09-16"),
}


def holiday(name: str) -> Callable[[int], Interval]:
    """What gives the holiday of a year; a lunar one is known for a few decades only."""
    plain = name.lower().replace("'", "").replace(".", "")
    return next(of_year for start, of_year in _HOLIDAYS.items() if plain.startswith(start))


def _fixed(month: int, day: int, count: int = 1) -> Callable[[int], Interval]:
    return lambda year: days(date(year, month, day), count)


def _weekday(month: int, number: int, nth: int, later: int = 0) -> Callable[[int], Interval]:
    def of_year(year: int) -> Interval:
        found = nth_weekday_of(months(year, month), nth, number)
        return days((found or months(year, month)).start + later * DAY)

    return of_year


def _easter(year: int) -> date:
    """The first Sunday after the first full moon of spring, by Gauss and Meeus."""
    century, golden = year // 100, year % 19
    moon = (19 * golden + century - century // 4 - (8 * century + 13) // 25 + 15) % 30
    moon -= moon // 28 * (1 - 29 // (moon + 1) * ((21 - golden) // 11))
    sunday = (year + year // 4 + moon + 2 - century + century // 4) % 7
    return date(year, 3, 1) + (moon - sunday + 27) * DAY


def _lunar(which: int, later: int = 0, count: int = 1) -> Callable[[int], Interval]:
    def of_year(year: int) -> Interval:
        if year not in _LUNAR_YEARS:
            raise ValueError(year)
        day = datetime.fromisoformat(f"{year}-{_LUNAR_YEARS[year][which]}")
        return days(day + later * DAY, count)

    return of_year


# By how their names begin, the longer names first.
_HOLIDAYS: dict[str, Callable[[int], Interval]] = {
    "new years eve": _fixed(12, 31),
    "new year eve": _fixed(12, 31),
    "new year": _fixed(1, 1),
    "valentine": _fixed(2, 14),
    "st patrick": _fixed(3, 17),
    "saint patrick": _fixed(3, 17),
    "april fool": _fixed(4, 1),
    "independence": _fixed(7, 4),
    "fourth of july": _fixed(7, 4),
    "4th of july": _fixed(7, 4),
    "halloween": _fixed(10, 31),
    "christmas eve": _fixed(12, 24),
    "christmas": _fixed(12, 25),
    "xmas": _fixed(12, 25),
    "boxing": _fixed(12, 26),
    "mother": _weekday(5, _SUNDAY, 2),
    "memorial": _weekday(5, _MONDAY, -1),
    "father": _weekday(6, _SUNDAY, 3),
    "labor": _weekday(9, _MONDAY, 1),
    "easter monday": lambda year: days(_easter(year) + DAY),
    "easter": lambda year: days(_easter(year)),
    "thanksgiving": _weekday(11, _THURSDAY, 4),
    "black friday": _weekday(11, _THURSDAY, 4, later=1),
    "元旦": _fixed(1, 1),
    "情人节": _fixed(2, 14),
    "妇女节": _fixed(3, 8),
    "三八": _fixed(3, 8),
    "愚人节": _fixed(4, 1),
    "五一": _fixed(5, 1, 5),
    "劳动节": _fixed(5, 1, 5),
    "青年节": _fixed(5, 4),
    "六一": _fixed(6, 1),
    "儿童节": _fixed(6, 1),
    "暑假": _fixed(7, 1, 62),
    "寒假": _fixed(1, 15, 45),
    "教师节": _fixed(9, 10),
    "国庆": _fixed(10, 1, 7),
    "十一": _fixed(10, 1, 7),
    "万圣": _fixed(10, 31),
    "双十一": _fixed(11, 11),
    "双11": _fixed(11, 11),
    "光棍节": _fixed(11, 11),
    "双十二": _fixed(12, 12),
    "双12": _fixed(12, 12),
    "平安夜": _fixed(12, 24),
    "圣诞": _fixed(12, 25),
    "跨年": _fixed(12, 31),
    "母亲节": _weekday(5, _SUNDAY, 2),
    "父亲节": _weekday(6, _SUNDAY, 3),
    "感恩节": _weekday(11, _THURSDAY, 4),
    "春节": _lunar(0, count=7),
    "过年": _lunar(0, count=7),
    "大年初一": _lunar(0),
    "大年三十": _lunar(0, later=-1),
    "除夕": _lunar(0, later=-1),
    "元宵": _lunar(0, later=14),
    "端午": _lunar(1),
    "中秋": _lunar(2),
}
