"""Relations of two statements that are certain from their form alone."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import Final

from recollect.domain.relation import RULES, Verdict
from recollect.language.characters import fold
from recollect.language.quantities import numbers
from recollect.language.words import is_stop_word, stem
from recollect.ports.judge import Statement

LONGEST_JUDGED: Final = 600
"""The longest statement that is judged, in characters; longer ones may differ in any detail."""

_WORD: Final = re.compile(r"[a-z0-9]+|[^\W_]")
_MONTHS: Final = (
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
)
_ANY_MONTH: Final = rf"(?:{'|'.join(_MONTHS)})[a-z]*"
_MONTH: Final = re.compile(rf"\b{_ANY_MONTH}(?=\.? ?\d)|(?<=\d ){_ANY_MONTH}")
_SAME: Final = Verdict(
    relation="same", probability=1.0, reason="the same words", decided_by=RULES, is_sure=True
)
_TOO_LONG: Final = Verdict(
    relation="different", probability=0.0, reason="too long to be judged", decided_by=RULES
)
# Punctuation between clauses; the point inside 3.5 or main.py stays.
_CLAUSE_PUNCTUATION: Final = str.maketrans(dict.fromkeys('，。！？、；：,;!?"“”‘’「」', " "))


def certainly(new: Statement, old: Statement) -> Verdict | None:
    """Return the verdict if no judge is needed; else None."""
    if certainly_same(new, old):
        return _SAME
    return _TOO_LONG if max(len(new.text), len(old.text)) > LONGEST_JUDGED else None


def certainly_same(one: Statement, other: Statement) -> bool:
    return normalised(one.text) == normalised(other.text)


# A new statement is compared with several stored ones.
@lru_cache(maxsize=1 << 10)
def normalised(text: str) -> str:
    """Return the text without differences in case, width, spacing and punctuation."""
    words = fold(text).casefold().translate(_CLAUSE_PUNCTUATION).split()
    return " ".join(filter(None, (word.rstrip(".") for word in words)))


def have_other_numbers(one: str, other: str) -> bool:
    """Return whether each has a number the other lacks; then they cannot be the same."""
    mine, theirs = _numbers(one), _numbers(other)
    return bool(mine - theirs) and bool(theirs - mine)


def are_turned_round(one: str, other: str) -> bool:
    """Return whether both have the same words in another order: Bob manages Ann, Ann manages Bob.

    Mostly they say the same anyway, but a small model does not see where they do not. A mere change
    of the beginning ("At weekends Ann swims") does not count.
    """
    mine, theirs = _words(one), _words(other)
    if sorted(mine) != sorted(theirs):
        return False
    return all(mine[at:] + mine[:at] != theirs for at in range(len(mine)))


@lru_cache(maxsize=1 << 10)
def _words(text: str) -> tuple[str, ...]:
    """Return the stems and Chinese characters of a text, without stop words."""
    words = _WORD.findall(fold(text).casefold())
    return tuple(stem(word) if word.isascii() else word for word in words if not is_stop_word(word))


@lru_cache(maxsize=1 << 10)
def _numbers(text: str) -> frozenset[str]:
    """Return the numbers of a text, including months and the parts of times and dates."""
    plain = _MONTH.sub(lambda match: f" {_MONTHS.index(match[0][:3]) + 1} ", fold(text).lower())
    values = chain.from_iterable(number.value.split(":") for number in numbers(plain))
    return frozenset(value.lstrip("0") or "0" for value in values)
