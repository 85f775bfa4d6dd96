"""The words by which something is asked for: they are put to the memory, and no memory has them.

"Can you remind me how many days passed since I planted the beans?" is about planting beans. The
rest says that it is a question, to whom it is put, and that it was spoken of before.
"""

from __future__ import annotations

import re
from typing import Final

_PERIODS: Final = "(?:seconds|minutes|hours|days|weeks|months|years|times)"
_PASSED: Final = "(?:(?:had |have |has |were |was )?(?:there|passed|elapsed|gone by|it been|been))"
_TELL: Final = (
    "(?:remind|tell|give|show|help|walk|list|summari[sz]e|provide|explain|suggest|recommend"
    "|describe|share|recall)"
)
_SUMMARY: Final = "(?:an?|the)(?: [a-z]+)? (?:summary|overview|recap|list|rundown|timeline) of"
_TALKS: Final = "(?:conversation|chat|discussion|talk|session)s?"
_AFTER_WHO: Final = "(?:(?<=\\bi )|(?<=you )|(?<=we )|(?<='ve ))"
_EARLIER: Final = "(?:previous|earlier|last|past|prior)"

_ENGLISH: Final = (
    # What kind of answer is wanted. Not "how long" or "what kind of": people ask each other so,
    # and the answer stands beside it.
    rf"how many {_PERIODS}(?: ago| {_PASSED})?",
    "(?:which|who|what) (?:happened|came|was) first",
    "the (?:day|date|time|moment) (?:that |when )?(?=i )",
    "any (?:tips|ideas|suggestions|advice|recommendations|thoughts)",
    "in total|all in all|altogether|(?:the )?total (?:number|amount) of",
    "(?:the )?order (?:of|in which)|in (?:chronological )?order",
    "from (?:the )?(?:first|earliest) to (?:the )?(?:last|latest)",
    # To whom it is put, and how politely.
    rf"(?:(?:can|could|would|will) you|you (?:can|could)) (?:please )?{_TELL}"
    rf"(?: (?:me|us))?(?: through)?(?: {_SUMMARY})?",
    "(?:please )?(?:remind|tell) (?:me|us)",
    "do you (?:still )?(?:remember|recall|know)|i (?:remember|recall)",
    "i(?: was| am|'m) (?:just )?wondering",
    "i(?: (?:want|wanted|would like)|'d like) to (?:confirm|check|know|ask)",
    # That it was spoken of before.
    "i(?: was| am|'m) (?:going|looking|thinking) (?:back|through|over)(?: (?:to|at|on|over))?",
    rf"our (?:{_EARLIER} )?{_TALKS}(?: about)?",
    # Who spoke stays: "I" marks what users tell of themselves.
    rf"{_AFTER_WHO}(?:say|mention|tell (?:you|me)|bring up|discuss|talk about)",
    rf"{_AFTER_WHO}(?:said|mentioned|told (?:you|me)|brought up|discussed|talked about|covered)",
)
_CHINESE: Final = (
    "请问(?:一下)?|麻烦[你您]",
    "[你您]?还?(?:记不)?记得",
    "[你您]?(?:能不能|能否|能|可不可以|可以)?再?(?:告诉|提醒)(?:一下)?我(?:一下)?",
    "[你您]知道(?=.*[吗么？?])",
    "我(?:之前|以前|上次|曾经?)?[跟和对向]?[你您]?[说提讲聊]到?过的?",
    "[一总]共",
)
# What those can begin with: in most places nothing else needs to be tried.
_ENGLISH_BEGINNINGS: Final = "[abcdfhimoprstwy]"
_CHINESE_BEGINNINGS: Final = "[请麻你您还记能可再告提我一总]"
# Of lower-case letters, since a search that disregards the case takes several times as long.
_ASKING: Final = re.compile(
    rf"\b(?={_ENGLISH_BEGINNINGS})(?<!')(?:{'|'.join(_ENGLISH)})(?![\w'])"
    rf"|(?={_CHINESE_BEGINNINGS})(?:{'|'.join(_CHINESE)})",
)
# What is longer tells more than it asks.
_LONGEST: Final = 500


def without_asking(question: str) -> str:
    """What a question is about: all of it but the words that only ask, if there are others."""
    low = question.lower()
    # Some letters of other alphabets are two in lower case.
    if len(question) > _LONGEST or len(low) != len(question):
        return question
    parts: list[str] = []
    end = 0
    for asking in _ASKING.finditer(low):
        parts.append(question[end : asking.start()])
        end = asking.end()
    subject = " ".join((*parts, question[end:]))
    return subject if any(map(str.isalnum, subject)) else question
