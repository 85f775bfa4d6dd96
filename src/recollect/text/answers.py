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
# "Today" is said of whatever one talks about.
_TIME: Final = re.compile(
    rf"\b(?:yesterday|tomorrow|ago|(?:last|next)\s+{_PERIOD})\b"
    rf"|\b{_MONTH}\b\.?\s\d|\d(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}\b"
    "|\\d[日号]|昨[天晚]|前天|上个?(?:周|星期|月)",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|twice|couple)\b"
    "|[一二两三四五六七八九十百千万亿][个次天位名人年月元场枚家万亿]",
    re.IGNORECASE,
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
    read = text[:_READ]
    told = Trait.NONE
    if _TIME.search(read):
        told |= Trait.TELLS_TIME
    if _NUMBER.search(read):
        told |= Trait.TELLS_NUMBER
    return told
