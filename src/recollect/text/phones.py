"""Phone numbers: Chinese ones by their plan, others by country code, shape, or a word before them.

All functions take text in plain spelling (half-width digits and signs) and give places in it.
"""

import re
from collections.abc import Iterator
from itertools import chain

from recollect.text.cues import cue_before
from recollect.text.personal_numbers import (
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
    {WHOLE_BEFORE}(?:
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
_NORTH_AMERICAN_IN_SPACES = re.compile(
    rf"{WHOLE_BEFORE}(?:1 )?[1-9][0-9]{{2}} [0-9]{{3}} [0-9]{{4}}{WHOLE_AFTER}"
)
_ANNOUNCED = re.compile(
    rf"""
    (?:电话|手机|座机|传真|热线|致电|拨打?
        |\b(?:phone|telephone|tel|mobile|cell(?:phone)?|fax|call|ring|text|dial|whatsapp)\b
        |\b(?:my|his|her|our|their|your|\w{{1,20}}'s)
            \ (?:(?:new|old|work|home|private|personal|office|direct|current)\ )?number\b)
    (?:'s\b|\ ?(?:号码?|numbers?\b|no\.|(?:me|us|him|her|at|on|is|was)\b|[:=是为#.,])){{0,3}}\ ?
    (?P<number>(?:\((?=[0-9]{{1,5}}\)))?[0-9](?:[ ./()-]{{0,2}}[0-9]){{6,12}})
    {_EXTENSION}{WHOLE_AFTER}
    """,
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)

_INTERNATIONAL = re.compile(
    rf"""
    (?<![0-9A-Za-z_+.])(?<![0-9]\ )(?:\((?=[+0]{{1,2}}[0-9]{{1,4}}\)))?(?P<sign>\+|00)\ ?
    (?P<number>[1-9][0-9]{{0,14}}(?:(?:\)[ -]?|[ ./-]\(?|\()[0-9]{{1,14}}){{0,7}})
    {_EXTENSION}{WHOLE_AFTER}
    """,
    re.IGNORECASE | re.VERBOSE,
)
_COUNTRY = re.compile(
    "1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|21[12368]|2[2-6][0-9]|29[01789]"
    "|35[0-9]|37[0-8]|38[0-35-79]|42[013]|50[0-9]|59[0-9]|6[78][0-9]|69[0-2]|85[02356]|88[06]"
    "|96[0-8]|97[0-79]|99[2-68]"
)
# All digits of a number, country code included, where they are not what the world allows.
_LENGTHS = {"1": range(11, 12), "7": range(11, 12), "86": range(11, 14)}
_WORLD = range(8, 16)

_AMOUNT = re.compile(
    r"\ ?(?:元|块钱|[美日欧港韩澳]元|英镑|人民币|字节|人次|[纳毫]?秒|[万亿步条行台个吨米]|次(?!日)"
    r"|(?:bytes|rows|lines|users|dollars|times|records|yen|euros|usd|rmb)\b)",
    re.ASCII | re.IGNORECASE,
)
_NOT_DIGITS = re.compile("[^0-9]+")


def phones(text: str) -> Iterator[Span]:
    """Phone numbers with what is dialled before and behind them."""
    if not has_number(text):
        return iter(())
    return chain(_international(text), _shaped(text), _announced(text))


def _international(text: str) -> Iterator[Span]:
    for found in _INTERNATIONAL.finditer(text):
        number = found["number"]
        country = _country(number)
        if country is None or _is_amount(text, found.end()):
            continue
        if found["sign"] == "00" and number.isdecimal():
            continue  # no word and no gap: a serial number that begins with zeros
        if _count_digits(number) in _LENGTHS.get(country, _WORLD):
            yield found.span()


def _shaped(text: str) -> Iterator[Span]:
    for found in _SHAPED.finditer(text):
        if _is_amount(text, found.end()):
            continue
        if cue_before(text, found.start()) not in OF_A_THING:
            yield found.span()


def _announced(text: str) -> Iterator[Span]:
    for found in _NORTH_AMERICAN_IN_SPACES.finditer(text):
        if cue_before(text, found.start()) == "phone":
            yield found.span()
    for found in _ANNOUNCED.finditer(text):
        digits = _NOT_DIGITS.sub("", found["number"])
        if not is_written_day(digits) and not _is_amount(text, found.end()):
            yield found.start("number"), found.end()


def _country(number: str) -> str | None:
    found = _COUNTRY.match(_NOT_DIGITS.sub("", number))
    return found[0] if found else None


def _count_digits(number: str) -> int:
    return len(_NOT_DIGITS.sub("", number))


def _is_amount(text: str, end: int) -> bool:
    return _AMOUNT.match(text, end) is not None
