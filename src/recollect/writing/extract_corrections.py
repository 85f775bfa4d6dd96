"""Corrections that name only the value: "No, it's 21 June" after "my sister's birthday is 12 June".

What was said right before tells what the value belongs to: the statement is told again with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from recollect.domain.extraction import Claim
from recollect.domain.record import Kind
from recollect.text.entities_chinese import chinese_names
from recollect.text.entities_latin import is_everyday
from recollect.text.scripts import HAN
from recollect.text.signal_patterns import compiled, lines

_MONTH: Final = (
    "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec|january|february|march|april|june|july"
    "|august|september|october|november|december)"
)
_NUMERAL: Final = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_DAYPART: Final = "(?:凌晨|早上|早晨|上午|中午|下午|傍晚|晚上)"
_UNIT: Final = (
    r"(?:%|(?:kg|g|mg|ml|km|cm|m|gb|tb|euros?|dollars?|pounds?|yuan|percent|years old|minutes?"
    r"|hours?|days?|weeks?|months?|years?)\b|元|块钱?|美元|欧元|岁|公斤|斤|公里|米|分钟|小时|天|个月|年|楼|排|号)"
)
_SORTS: Final[Mapping[str, str]] = {
    "address": r"[\w.+-]+@[\w-]+\.[\w.]*\w",
    "date": lines(
        rf"""
        \b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b(?:,? \d{{4}}\b)?
        \b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b)?
        \b\d{{4}}-\d\d-\d\d\b
        (?:\d{{4}}年)?{_NUMERAL}月{_NUMERAL}[日号]
        """
    ),
    "weekday": r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    "|(?:周|星期|礼拜)[一二三四五六日天]",
    "clock": rf"\b\d{{1,2}}(?::\d\d)? ?[ap]\.?m\b|{_DAYPART}?(?:\b|(?<=[{HAN}]))\d{{1,2}}:\d\d"
    rf"|{_DAYPART}?{_NUMERAL}点(?:半|{_NUMERAL}分?)?",
    "number": r"(?<![A-Za-z0-9_.,:-])[$€£¥]?\d+(?:[.,:-]\d+)*(?:[ ]\d{3,})*(?![A-Za-z0-9_:-]*\d)"
    rf"(?P<unit>\s?{_UNIT})?",
}
"""What a correction may give another value of; the first sort that a value has is its own."""

_ENGLISH_NAME: Final = r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2}"
_NAMED: Final = re.compile(rf"\b(?:is|are|called|named) (?P<value>{_ENGLISH_NAME})$")
_NAMED_CHINESE: Final = re.compile(rf"(?:是|叫)(?P<value>[{HAN}]{{2,4}})$")

_IT_IS: Final = lines(
    r"""
    (?:it|that|this|he|she)(?:['’]s| is| was)(?: actually| really)?
    (?:it |that )?should(?: be| have been| read| say)
    make (?:it|that)
    (?:应该|其实|实际上)?[是为叫](?:在)?|改[成为到]|在
    """
)
_SELF_CORRECTING: Final = r"(?:i meant?(?: to say)?|我是说|我的意思是|应该是)"
_MAY_CORRECT: Final = rf"(?i:^{_SELF_CORRECTING}|\bnot\b)|不是"
_LONGEST: Final = 100
_BEFORE_VALUE: Final = r"(?:(?:on|at|the|for|called|named|to|in)\s+){0,2}"
_NOT_THE_OLD: Final = (
    r"(?:\s*[,，]?\s*(?:and\s+)?(?:not|而?不是)\s*(?:on |at |the )?(?P<old>[^,，。]{1,40}?))?"
)


class Earlier(NamedTuple):
    """What the user told right before, and what was replied to it."""

    claims: Sequence[Claim] = ()
    replies: Sequence[str] = ()


class _Value(NamedTuple):
    text: str
    sort: str
    old: str
    """The value it is said to stand for, if one is named."""


def names_only_a_value(said: str, *, corrects: bool) -> bool:
    """Whether a sentence, without what stands before it, gives a value and nothing else.

    It must say that something was wrong: before it, by its words, or by naming what it is not.
    """
    return _value(said, corrects=corrects) is not None


def told_again(said: str, earlier: Earlier, *, corrects: bool) -> tuple[Claim, str] | None:
    """The one earlier claim that the value belongs to, and what it says with it."""
    value = _value(said, corrects=corrects)
    if value is None:
        return None
    fitting = [(it, new) for it in earlier.claims if (new := _with_value(it, value, earlier))]
    return fitting[0] if len(fitting) == 1 else None


def _value(said: str, *, corrects: bool) -> _Value | None:
    if len(said) > _LONGEST or not (corrects or compiled(_MAY_CORRECT).search(said)):
        return None
    sorts = {**_SORTS, "name": rf"(?-i:{_ENGLISH_NAME})|[{HAN}]{{2,4}}"}
    for sort, pattern in sorts.items():
        whole = (
            rf"(?:(?P<self>{_SELF_CORRECTING})\s*|(?P<lead>{_IT_IS})\s*)?{_BEFORE_VALUE}"
            rf"(?P<value>{pattern}){_NOT_THE_OLD}[\s.!。！了吧哦]*"
        )
        found = compiled(f"(?i:{whole})").fullmatch(said.strip())
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
    """What the claim says with the value; None where it has none of its sort, or several."""
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
    """How much of the old number goes: all of it, all but its unit, or nothing of another unit."""
    old, new = (compiled(f"(?i:{_SORTS['number']})").fullmatch(it) for it in (was, now))
    if old is None or new is None:
        return 0
    had, has = ((it["unit"] or "").strip().casefold().rstrip("s") for it in (old, new))
    if not has:
        return old.start("unit") if had else len(was)
    return len(was) if had == has else 0


def _spans(sort: str, text: str) -> list[tuple[int, int]]:
    if sort == "name":
        found = _NAMED.search(text) or _NAMED_CHINESE.search(text)
        return [found.span("value")] if found and _is_name(found["value"]) else []
    if sort == "number":
        # The number of a day or an hour is none of its own.
        others = "|".join(_SORTS[other] for other in _SORTS if other != sort)
        text = compiled(f"(?i:{others})").sub(lambda it: "#" * len(it[0]), text)
    return [it.span() for it in compiled(f"(?i:{_SORTS[sort]})").finditer(text)]
