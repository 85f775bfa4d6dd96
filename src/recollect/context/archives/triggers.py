"""Trigger policies: which archived results to load before the model is asked."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

from recollect.domain.archive import Archive
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.sections import ArchiveSettings
from recollect.embedding.service import EmbeddingService
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


# A message that also refers back may be less near.
_WITH_KEYWORD: Final = 0.6


def choose(
    message: str, nearness: Mapping[str, float], settings: ArchiveSettings, most: int = 1
) -> list[str]:
    """Return the ids of the archives to load for a message, best first.

    `nearness` tells how near each is to the message, newest archives first.
    """
    if settings.policy == "model":
        return []
    # The sort is stable: of equals the newest comes first, as given.
    best = sorted(nearness, key=lambda archive_id: -nearness[archive_id])
    is_back = refers_back(message)
    match settings.policy:
        case "keyword":
            needed = 0.0 if is_back else math.inf
        case "similarity":
            needed = settings.similarity
        case "mixed":
            needed = settings.similarity * (_WITH_KEYWORD if is_back else 1.0)
    return [archive_id for archive_id in best if nearness[archive_id] >= needed][:most]


def refers_back(message: str) -> bool:
    """Return whether a message refers to something earlier, in Chinese or English."""
    return bool(_REFERS_BACK.search(message))


async def nearness_of(
    message: str, archives: Sequence[Archive], embedding: EmbeddingService | None
) -> dict[str, float]:
    """Return how near archives are to a message: about 0 = unrelated, 1 = an answer.

    Of each the nearest line of its digest counts. Without an embedder it is the share of the words
    of the message that the archive has. Words that only refer back do not count.
    """
    asked = _REFERS_BACK.sub(" ", message).strip()
    if not asked or not archives:
        return dict.fromkeys((archive.id for archive in archives), 0.0)
    if embedding is not None and embedding.model is not None:
        found = await _by_vectors(asked, archives, embedding, embedding.model)
        if found is not None:
            return found
    words = query_terms(asked)
    return {
        archive.id: _share(words, " ".join((*_units(archive), *archive.sources)))
        for archive in archives
    }


async def _by_vectors(
    asked: str, archives: Sequence[Archive], embedding: EmbeddingService, model: EmbeddingModel
) -> dict[str, float] | None:
    """Return the nearness by cosines; None if the model cannot embed the message now."""
    question = (await embedding.ask(asked, [model])).vectors.get(model)
    if question is None:
        return None
    units = {archive.id: _units(archive) for archive in archives}
    vectors = await embedding.of_texts([unit for texts in units.values() for unit in texts])
    if vectors is None:
        return None
    unrelated, related = embedding.calibration.unrelated, embedding.calibration.related
    cosines = (vectors @ question - unrelated) / max(related - unrelated, 0.01)
    found: dict[str, float] = {}
    at = 0
    for archive_id, texts in units.items():
        found[archive_id] = float(max(cosines[at : at + len(texts)], default=0.0))
        at += len(texts)
    return found


def _units(archive: Archive) -> list[str]:
    """Return the lines of an archive's digest, and what the tool was asked."""
    return [line for line in (archive.query, *archive.summary.split("\n")) if line.strip()]


def _share(asked: Sequence[str], text: str) -> float:
    known = set(terms(text))
    return sum(term in known for term in asked) / len(asked) if asked else 0.0
