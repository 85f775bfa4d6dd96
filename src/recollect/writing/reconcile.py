"""How a new claim relates to a stored one, judged without a model, and how two are merged."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from recollect.domain.relation import Judgement, Relation, Side, Strategy
from recollect.text.claim_parts import LONGEST_CLAIM
from recollect.text.claims import claim
from recollect.text.comparison import Comparison
from recollect.text.folding import fold

_MOMENT: Final = timedelta(minutes=1)
"""Claims made within it were made together: neither is the later one."""

_SURER: Final = 0.2
"""By so much more confidence a claim outweighs another."""


def relate(
    new: str,
    old: str,
    *,
    cosine: float | None,
    new_at: datetime,
    old_at: datetime,
    new_confidence: float = 1.0,
    old_confidence: float = 1.0,
    replaces: bool = False,
    corrects: bool = False,
    is_event: bool = False,
) -> Judgement:
    """How the new claim relates to the stored one; `cosine` is None without an embedder.

    One that `replaces` wins by being the later, be it by a moment only; one that `corrects` wins.
    An event beside a fact leaves it as it is, unless it tells that the fact is over or another.
    """
    if _plain(new) == _plain(old):
        return Judgement(relation="same", reason="the same words", similarity=1.0)
    pair = Comparison(claim(new), claim(old), cosine)
    relation, reason = pair.judge()
    stands: Side = "new"
    if is_event and not (pair.ends_the_old or (relation == "conflict" and pair.says_change)):
        relation, reason = "different", "an event that does not change the fact"
    elif relation == "same" and max(len(new), len(old)) > LONGEST_CLAIM:
        relation, reason = "different", "too long to be sure that nothing differs"
    elif relation == "conflict":
        surer = new_confidence - old_confidence
        relation, stands, decided = _decided(pair, new_at - old_at, surer, corrects=corrects)
        if relation == "conflict" and replaces and not pair.is_fixed and new_at >= old_at:
            relation, decided = "update", "the new claim is the later"
        reason = f"{reason}; {decided}"
    return Judgement(relation=relation, reason=reason, similarity=pair.similarity, stands=stands)


# A new claim is compared with several stored ones.
@lru_cache(maxsize=1 << 10)
def _plain(text: str) -> str:
    return " ".join(fold(text).casefold().split())


def _decided(
    pair: Comparison, later: timedelta, surer: float, *, corrects: bool
) -> tuple[Relation, Side, str]:
    """What time, the words of the new claim, or confidence make of two that exclude each other."""
    if corrects or pair.corrects:
        return "update", "new", "the new claim corrects"
    if not pair.is_fixed:
        if later < -_MOMENT:
            return "update", "old", "the stored claim is the later"
        if later > _MOMENT:
            return "update", "new", "the new claim is the later"
        if pair.says_change:
            return "update", "new", "the new claim tells of a change"
    if surer >= _SURER:
        return "update", "new", "the new claim is the surer"
    if surer <= -_SURER:
        return "update", "old", "the stored claim is the surer"
    return "conflict", "new", "neither time nor confidence decides"


# --- Merging ------------------------------------------------------------------------------------

_STATEMENT: Final = re.compile(
    r"[^。！？!?;；\n.]+(?:(?:\.(?=\S)|(?<=Mr)\.|(?<=Ms)\.|(?<=Dr)\.|(?<=Mrs)\.|(?<=St)\.)"
    r"[^。！？!?;；\n.]*)*[。！？!?;；.]*"
)
"""A sentence with what ends it; the point in 3.5, in main.py or behind Dr ends none."""


def merge(strategy: Strategy, old: str, new: str) -> str:
    """One text for two: the new one, the old and then the new, or what both say, each once."""
    if strategy == "overwrite":
        return new
    if strategy == "append":
        return _joined([*_statements(old), *_unsaid(_statements(new), _statements(old))])
    return _joined(_distinct([*_statements(old), *_statements(new)]))


def still_standing(old: str, new: str) -> str:
    """The old text without what the new one denies or gives another value for."""
    fresh = _statements(new)
    return _joined([it for it in _statements(old) if not any(_replaces(one, it) for one in fresh)])


def _statements(text: str) -> list[str]:
    return [found for match in _STATEMENT.findall(text) if (found := match.strip())]


def _unsaid(statements: list[str], said: list[str]) -> list[str]:
    known = {_plain(one) for one in said}
    return [one for one in statements if _plain(one) not in known]


def _distinct(statements: list[str]) -> list[str]:
    """The statements without those that another one covers, in their order."""
    kept: list[str] = []
    for statement in statements:
        if any(_covers(other, statement) for other in kept):
            continue
        kept = [other for other in kept if not _covers(statement, other)]
        kept.append(statement)
    return kept


def _replaces(new: str, old: str) -> bool:
    """Whether two statements exclude each other, so that the new one takes the old one's place."""
    if max(len(new), len(old)) > LONGEST_CLAIM:
        return False
    pair = Comparison(claim(new), claim(old), None)
    return pair.ends_the_old or pair.judge()[0] == "conflict"


def _covers(whole: str, part: str) -> bool:
    """Whether all that one statement says is said by the other."""
    if _plain(whole) == _plain(part):
        return True
    if max(len(whole), len(part)) > LONGEST_CLAIM:
        return False
    return Comparison(claim(part), claim(whole), None).judge()[0] == "same"


def _joined(statements: list[str]) -> str:
    """The statements as one text; each ends as a sentence where another follows."""
    text = ""
    for statement in statements:
        if text and text[-1] not in "。！？!?;；.":
            text += "。" if _is_wide(text[-1]) else "."
        space = "" if not text or _is_wide(text[-1]) else " "
        text += space + statement
    return text


def _is_wide(character: str) -> bool:
    return character >= "\u3000"
