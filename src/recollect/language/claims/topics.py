"""Topics of statements about people: what stays true for long, and what somebody likes."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from recollect.domain.write import Topic
from recollect.language.claims.moods import plain
from recollect.language.claims.subjects import names_relative
from recollect.language.lexicon import bilingual, lexicon

_ORDER: Final[tuple[Topic, ...]] = ("health", "identity", "relationship")


def lasting_topic(text: str) -> Topic | None:
    """Return the lasting topic of a statement about a person; None if there is none."""
    said = plain(text)
    for topic in _ORDER:
        if _patterns()[topic].search(said):
            return topic
    return "relationship" if names_relative(said) else None


def tells_taste(text: str) -> bool:
    """Return whether a person or the user is said to like or dislike something.

    "Ann prefers aisle seats", 安妮喜欢靠窗的座位.
    """
    return bilingual("taste", "taste").match(text) is not None


@cache
def _patterns() -> dict[Topic, re.Pattern[str]]:
    english, chinese = lexicon("en", "lasting_topics"), lexicon("zh", "lasting_topics")
    return {
        topic: re.compile(
            rf"(?<![\w'])(?:{english.pattern(topic)})(?![\w'])|{chinese.pattern(topic)}"
        )
        for topic in _ORDER
    }
