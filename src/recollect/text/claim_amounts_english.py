"""Numbers, money, dates and times in English, as the pieces of a claim."""

from __future__ import annotations

from typing import Final

from recollect.text.claim_parts import Piece, clock_pieces
from recollect.text.claim_tokens_english import Token, listed

_MONEY: Final = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yuan", "%": "percent"}
_THOUSANDS: Final = {"k": 1_000, "m": 1_000_000}
_MONTHS: Final = listed("jan feb mar apr may jun jul aug sep oct nov dec")
_DAY_NAMES: Final = {
    form: name[:3]
    for name in listed(
        "january february march april may june july august september october november december "
        "monday tuesday wednesday thursday friday saturday sunday"
    )
    for form in (name, name[:3], name + "s")
}
_WORDS_LIKE_DAYS: Final = frozenset(listed("may march mar sun sat mon jan dec"))
"""Lower-case words that are no days: they may, the sun sat."""
_HALVES: Final = {"morning": "am", "afternoon": "pm", "evening": "pm"}


def is_time(tokens: list[Token], at: int) -> bool:
    """Whether a time stands here, behind an article or not."""
    ahead = tokens[at : at + 2]
    if ahead and ahead[0].lemma in ("the", "end"):
        ahead = ahead[1:]
    return bool(ahead) and (
        ahead[0].kind in ("number", "clock", "date") or bool(day_name(ahead[0]))
    )


def has_amount(tokens: list[Token], at: int) -> bool:
    return any(t.kind in ("number", "clock", "date") or day_name(t) for t in tokens[at:])


def amount_pieces(tokens: list[Token], at: int) -> tuple[int, tuple[Piece, ...]]:
    token = tokens[at]
    match token.kind:
        case "mark":
            return 1, (Piece("break"),)
        case "address":
            return 1, (Piece("name", token.surface.casefold()),)
        case "clock":
            return 1, _clock(token.surface.casefold())
        case "date":
            year, month, day = token.surface.split("-")
            return 1, (Piece("year", year), Piece("day", f"{int(month)}-{int(day)}"))
        case "money":
            return 1, (Piece("word", _MONEY[token.surface]),)
        case "code":
            return 1, _code(token.surface)
        case _:
            return _plain_number(tokens, at)


def _plain_number(tokens: list[Token], at: int) -> tuple[int, tuple[Piece, ...]]:
    digits = tokens[at].surface.rstrip("stndrh").replace(",", "")
    following = at + 1
    if following < len(tokens) and tokens[following].lemma == "of":
        following += 1
    if following < len(tokens) and (month := _month(tokens[following])) and _is_day(digits):
        return following - at + 1, (Piece("day", f"{month}-{int(digits)}"),)
    if len(digits) == 4 and digits[:2] in ("19", "20"):
        return 1, (Piece("year", digits),)
    ahead = [it.surface for it in tokens[at + 1 : at + 4]]
    if ahead[:2] == ["in", "the"] and ahead[2:] and ahead[2] in _HALVES and len(digits) < 3:
        return 4, clock_pieces(int(digits), "00", _HALVES[ahead[2]])
    return 1, (Piece("number", digits),)


def _code(surface: str) -> tuple[Piece, ...]:
    """A number with dashes, as phones have, or with a letter for its thousands."""
    factor = _THOUSANDS.get(surface[-1].casefold())
    if factor is None:
        return (Piece("number", surface),)
    sign = (Piece("word", _MONEY[surface[0]]),) if surface[0] in _MONEY else ()
    digits = surface.strip("$€£¥kKmM").replace(",", "")
    if digits.count(".") > 1:
        return (Piece("number", surface.casefold()),)
    return (*sign, Piece("number", f"{float(digits) * factor:.15g}"))


def _clock(text: str) -> tuple[Piece, ...]:
    """The time on a dial, and which half of the day it is where that is said."""
    digits = text.rstrip("apm. ").replace(".", ":")
    hour, _, minutes = digits.partition(":")
    half = "am" if "a" in text else "pm" if "p" in text else ""
    return clock_pieces(int(hour), minutes or "00", half or _half_of(hour))


def _half_of(hour: str) -> str:
    if int(hour) > 12:
        return "pm"
    return "am" if hour[0] == "0" else ""


def day_name(token: Token) -> str:
    """The weekday or month that a word names, in short."""
    low = token.surface.casefold()
    name = _DAY_NAMES.get(low, "")
    if name and low in _WORDS_LIKE_DAYS and (token.opens or not token.surface[0].isupper()):
        return ""
    return name


def _month(token: Token) -> int:
    name = day_name(token) if token.kind == "word" else ""
    return _MONTHS.index(name) + 1 if name in _MONTHS else 0


def date_pieces(tokens: list[Token], at: int, day: str) -> tuple[int, tuple[Piece, ...]]:
    """A month with the day that follows it, or a weekday or month alone."""
    if day in _MONTHS and at + 1 < len(tokens) and tokens[at + 1].kind == "number":
        number = tokens[at + 1].surface.rstrip("stndrh")
        if _is_day(number):
            return 2, (Piece("day", f"{_MONTHS.index(day) + 1}-{int(number)}"),)
    return 1, (Piece("day", day),)


def _is_day(digits: str) -> bool:
    return digits.isdecimal() and 1 <= int(digits) <= 31
