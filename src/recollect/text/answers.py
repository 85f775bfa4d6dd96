"""What kind of answer a question asks for, and which texts have one: a time, or a number."""

from __future__ import annotations

import re
from typing import Final

from recollect.domain.unit import Trait

# Of a long text this much is looked at: nearly all of them have some number somewhere.
_READ: Final = 2_000

_ASKS_FOR_TIME: Final = re.compile(
    r"\bwhen\b|\b(?:what|which)\s+(?:time|date|day|week|month|year)\b"
    "|什么时候|何时|时间|日期|哪一?[天日年]|几[月号点]",
    re.IGNORECASE,
)
_ASKS_FOR_NUMBER: Final = re.compile(
    r"\bhow\s+(?:many|much|old|long|far|often)\b|多少|几[个次天位名人年月届场枚家]", re.IGNORECASE
)

_MONTH: Final = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_PERIOD: Final = r"(?:week|weekend|month|year|night|\w+day)"


def _word(first: str, rest: str) -> str:
    """A word of lower case. Its first letter is tried before whether a word begins there."""
    return rf"{first}(?<!\w.)(?:{rest})\b"


# These are searched in lower case. "Today" is said of whatever one talks about.
_TIME: Final = re.compile(
    "|".join(
        (
            _word("y", "esterday"),
            _word("t", "omorrow"),
            _word("a", "go"),
            _word("l", rf"ast\s+{_PERIOD}"),
            _word("n", rf"ext\s+{_PERIOD}"),
            "昨[天晚]|前天|上个?(?:周|星期|月)",
        )
    )
)
_DAY: Final = re.compile(rf"\b{_MONTH}\b\.?\s\d|\d(?:(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}\b|[日号])")
_DIGIT: Final = re.compile(r"\d")
_NUMBER: Final = re.compile(
    "|".join(
        (
            _word("t", "wo|hree|en|housand|wice"),
            _word("f", "our|ive"),
            _word("s", "ix|even"),
            _word("e", "ight"),
            _word("n", "ine"),
            _word("d", "ozen"),
            _word("h", "undred"),
            _word("c", "ouple"),
            "[一二两三四五六七八九十百千万亿][个次天位名人年月元场枚家万亿]",
        )
    )
)


def asked_for(question: str) -> Trait:
    """What a text needs to have to answer the question."""
    wanted = Trait.NONE
    if _ASKS_FOR_TIME.search(question):
        wanted |= Trait.TELLS_TIME
    if _ASKS_FOR_NUMBER.search(question):
        wanted |= Trait.TELLS_NUMBER
    return wanted


def told_in(text: str) -> Trait:
    """What kinds of answers a text has."""
    read = text[:_READ].lower()
    has_digit = _DIGIT.search(read)
    is_time = _TIME.search(read) or (has_digit and _DAY.search(read))
    is_number = has_digit or _NUMBER.search(read)
    return Trait(bool(is_time) * Trait.TELLS_TIME + bool(is_number) * Trait.TELLS_NUMBER)
