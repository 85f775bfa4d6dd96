"""Whether a statement tells what somebody likes: "Ann prefers aisle seats", 安妮喜欢靠窗的座位."""

from __future__ import annotations

import re
from typing import Final

# Somebody is named with a capital, or is the user; "the parser prefers …" is about a thing.
_ENGLISH: Final = re.compile(
    r"\s*(?:[Tt]he user|(?!(?:The|This|That|It|These|Those|There)\b)[A-Z][\w'’-]*"
    r"(?: [A-Z][\w'’-]*){0,2})"
    r" (?:(?:really|also|now|still|always|usually|generally|strongly|much) ){0,2}"
    r"(?:(?:does not|doesn['’]t) (?:really )?(?:like|enjoy|want)"
    r"|prefers|likes|loves|adores|enjoys|favou?rs|dislikes|hates|(?:cannot|can['’]t) stand)\b"
)
_SPEAKER: Final = re.compile(
    r"\s*I (?:(?:really|also|now|still|always|usually|generally|strongly|much) ){0,2}"
    r"(?:(?:do not|don['’]t) (?:really )?(?:like|enjoy)"
    r"|prefer|like|love|adore|enjoy|dislike|hate|(?:cannot|can['’]t) stand)\b(?! to think\b)"
)
_CHINESE: Final = re.compile(
    r"\s*(?:[\u4e00-\u9fff]{1,4}?|[A-Za-z][\w-]*) ?"
    "(?:现在|一直|平时|通常|比较|特别|非常|尤其|也|都|还是|更|最|很|不太|不|并不)*"
    "(?:喜欢|偏好|偏爱|喜爱|热爱|讨厌|爱吃|爱喝)"
)


def tells_taste(text: str) -> bool:
    """Whether a named person, or the user, is said to like or dislike something, or says so."""
    return any(it.match(text) for it in (_ENGLISH, _SPEAKER, _CHINESE))
