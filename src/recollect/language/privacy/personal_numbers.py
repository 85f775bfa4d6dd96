"""Numbers that belong to a person: identity cards, bank cards, passports.

All functions take text in plain spelling (half-width digits and signs) and give places in it.
"""

import re
from collections.abc import Iterator
from datetime import date

from stdnum import luhn
from stdnum.cn import ric

from recollect.language.privacy.context_words import Cue, cue_after, cue_before

Span = tuple[int, int]

# Words that say a number names a thing and no person.
OF_A_THING: frozenset[Cue] = frozenset({"order", "id"})

_OF_A_PERSON: frozenset[Cue] = frozenset({"identity", "id"})

# A number is whole: neither a piece of a longer one, nor of a name, nor of an amount.
WHOLE_BEFORE = r"(?<![0-9A-Za-z_¥$€£#])(?<![0-9][-.])(?<![A-Za-z][-/])"
WHOLE_AFTER = r"(?![0-9A-Za-z_%])(?![-.][0-9])"

_PROVINCE = "(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[1-3]|91)"
_IDENTITY = re.compile(
    rf"{WHOLE_BEFORE}{_PROVINCE}[0-9]{{4}}(?P<gap>[ -]?)(?P<birth>(?:18|19|20)[0-9]{{6}})"
    rf"(?P=gap)[0-9]{{3}}[0-9Xx]{WHOLE_AFTER}"
)
_OLD_IDENTITY = re.compile(
    rf"{WHOLE_BEFORE}{_PROVINCE}[0-9]{{4}}(?P<birth>[0-9]{{6}})[0-9]{{3}}{WHOLE_AFTER}"
)

_CARD = re.compile(
    rf"{WHOLE_BEFORE}(?:[0-9]{{13,19}}"
    r"|[0-9]{4}(?P<gap>[ -])[0-9]{4}(?P=gap)[0-9]{4}(?P=gap)[0-9]{4}(?P<tail>(?P=gap)[0-9]{1,3})?"
    r"|[0-9]{4}(?P<wide>[ -])[0-9]{6}(?P=wide)[0-9]{4,5}"
    rf"|[0-9]{{6}}[ -][0-9]{{10,13}}){WHOLE_AFTER}"
)
# Networks by first digits and length; other numbers are cards only where a word says so.
_NETWORK = re.compile(
    r"62[0-9]{14,17}|4[0-9]{15}|5[1-5][0-9]{14}|2(?:2[2-9]|[3-6][0-9]|7[01])[0-9]{13}|272[0-9]{13}"
    r"|3[47][0-9]{13}|35[0-9]{14}|3[068][0-9]{12}|(?:6011|65[0-9]{2}|64[4-9][0-9])[0-9]{12}"
)

_SAYS_CARD = re.compile(
    r"\bcards?\b(?! (?:order|no\b|game))|卡(?!片|通|车)", re.ASCII | re.IGNORECASE
)

_PASSPORT = re.compile(
    r"(?<![0-9A-Za-z_])(?:[A-Za-z]{1,3}[0-9]{6,8}[A-Za-z]?|[EG] [0-9]{8}|[0-9]{8}|[A-Z0-9]{9})"
    r"(?![0-9A-Za-z_])"
)
_MIN_DIGITS = 4

# Most lines hold no number: asking for one first makes them cheap.
_NUMBER = re.compile("[0-9]{2}")


def has_number(line: str) -> bool:
    """Return whether the line has more than a single digit."""
    return _NUMBER.search(line) is not None


def identity_cards(text: str) -> Iterator[Span]:
    """Yield Chinese identity numbers: 18 digits that check, or 15 behind a word for one."""
    if not has_number(text):
        return
    for found in _IDENTITY.finditer(text):
        if _is_day(found["birth"]) and _identity_checks(found[0]):
            yield found.span()
    for found in _OLD_IDENTITY.finditer(text):
        if _is_day("19" + found["birth"]) and cue_before(text, found.start()) in _OF_A_PERSON:
            yield found.span()


def bank_cards(text: str) -> Iterator[Span]:
    """Yield numbers of 13 to 19 digits that pass Luhn's check and begin like a card."""
    if not has_number(text):
        return
    for found in _CARD.finditer(text):
        start, end = found.span()
        # What follows a card after a gap may be its end, or a number of its own.
        ends = (end,) if found["tail"] is None else (end, found.start("tail"))
        for card_end in ends:
            if _is_card(text, start, card_end):
                yield start, card_end
                break


def passports(text: str) -> Iterator[Span]:
    """Yield passport numbers, which only the word beside them tells from others."""
    if not has_number(text):
        return
    for found in _PASSPORT.finditer(text):
        if sum(map(str.isdecimal, found[0])) < _MIN_DIGITS or is_written_day(found[0]):
            continue
        before = cue_before(text, found.start())
        if before == "passport" or (before is None and cue_after(text, found.end()) == "passport"):
            yield found.span()


def _is_day(digits: str) -> bool:
    """Return whether the first eight digits are a valid date."""
    try:
        date(int(digits[:4]), int(digits[4:6]), int(digits[6:8]))
    except ValueError:
        return False
    return True


def is_written_day(digits: str) -> bool:
    """Return whether this is a date of our time in eight digits, as in 20240312."""
    return len(digits) == 8 and digits[:2] in ("19", "20") and _is_day(digits)


def _identity_checks(number: str) -> bool:
    digits = number.replace(" ", "").replace("-", "").upper()
    return ric.calc_check_digit(digits) == digits[-1]


def _is_card(text: str, start: int, end: int) -> bool:
    digits = text[start:end].replace(" ", "").replace("-", "")
    if not luhn.is_valid(digits):
        return False
    cue = cue_before(text, start)
    if cue == "card":
        return True
    # "The card for the booking: …" names a thing last, and is about a card all the same.
    is_of_a_thing = cue in OF_A_THING and not _SAYS_CARD.search(text[max(0, start - 40) : start])
    return not is_of_a_thing and _NETWORK.fullmatch(digits) is not None
