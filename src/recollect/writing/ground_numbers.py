"""Numbers that a text states, in digits and in words of both languages, with their units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from recollect.text.numbers import han_number, number_forms


class Number(NamedTuple):
    """A number in one spelling, and what it counts where that is a known unit."""

    value: str
    unit: str


_UP_TO_TWENTY: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen twenty"
)
_TENS: Final = "thirty forty fifty sixty seventy eighty ninety"
_WORDS: Final = {word: value for value, word in enumerate(_UP_TO_TWENTY.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), 3)
}
_TIMES: Final = {
    "hundred": 100, "thousand": 1000, "k": 1000, "million": 10**6, "m": 10**6, "billion": 10**9,
    "十": 10, "百": 100, "千": 1000, "万": 10**4, "百万": 10**6, "千万": 10**7, "亿": 10**8,
}  # fmt: skip

_UNITS: Final = {
    spelling: names.split()[0]
    for names in (
        "ms millisecond milliseconds 毫秒",
        "s sec secs second seconds 秒 秒钟",
        "min mins minute minutes 分钟",
        "h hr hrs hour hours 小时 个小时",
        "day days 天",
        "week weeks 周 个星期 星期",
        "month months 个月",
        "year years 年",
        "% percent 百分之",
        "dollar dollars usd 美元 美金",
        "euro euros eur 欧元",
        "yuan rmb cny 元 块 人民币",
        "kb KB", "mb megabytes", "gb gigabytes", "tb terabytes",
        "km kilometers kilometres 公里 千米", "m meters metres 米", "kg kilos 公斤 千克",
    )
    for spelling in names.split()
}  # fmt: skip

_NUMBER: Final = re.compile(
    r"(?P<digits>v?\d{1,3}(?:,\d{3})+(?:\.\d+)?|v?\d+(?:[.:/-]\d+)*)"
    r"(?: ?(?P<times>百万|千万|[百千万亿]|(?:hundred|thousand|million|billion|k)\b))?"
    rf"|\b(?P<word>{'|'.join(_WORDS)})\b(?:[ -](?P<tail>{'|'.join(_WORDS)})\b)?"
    r"(?: (?P<word_times>hundred|thousand|million|billion)\b)?"
    "|(?P<han>[零〇一二两三四五六七八九十百千万亿]+)",
    re.ASCII,
)
_UNIT: Final = re.compile(
    r"[ -]?(?:(?P<latin>[a-z]+|%)|(?P<han>毫秒|秒钟?|分钟|个?小时|天|周|个?星期|个月|年"
    "|美[元金]|欧元|元|块|公里|千?米|公斤|千克))"
)
# Where the characters of numbers are part of other words.
_NO_NUMBER: Final = re.compile(
    "十分|万一|千万(?=别|不|要|记)|一(?=下|些|点|直|起|家|般|样|定|律|致|旦|切|边|共|同|向|度|方|周一|种|个|[^十百千万二三四五六七八九])"
    "|(?<=[周第])一|统一|唯一|之一|万能|百度|千米|三思|四处|五金|八卦|七夕|星期[一二三四五六]|周[一二三四五六]|礼拜[一二三四五六]"
)
NUMBER_WORDS: Final = frozenset(_WORDS)
_FEW: Final = frozenset({"0", "1"})


def numbers(text: str) -> Iterator[Number]:
    """The numbers of a text in lower case and plain spelling; a mere "one" or 一 is none."""
    if not text.isascii():
        text = _NO_NUMBER.sub(lambda match: " " * len(match[0]), text)
    for match in _NUMBER.finditer(text):
        value = _value(match)
        if match["digits"] is None and value in _FEW:
            continue
        unit = _UNIT.match(text, match.end())
        name = (unit["latin"] or unit["han"]) if unit else ""
        yield Number(value, _UNITS.get(name, ""))


def _value(match: re.Match[str]) -> str:
    if match["digits"]:
        digits = match["digits"].removeprefix("v")
        if match["times"]:
            return (
                _plain(float(digits.replace(",", "")) * _TIMES[match["times"]])
                if _is_decimal(digits)
                else digits
            )
        forms = number_forms(digits)
        return forms[0] if forms else digits
    if match["word"]:
        value = _WORDS[match["word"]] + (_WORDS[match["tail"]] if match["tail"] else 0)
        return str(value * (_TIMES[match["word_times"]] if match["word_times"] else 1))
    return str(han_number(match["han"]))


def _is_decimal(digits: str) -> bool:
    return digits.replace(",", "").replace(".", "", 1).isdecimal()


def _plain(value: float) -> str:
    return str(int(value)) if value.is_integer() else str(value)
