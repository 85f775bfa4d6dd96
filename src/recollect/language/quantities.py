"""Numbers in a text: quantities with their units, dates, versions and amounts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from recollect.language.lexicon import lexicon
from recollect.language.words import LONGEST_TERM

# --- Numbers in several pieces: dates, times, versions, amounts -----------------------------------

_NUMBER = re.compile(r"([vV]?)(\d+(?:[.:/-]\d+)*)([AaPp][Mm])?")
_JOINT = re.compile(r"[.:/-]")
_TIMESTAMP = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}).*")


def number_forms(token: str) -> list[str]:
    """Return the whole number, its leading pieces (2024-04-02: 2024.4, 2024) and longer pieces.

    Pieces lose their leading zeros and one joint stands for all but the colon of a time, so that
    2024-04-02, 2024/4/2 and 2024.4.2 are one term. Empty when the token is not a number.
    """
    if stamp := _TIMESTAMP.fullmatch(token):
        return number_forms(stamp[1]) + number_forms(stamp[2])
    match = _NUMBER.fullmatch(token.replace(",", ""))
    if not match:
        return []
    version, digits, half_of_day = match.groups()
    forms = _forms(digits)
    return [
        *([f"v{forms[0]}"] if version else []),
        *forms,
        *([half_of_day.casefold()] if half_of_day else []),
    ]


_HAN_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}
_HAN_LARGE = {"万": 10**4, "亿": 10**8}


def han_number(written: str) -> int | None:
    """Return the whole number in Chinese numerals; None if they are no number.

    A row of digits is read digit by digit (二零二四), and what follows a unit at the end counts in
    the next one: 一万二 is 12,000.
    """
    if not written or any(
        character not in _HAN_DIGITS and character not in _HAN_UNITS and character not in _HAN_LARGE
        for character in written
    ):
        return None
    if all(character in _HAN_DIGITS for character in written):
        return int("".join(str(_HAN_DIGITS[character]) for character in written[:18]))
    total = section = digit = unit = 0
    for character in written:
        if character in _HAN_DIGITS:
            digit = _HAN_DIGITS[character]
            unit = 0 if digit == 0 else unit  # 一万零二: nothing is left out
            continue
        unit = _HAN_UNITS.get(character, _HAN_LARGE.get(character, 0))
        if character in _HAN_UNITS:
            section += (digit or 1) * unit
        elif total < unit:
            total, section = (total + section + digit or 1) * unit, 0
        else:
            total, section = total + (section + digit) * unit, 0
        digit = 0
    return total + section + digit * (unit // 10 if unit > 10 else 1)


def plain_number(digits: str) -> str:
    """Return digits of any script as ASCII without leading zeros, cut at the length of a term."""
    return str(int(digits[:LONGEST_TERM]))


def _forms(digits: str) -> list[str]:
    pieces = _JOINT.split(digits)
    if len(pieces) == 2 and "." in digits:
        integer = plain_number(pieces[0])
        return [f"{integer}.{pieces[1]}", integer]  # a decimal fraction: its zeros count
    numbers = [plain_number(piece) for piece in pieces]
    joint = ":" if ":" in digits else "."
    leading = [joint.join(numbers[:length]) for length in range(len(numbers), 0, -1)]
    return leading + [number for number in numbers[1:] if len(number) > 1]


# --- Numbers in a text, in digits and in words of both languages, with their units ----------------


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
