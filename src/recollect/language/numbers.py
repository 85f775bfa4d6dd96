"""Numbers in several pieces: dates, times, versions, amounts."""

import re

from recollect.language.words import LONGEST_TERM

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
