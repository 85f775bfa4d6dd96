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
from recollect.language.lexicon import both, compiled

_ENGLISH_NAME: Final = r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2}"
_NAMED: Final = re.compile(rf"\b(?:is|are|called|named) (?P<value>{_ENGLISH_NAME})$")
_NAMED_CHINESE: Final = re.compile(rf"(?:是|叫)(?P<value>[{HAN}]{{2,4}})$")

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


def names_only_a_value(said: str, *, corrects: bool) -> bool:
    """Return whether a sentence, without its preface, gives a value and nothing else.

    It must say that something was wrong: before it, by its words, or by naming what it is not.
    """
    return _value(said, corrects=corrects) is not None


def says_what_was_meant(plain: str) -> bool:
    """Return whether a sentence, without its preface, begins "I meant", 我是说."""
    return compiled(both("corrections", "self_correcting"), re.IGNORECASE).match(plain) is not None


def told_again(said: str, earlier: Earlier, *, corrects: bool) -> tuple[Claim, str] | None:
    """Return the one earlier claim that the value belongs to, and its new content."""
    value = _value(said, corrects=corrects)
    if value is None:
        return None
    fitting = [
        (claim, new) for claim in earlier.claims if (new := _with_value(claim, value, earlier))
    ]
    return fitting[0] if len(fitting) == 1 else None


def _value(said: str, *, corrects: bool) -> _Value | None:
    if len(said) > _MAX_CHARACTERS or not (corrects or _may_correct().search(said)):
        return None
    for sort, pattern in _corrections().items():
        found = pattern.fullmatch(said.strip())
        if found is None:
            continue
        is_meant = corrects or found["self"] or found["old"]
        is_led = found["lead"] or found["self"] or found["old"]
        if not is_meant or (sort == "name" and not (is_led and _is_name(found["value"]))):
            return None
        return _Value(found["value"], sort, found["old"] or "")
    return None


def _is_name(text: str) -> bool:
    if text.isascii():
        return not text.isupper() and not any(map(is_everyday, text.casefold().split()))
    return any(name == text for _, name in chinese_names(f"他叫{text}。"))


def _with_value(claim: Claim, value: _Value, earlier: Earlier) -> str | None:
    """Return the claim's content with the value; None if it has none of that sort, or several."""
    if claim.kind is not Kind.SEMANTIC or (value.old and value.old not in claim.content):
        return None
    spans = _spans(value.sort, claim.content)
    if len(spans) != 1:
        return None
    start, end = spans[0]
    was = claim.content[start:end]
    if value.sort == "number":
        end = start + _replaced(was, value.text)
        if end == start:
            return None
    replied = {
        reply[begin:stop].casefold()
        for reply in earlier.replies
        for begin, stop in _spans(value.sort, reply)
    }
    if was.casefold() == value.text.casefold() or not replied <= {was.casefold()}:
        return None  # it may be the reply that is put right
    return claim.content[:start] + value.text + claim.content[end:]


def _replaced(was: str, now: str) -> int:
    """Return how much of the old number to replace: all, all but its unit, or nothing."""
    old, new = (
        compiled(_sorts()["number"], re.IGNORECASE).fullmatch(written) for written in (was, now)
    )
    if old is None or new is None:
        return 0
    had, has = ((number["unit"] or "").strip().casefold().rstrip("s") for number in (old, new))
    if not has:
        return old.start("unit") if had else len(was)
    return len(was) if had == has else 0


def _spans(sort: str, text: str) -> list[tuple[int, int]]:
    if sort == "name":
        found = _NAMED.search(text) or _NAMED_CHINESE.search(text)
        return [found.span("value")] if found and _is_name(found["value"]) else []
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
        rf"(?![A-Za-z0-9_:-]{0, 60}\d)(?P<unit>\s?{both('corrections', 'unit')})?",
    }


@cache
def _corrections() -> Mapping[str, re.Pattern[str]]:
    """Return, for each sort, a pattern for sentences that give a value and nothing else."""
    leads = (
        rf"(?:(?P<self>{both('corrections', 'self_correcting')})\s*"
        rf"|(?P<lead>{both('corrections', 'it_is')})\s*)?{_BEFORE_VALUE}"
    )
    sorts = {**_sorts(), "name": rf"(?-i:{_ENGLISH_NAME})|[{HAN}]{{2,4}}"}
    return {
        sort: re.compile(
            rf"{leads}(?P<value>{pattern}){_NOT_THE_OLD}[\s.!。！了吧哦]*+", re.IGNORECASE
        )
        for sort, pattern in sorts.items()
    }


@cache
def _may_correct() -> re.Pattern[str]:
    return re.compile(rf"^{both('corrections', 'self_correcting')}|\bnot\b|不是", re.IGNORECASE)
