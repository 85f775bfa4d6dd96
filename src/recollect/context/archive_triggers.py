"""Which archived results to load before the model is asked: the trigger policies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from recollect.domain.archive import Archive
from recollect.text.analysis import query_terms, terms

Policy: TypeAlias = Literal["model", "keyword", "similarity", "mixed"]

_BACK: Final = re.compile(
    r"之前|刚才|刚刚|上次|上一次|上回|前面|先前|早些时候|上面(?:说|提|讲|的)|以前(?:说|查|提)|"
    r"你(?:说|提|讲|查)(?:过|到|的)|再详细|展开说|历史(?:结果|记录)|"
    r"\b(?:earlier|previous(?:ly)?|before|last time|just now|above|again|"
    r"you (?:said|mentioned|found|showed|told)|we (?:discussed|found|looked)|"
    r"go back to|back to the|in more detail|elaborate|"
    r"the (?:first|second|third|fourth|fifth|last) (?:step|item|result|one))\b|"
    r"第[一二三四五六七八九十\d]+(?:步|条|点|项|个)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerOptions:
    """How eagerly results are loaded; similarities are shares of the message's words."""

    policy: Policy = "model"
    similarity: float = 0.5
    # Enough when the message also refers back.
    similarity_with_keyword: float = 0.1
    most: int = 1


def choose(
    message: str, archives: Sequence[Archive], options: TriggerOptions | None = None
) -> list[str]:
    """The ids of the archives to load for a message, best first; `archives` are newest first."""
    options = options or TriggerOptions()
    if options.policy == "model" or not archives:
        return []
    nearness = {archive.id: similarity(message, archive) for archive in archives}
    # Of equals the newest, as they are given.
    best = sorted(nearness, key=lambda it: -nearness[it])
    match options.policy:
        case "keyword":
            chosen = best if refers_back(message) else []
        case "similarity":
            chosen = [it for it in best if nearness[it] >= options.similarity]
        case "mixed":
            is_back = refers_back(message)
            needed = options.similarity_with_keyword if is_back else options.similarity
            chosen = [it for it in best if nearness[it] >= needed]
    return chosen[: options.most]


def refers_back(message: str) -> bool:
    """Whether a message speaks of something said or found before, in Chinese or English."""
    return bool(_BACK.search(message))


def similarity(message: str, archive: Archive) -> float:
    """The share of the message's words that the archive is about, without those that refer back."""
    asked = query_terms(_BACK.sub(" ", message))
    if not asked:
        return 0.0
    known = set(terms(" ".join((archive.query, archive.summary, *archive.sources))))
    return sum(term in known for term in asked) / len(asked)
