"""Phone numbers: Chinese ones by their plan, others by country code, shape, or a word before them.

All functions take text in plain spelling (half-width digits and signs) and give places in it.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain

from recollect.language.lexicon import both
from recollect.language.privacy.context_words import cue_before
from recollect.language.privacy.personal_numbers import (
    OF_A_THING,
    WHOLE_AFTER,
    WHOLE_BEFORE,
    Span,
    has_number,
    is_written_day,
)

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
