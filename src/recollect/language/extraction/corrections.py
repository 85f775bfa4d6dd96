"""Corrections that give only a value: "No, it's 21 June" after "my sister's birthday is 12 June".

What was said right before tells what the value belongs to: the statement is told again with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from recollect.domain.record import Kind
from recollect.domain.write import Claim
from recollect.language.characters import HAN
from recollect.language.entities import chinese_names, is_everyday
from recollect.language.lexicon import bilingual, both, compiled

_ENGLISH_NAME: Final = r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2}"
_NAMED: Final = re.compile(
    rf"(?:\b(?:is|are|called|named) (?={_ENGLISH_NAME}$)|[是叫](?=[{HAN}]{{2,4}}$))(?P<value>.+)"
)
_MAX_CHARACTERS: Final = 100
_BEFORE_VALUE: Final = r"(?:(?:on|at|the|for|called|named|to|in)\s+){0,2}"
_NOT_THE_OLD: Final = (
    r"(?:\s*+(?:[,，]\s*+)?(?:and\s++)?(?:not|而?不是)\s*+(?:on |at |the )?"
    r"(?P<old>[^,，。]{1,40}?))?"
)


class Earlier(NamedTuple):
    """The claims of the user's previous message, and the replies to it."""

    claims: Sequence[Claim] = ()
    replies: Sequence[str] = ()


class _Value(NamedTuple):
    text: str
    sort: str
    old: str
    """The value it is said to stand for, if one is named."""
    unit: str


def names_only_a_value(said: str, *, corrects: bool) -> bool:
    """Return whether a sentence, without its preface, gives a value and nothing else.

    It must say that something was wrong: before it, by its words, or by naming what it is not.
    """
    return _value(said, corrects=corrects) is not None


def says_what_was_meant(plain: str) -> bool:
    """Return whether a sentence, without its preface, begins "I meant", 我是说."""
    return bilingual("corrections", "self_correcting", re.IGNORECASE).match(plain) is not None


def told_again(said: str, earlier: Earlier, *, corrects: bool) -> tuple[Claim, str] | None:
    """Return the one earlier claim that the value belongs to, and its new content."""
    value = _value(said, corrects=corrects)
    if value is None:
        return None
    told = ((claim, _with_value(claim, value, earlier.replies)) for claim in earlier.claims)
    fitting = [(claim, new) for claim, new in told if new]
    return fitting[0] if len(fitting) == 1 else None


def _value(said: str, *, corrects: bool) -> _Value | None:
    if len(said) > _MAX_CHARACTERS:
        return None
    for sort, pattern in _corrections().items():
        if found := pattern.fullmatch(said.strip()):
            old, is_meant = found["old"] or "", bool(found["self"] or found["old"])
            is_name = sort != "name" or ((found["lead"] or is_meant) and _is_name(found["value"]))
            is_value = is_name and (corrects or is_meant)
            return _Value(found["value"], sort, old, found["unit"] or "") if is_value else None
    return None


def _is_name(text: str) -> bool:
    if text.isascii():
        return not text.isupper() and not any(map(is_everyday, text.casefold().split()))
    return any(name == text for _, name in chinese_names(f"他叫{text}。"))


def _with_value(claim: Claim, value: _Value, replies: Sequence[str]) -> str:
    """Return the claim's content with the value; nothing if it has none of that sort, or several.

    Where a reply names another value, it may be the reply that is put right.
    """
    said = claim.content
    spans = _spans(value.sort, said)
    if claim.kind is not Kind.SEMANTIC or len(spans) != 1 or value.old not in said:
        return ""
    was = said[slice(*spans[0])].casefold()
    replied = {
        reply[slice(*at)].casefold() for reply in replies for at in _spans(value.sort, reply)
    }
    if value.unit.rstrip("s") not in said or was == value.text.casefold() or not replied <= {was}:
        return ""
    return said[: spans[0][0]] + value.text + said[spans[0][1] :]


def _spans(sort: str, text: str) -> list[tuple[int, int]]:
    if sort == "name":
        return [it.span("value") for it in _NAMED.finditer(text) if _is_name(it["value"])]
    if sort == "number":
        # The number of a day or an hour is none of its own.
        others = "|".join(pattern for other, pattern in _sorts().items() if other != sort)
        text = compiled(others, re.IGNORECASE).sub(lambda match: "#" * len(match[0]), text)
    return [match.span() for match in compiled(_sorts()[sort], re.IGNORECASE).finditer(text)]


@cache
def _sorts() -> Mapping[str, str]:
    """Return the patterns of values that can be corrected; the first sort that fits counts."""
    return {
        "address": r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.[\w.]{0,200}\w",
        "date": both("corrections", "date"),
        "weekday": both("corrections", "weekday"),
        "clock": both("corrections", "clock"),
        "number": r"(?<![A-Za-z0-9_.,:-])[$€£¥]?\d{1,20}(?:[.,:-]\d{1,20}){0,8}(?:[ ]\d{3,20}){0,8}"
        r"(?![A-Za-z0-9_:-]{0,60}\d)",
    }


@cache
def _corrections() -> Mapping[str, re.Pattern[str]]:
    """Return, for each sort, a pattern for sentences that give a value and nothing else."""
    leads = (
        rf"(?:(?P<self>{both('corrections', 'self_correcting')})\s*"
        rf"|(?P<lead>{both('corrections', 'it_is')})\s*)?{_BEFORE_VALUE}"
    )
    sorts = {**_sorts(), "name": rf"(?-i:{_ENGLISH_NAME})|[{HAN}]{{2,4}}"}
    unit = rf"(?:\s?(?P<unit>{both('corrections', 'unit')}))?"
    return {
        sort: re.compile(
            rf"{leads}(?P<value>{pattern}){unit}{_NOT_THE_OLD}[\s.!。！了吧哦]*+", re.IGNORECASE
        )
        for sort, pattern in sorts.items()
    }
