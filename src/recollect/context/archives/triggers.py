"""Trigger policies: which archived results to load before the model is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from recollect.domain.archive import Archive
from recollect.domain.sections import ArchiveSettings
from recollect.language.analysis import query_terms, terms

_REFERS_BACK: Final = re.compile(
    r"之前|刚才|刚刚|上次|上一次|上回|前面|先前|早些时候|上面(?:说|提|讲|的)|以前(?:说|查|提)|"
    r"你(?:说|提|讲|查)(?:过|到|的)|再详细|展开说|历史(?:结果|记录)|"
    r"\b(?:earlier|previous(?:ly)?|before|last time|just now|above|again|"
    r"you (?:said|mentioned|found|showed|told)|we (?:discussed|found|looked)|"
    r"go back to|back to the|in more detail|elaborate|"
    r"the (?:first|second|third|fourth|fifth|last) (?:step|item|result|one))\b|"
    r"第[一二三四五六七八九十\d]+(?:步|条|点|项|个)",
    re.IGNORECASE,
)


# Enough in common with a message that also refers back.
_SIMILARITY_WITH_KEYWORD: Final = 0.1


def choose(
    message: str, archives: Sequence[Archive], settings: ArchiveSettings, most: int = 1
) -> list[str]:
    """Return the ids of the archives to load for a message, best first.

    `archives` are newest first; similarities are shares of the message's words.
    """
    if settings.policy == "model" or not archives:
        return []
    nearness = {archive.id: similarity(message, archive) for archive in archives}
    # The sort is stable: of equals the newest comes first, as given.
    best = sorted(nearness, key=lambda archive_id: -nearness[archive_id])
    match settings.policy:
        case "keyword":
            chosen = best if refers_back(message) else []
        case "similarity":
            chosen = [
                archive_id for archive_id in best if nearness[archive_id] >= settings.similarity
            ]
        case "mixed":
            is_back = refers_back(message)
            needed = _SIMILARITY_WITH_KEYWORD if is_back else settings.similarity
            chosen = [archive_id for archive_id in best if nearness[archive_id] >= needed]
    return chosen[:most]


def refers_back(message: str) -> bool:
    """Return whether a message refers to something earlier, in Chinese or English."""
    return bool(_REFERS_BACK.search(message))


def similarity(message: str, archive: Archive) -> float:
    """Return the share of the message's words that the archive is about.

    Words that only refer back do not count.
    """
    asked = query_terms(_REFERS_BACK.sub(" ", message))
    if not asked:
        return 0.0
    known = set(terms(" ".join((archive.query, archive.summary, *archive.sources))))
    return sum(term in known for term in asked) / len(asked)
