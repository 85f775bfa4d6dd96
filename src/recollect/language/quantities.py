"""Numbers in a text, in digits and in words of both languages, with their units."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from recollect.language.lexicon import lexicon
from recollect.language.numbers import han_number, number_forms


class Number(NamedTuple):
    """A number in one spelling, and its unit if that is known."""

    value: str
    unit: str


_TRIVIAL: Final = frozenset({"0", "1"})


def numbers(text: str) -> Iterator[Number]:
    """Yield the numbers of a text in lower case and plain spelling, but not a mere "one" or 一."""
    words = _words()
    if not text.isascii():
        text = words.no_number.sub(lambda match: " " * len(match[0]), text)
    for match in words.number.finditer(text):
        value = _value(match)
        if match["digits"] is None and value in _TRIVIAL:
            continue
        unit = words.unit.match(text, match.end())
        name = (unit["latin"] or unit["han"]) if unit else ""
        yield Number(value, words.units.get(name, ""))


def number_words() -> Collection[str]:
    """Return the English words for numbers."""
    return _words().values


def _value(match: re.Match[str]) -> str:
    words = _words()
    if match["digits"]:
        digits = match["digits"].removeprefix("v")
        if match["times"]:
            return (
                _plain(float(digits.replace(",", "")) * words.multipliers[match["times"]])
                if _is_decimal(digits)
                else digits
            )
        forms = number_forms(digits)
        return forms[0] if forms else digits
    if match["word"]:
        value = words.values[match["word"]] + (words.values[match["tail"]] if match["tail"] else 0)
        return str(value * (words.multipliers[match["word_times"]] if match["word_times"] else 1))
    return str(han_number(match["han"]))


def _is_decimal(digits: str) -> bool:
    return digits.replace(",", "").replace(".", "", 1).isdecimal()


def _plain(value: float) -> str:
    return str(int(value)) if value.is_integer() else str(value)


class _Words:
    """Numbers and units in words, and the patterns made of them."""

    def __init__(self) -> None:
        english, chinese = lexicon("en", "quantities"), lexicon("zh", "quantities")
        self.values: Mapping[str, int] = english.table("numbers")
        self.multipliers: Mapping[str, int] = {
            **english.table("multipliers"),
            **chinese.table("multipliers"),
        }
        self.units = {
            spelling: unit
            for words in (english, chinese)
            for unit, spellings in words.table("units").items()
            for spelling in (unit, *spellings.split())
        }
        values = "|".join(self.values)
        self.number = re.compile(
            r"(?P<digits>v?\d{1,3}(?:,\d{3})+(?:\.\d+)?|v?\d+(?:[.:/-]\d+)*)"
            r"(?: ?(?P<times>百万|千万|[百千万亿]|(?:hundred|thousand|million|billion|k)\b))?"
            rf"|\b(?P<word>{values})\b(?:[ -](?P<tail>{values})\b)?"
            r"(?: (?P<word_times>hundred|thousand|million|billion)\b)?"
            "|(?P<han>[零〇一二两三四五六七八九十百千万亿]+)",
            re.ASCII,
        )
        self.unit = re.compile(rf"[ -]?(?:(?P<latin>[a-z]+|%)|(?P<han>{chinese.pattern('unit')}))")
        self.no_number = chinese.regex("no_number")


@cache
def _words() -> _Words:
    return _Words()
