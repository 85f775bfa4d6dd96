"""Numbers that belong to a person: identity cards, bank cards, passports.

All functions take text in plain spelling (half-width digits and signs) and give places in it.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from importlib import import_module
from itertools import chain
from typing import Any, Literal, cast

from stdnum import luhn
from stdnum.cn import ric

from recollect.language.characters import HAN
from recollect.language.lexicon import both, lexicon, read_data

# --- What the words around a number say it is: a phone, a card, an order, a version ---------------

Cue = Literal["order", "id", "phone", "card", "identity", "passport", "address", "version"]

# A word farther away speaks of something else.
_REACH_CHARACTERS = 32

_SENTENCE_END = re.compile(r"[\n。!?;]|(?<!no)\.\s", re.IGNORECASE)


def cue_before(text: str, start: int) -> Cue | None:
    """Return what the nearest cue before this place, in the same sentence, announces."""
    sentence = _SENTENCE_END.split(text[max(0, start - _REACH_CHARACTERS) : start])[-1]
    words = list(_cues().finditer(sentence))
    return _cue(words[-1]) if words else None


def cue_after(text: str, end: int) -> Cue | None:
    """Return what the first cue after this place, in the same sentence, says it was."""
    first = _cues().search(_SENTENCE_END.split(text[end : end + _REACH_CHARACTERS], maxsplit=1)[0])
    return _cue(first) if first else None


def _cue(word: re.Match[str]) -> Cue:
    return cast(Cue, word.lastgroup)


@cache
def _cues() -> re.Pattern[str]:
    """Return a pattern with a group for each cue."""
    between = rf"""(?:[ :#("'=_]|{both("number_cues", "between")}){{0,40}}$"""
    ways = {
        "order": f"{both('number_cues', 'order')}{between}",
        "identity": both("number_cues", "identity"),
        "passport": both("number_cues", "passport"),
        "phone": both("number_cues", "phone"),
        "card": both("number_cues", "card"),
        "address": both("number_cues", "address"),
        "version": both("number_cues", "version"),
        "id": f"{lexicon('en', 'number_cues').pattern('id')}{between}",
    }
    # Where words of two cues begin together, the one that stands first is taken.
    either = "|".join(f"(?P<{cue}>{pattern})" for cue, pattern in ways.items())
    return re.compile(rf"(?=\b[a-z]|[{HAN}])(?:{either})", re.ASCII | re.IGNORECASE)


# --- Numbers that belong to a person: identity cards, bank cards, passports -----------------------
# All functions take text in plain spelling (half-width digits and signs) and give places in it.

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


# --- National identity numbers, tax numbers and bank accounts of people, in many countries --------
# `data/national_ids.toml` lists the numbers: their shape, the words that announce them, and the
# module of python-stdnum that checks them. All functions take text in plain spelling (half-width
# digits and signs) and give places in it.

NumberKind = Literal["national_id", "bank_account"]

# How far from its number a word may stand.
_REACH_AFTER_CHARACTERS = 48
_REACH_BEFORE_CHARACTERS = 24
_SENTENCE_BEFORE_CAPITAL = re.compile(r"[\n。!?;]|\.\s(?=[A-Z])")
_BETWEEN = re.compile("[ .]")
_LATIN = re.compile("[a-z]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Number:
    """One kind of number: how it is written and how it is checked."""

    shape: re.Pattern[str]
    alone: re.Pattern[str] | None
    check: str | None

    def is_possible(self, written: str) -> bool:
        """Return whether a number of this shape can have been issued."""
        if self.check is None:
            return True
        is_valid = import_module(f"stdnum.{self.check}").is_valid
        number = written.upper()
        return bool(is_valid(number) or is_valid(_BETWEEN.sub("", number)))


@dataclass(frozen=True, slots=True)
class _Catalogue:
    """All numbers of one kind, and which of them each word announces."""

    numbers: Sequence[_Number]
    announced_by: Mapping[str, Sequence[_Number]]


def national_ids(text: str) -> Iterator[Span]:
    """Return the places of identity and tax numbers of people."""
    return _places(text, "national_id")


def bank_accounts(text: str) -> Iterator[Span]:
    """Return the places of international bank account numbers."""
    return _places(text, "bank_account")


def _places(text: str, kind: NumberKind) -> Iterator[Span]:
    if not has_number(text):
        return
    catalogue = _catalogue(kind)
    for number in catalogue.numbers:
        if number.alone is not None:
            for found in number.alone.finditer(text):
                is_thing = cue_before(text, found.start()) in OF_A_THING
                if not is_thing and number.is_possible(found[0]):
                    yield found.span()
    lower = text.lower()
    said = tuple(word for word in catalogue.announced_by if word in lower)
    for word in _any_of(said).finditer(text) if said else ():
        start, end = _around(text, word)
        for number in catalogue.announced_by[word[0].lower()]:
            for begun in number.shape.finditer(text, start, end):
                # The stretch may have ended inside a longer number.
                found = number.shape.match(text, begun.start())
                if found is not None and number.is_possible(found[0]):
                    yield found.span()


def _around(text: str, word: re.Match[str]) -> Span:
    """Return the part of the word's sentence in which its number may stand."""
    before = text[max(0, word.start() - _REACH_BEFORE_CHARACTERS) : word.start()]
    after = _SENTENCE_BEFORE_CAPITAL.split(
        text[word.end() : word.end() + _REACH_AFTER_CHARACTERS], maxsplit=1
    )[0]
    start = word.start() - len(_SENTENCE_BEFORE_CAPITAL.split(before)[-1])
    return start, word.end() + len(after)


@cache
def _catalogue(kind: NumberKind) -> _Catalogue:
    data = tomllib.loads(read_data("national_ids.toml"))
    numbers: list[_Number] = []
    announced_by: dict[str, list[_Number]] = {}
    for entry in data["number"]:
        if entry.get("kind", "national_id") != kind:
            continue
        number = _number(entry)
        numbers.append(number)
        for word in entry["words"]:
            announced_by.setdefault(word, []).append(number)
    if kind == "national_id":
        checked = [number for number in numbers if number.check]
        for word in data["any"]["words"]:
            announced_by.setdefault(word, []).extend(checked)
    return _Catalogue(numbers=numbers, announced_by=announced_by)


@lru_cache(maxsize=64)
def _any_of(words: Sequence[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile("|".join(map(_whole_word, longest_first)), re.IGNORECASE)


def _number(entry: dict[str, Any]) -> _Number:
    alone = entry.get("alone")
    return _Number(
        shape=_pattern(entry["shape"]),
        alone=None if alone is None else _pattern(alone),
        check=entry.get("check"),
    )


def _pattern(shape: str) -> re.Pattern[str]:
    return re.compile(f"{WHOLE_BEFORE}(?:{shape}){WHOLE_AFTER}", re.ASCII | re.IGNORECASE)


def _whole_word(word: str) -> str:
    if not _LATIN.match(word):
        return re.escape(word)
    return rf"(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])"


# --------------------------------------------------------------------------------------------------
# Phone numbers: Chinese ones by their plan, others by country code, shape, or a word before them.
# All functions take text in plain spelling (half-width digits and signs) and give places in it.

_AREA = "0(?:10|2[0-9]|[3-9][0-9]{2})"
_EXTENSION = r"(?:\ ?(?:转|分机|ext\.?|x)\ ?[0-9]{1,6})?"

# Where the shape says enough, unless a word says that the number is something else.
_SHAPED = re.compile(
    rf"""
    {WHOLE_BEFORE}(?P<number>
        # Chinese mobile phones, grouped as people do
        (?:(?:86|\(86\))[ -]?)?1[3-9](?:[0-9]{{9}}|[0-9][ -][0-9]{{4}}[ -]?[0-9]{{4}}
            |[0-9]{{2}}[ -][0-9]{{3}}[ -][0-9]{{4}}|[0-9]{{3}}[ -][0-9]{{6}})
        # Chinese landlines behind their area code
        |(?:{_AREA}[- ]|\({_AREA}\)\ ?)
            (?:[0-9]{{7,8}}|[0-9]{{3,4}}[ -][0-9]{{4}})(?:-[0-9]{{1,5}})?
        # Chinese service numbers
        |[48]00-(?:[0-9]{{3}}-[0-9]{{4}}|[0-9]{{4}}-[0-9]{{3}})
        # North America
        |(?:1[-. ])?(?:\([1-9][0-9]{{2}}\)\ ?[0-9]{{3}}[-. ]
            |[1-9][0-9]{{2}}-[0-9]{{3}}-|[1-9][0-9]{{2}}\.[0-9]{{3}}\.)[0-9]{{4}}
        # inside other countries, behind a zero
        |(?<![0-9]\ )(?:0[0-9]{{1,4}}[ -]|\(0[0-9]{{1,4}}\)\ ?)[0-9]{{3,4}}[ -][0-9]{{3,4}}
    ){_EXTENSION}{WHOLE_AFTER}
    """,
    re.IGNORECASE | re.VERBOSE,
)

# Where only the word before tells a phone from any other number.
_GROUPED = re.compile(
    rf"{WHOLE_BEFORE}(?<![A-Za-z]\()\(?[0-9](?:[ ()-]{{0,2}}[0-9]){{6,13}}{WHOLE_AFTER}"
)
_INTERNATIONAL = re.compile(
    rf"""
    (?<![0-9A-Za-z_+.])(?<![0-9]\ )(?:\((?=[+0]{{1,2}}[0-9]{{1,4}}\)))?(?P<sign>\+|00)\ ?
    (?P<number>[1-9][0-9]{{0,14}}(?:(?:\)[ -]?|[ ./-]\(?|\()[0-9]{{1,14}}){{0,7}})
    {_EXTENSION}{WHOLE_AFTER}
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Where a number without a country code is looked up: countries whose people write numbers that
# begin with a zero, and the largest that do not.
_REGIONS = (
    *("CN", "US", "GB", "DE", "FR", "JP", "IN", "BR", "IT", "ES", "KR", "AU", "NL", "CH", "AT"),
    *("BE", "SE", "NO", "DK", "PL", "TW", "HK", "SG", "MX", "RU", "TR", "ZA", "ID", "IE", "NZ"),
)

_NOT_DIGITS = re.compile("[^0-9]+")


def phones(text: str) -> Iterator[Span]:
    """Yield phone numbers with their prefixes and extensions."""
    if not has_number(text):
        return iter(())
    return chain(_international(text), _shaped(text), _announced(text))


def _international(text: str) -> Iterator[Span]:
    for found in _INTERNATIONAL.finditer(text):
        number = found["number"]
        if found["sign"] == "00" and number.isdecimal():
            continue  # no word and no gap: a serial number that begins with zeros
        if _is_possible("+" + _digits(number)) and not _is_amount(text, found.end()):
            yield found.span()


def _shaped(text: str) -> Iterator[Span]:
    for found in _SHAPED.finditer(text):
        if _is_amount(text, found.end()):
            continue
        cue = cue_before(text, found.start())
        if cue == "phone" or (cue not in OF_A_THING and _is_given_out(_digits(found["number"]))):
            yield found.span()


def _announced(text: str) -> Iterator[Span]:
    for found in _GROUPED.finditer(text):
        if cue_before(text, found.start()) == "phone" and _is_phone(text, found):
            yield found.span()
    for found in _announced_numbers().finditer(text):
        digits = _digits(found["number"])
        if not is_written_day(digits) and not _is_amount(text, found.end()):
            yield found.start("number"), found.end()


def _is_phone(text: str, found: re.Match[str]) -> bool:
    digits = _digits(found[0])
    return (
        not is_written_day(digits) and _is_given_out(digits) and not _is_amount(text, found.end())
    )


# The library and its tables are loaded when the first number is seen: most memories mask nothing.


@lru_cache(maxsize=1024)
def _is_possible(number: str) -> bool:
    """Return whether a number with its country code has a length valid in that country."""
    import phonenumbers

    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:
        return False


@lru_cache(maxsize=1024)
def _is_given_out(digits: str) -> bool:
    """Return whether the number is valid in some country."""
    return any(_is_valid_in(region, digits) for region in _REGIONS)


def _is_valid_in(region: str, digits: str) -> bool:
    import phonenumbers

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(digits, region))
    except phonenumbers.NumberParseException:
        return False


def _digits(number: str) -> str:
    return _NOT_DIGITS.sub("", number)


def _is_amount(text: str, end: int) -> bool:
    return _amount().match(text, end) is not None


@cache
def _announced_numbers() -> re.Pattern[str]:
    return re.compile(
        both("number_cues", "announces_phone")
        + r"(?:'s\b| ?(?:号码?|numbers?\b|no\.|(?:me|us|him|her|at|on|is|was)\b|[:=是为#.,])){0,3}"
        r" ?"
        r"(?P<number>(?:\((?=[0-9]{1,5}\)))?[0-9](?:[ ./()-]{0,2}[0-9]){6,12})"
        rf"{_EXTENSION}{WHOLE_AFTER}",
        re.ASCII | re.IGNORECASE,
    )


@cache
def _amount() -> re.Pattern[str]:
    return re.compile(f" ?{both('number_cues', 'amount')}", re.ASCII | re.IGNORECASE)
