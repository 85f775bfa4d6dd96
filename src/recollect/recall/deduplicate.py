"""Which of the memories found say the same, so that only one of them takes a place.

Nearly the same words are needed first, which is quick to see and rarely so; then they are compared
one by one, since another number, name, time or a "not" makes another fact of the same words. What
says the same in other words is known by its links.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from recollect.domain.hit import Boost, NearMiss
from recollect.domain.record import Kind, Record
from recollect.domain.turn import Turn
from recollect.language.times.expressions import When, find_times
from recollect.language.words import stem
from recollect.recall.candidate_loader import Weighed

_WORD: Final = re.compile(r"[a-z0-9]+")
_WORD_OR_CHARACTER: Final = re.compile(r"[a-z0-9]+|[^\W_]")
# Who speaks is told by a turn itself, and in a record by "the user"; the rest are mere joints.
_NOT_COMPARED: Final = frozenset(
    {"i", "m", "my", "me", "mine", "the", "user", "s", "a", "an", *"我的用户，。！？、’"}
)
_DENIALS: Final = frozenset(
    {"not", "no", "never", "t", "cannot", "without", "不", "没", "无", "未", "别", "非"}
)
_ASCII: Final = frozenset(map(chr, range(128)))
# Of anything longer only equal texts are taken for the same.
_LONGEST: Final = 600
_QUESTION_MARKS: Final = ("?", "\uff1f")
# Longer answers are read by programs, and every pair would be compared.
_MOST: Final = 50


@dataclass(frozen=True, slots=True)
class _Said:
    """A memory with what is compared of it."""

    item: Record | Turn
    text: str
    words: frozenset[str]

    @property
    def asks(self) -> bool:
        return self.text.endswith(_QUESTION_MARKS)

    @property
    def at(self) -> datetime:
        return self.item.observed_at if isinstance(self.item, Record) else self.item.at


class Sameness:
    """Finds what says the same as something better; `share` is that of common words it takes."""

    def __init__(self, share: float) -> None:
        self._share = share

    def repeats(self, items: Sequence[Record | Turn]) -> dict[str, str]:
        """The ids of those, best first, that repeat another one, with its id.

        The better one stays, but a record stands for the turn that it was made of.
        """
        different: dict[str, _Said] = {}
        found: dict[str, str] = {}
        for item in items[:_MOST]:
            said = _said(item)
            same = next((it for it in different.values() if self._is_same(it, said)), None)
            if same is None:
                different[item.id] = said
            elif _is_made_of(item, same.item):
                del different[same.item.id]
                found = {old: item.id if it == same.item.id else it for old, it in found.items()}
                found[same.item.id] = item.id
                different[item.id] = said
            else:
                found[item.id] = same.item.id
        return found

    def _is_same(self, one: _Said, other: _Said) -> bool:
        if type(one.item) is not type(other.item):
            if _is_made_of(one.item, other.item):
                return self._covers(one, other)
            if _is_made_of(other.item, one.item):
                return self._covers(other, one)
        common = len(one.words & other.words)
        together = len(one.words) + len(other.words) - common
        if not common or common < self._share * together:
            return False
        return _are_of_the_same(one, other) and _say_the_same(one, other)

    def _covers(self, record: _Said, turn: _Said) -> bool:
        """Whether a record says all that the turn says which it was made of."""
        lost = turn.words - record.words
        if len(lost) > (1 - self._share) * len(turn.words) or turn.asks:
            return False
        has_number = any(word.isnumeric() or not word.isalpha() for word in lost)
        return not has_number and not (turn.words ^ record.words) & _DENIALS


def arranged(
    weighed: Sequence[Weighed], repeats: Mapping[str, str], limit: int
) -> tuple[list[Weighed], list[NearMiss]]:
    """What is shown of them, what is different first; and what is not, with the reason.

    A repetition that is shown scores no more than what is different, so that the order holds.
    """
    shown = [it for it in weighed if it.fused.owner_id not in repeats]
    left_out = [_left_out(it, "beyond the limit") for it in shown[limit:]]
    del shown[limit:]
    last = shown[-1].score
    for it in weighed:
        same = repeats.get(it.fused.owner_id)
        if same is not None and len(shown) < limit:
            score = min(it.score, last)
            boost = Boost(reason=f"says the same as {same}", factor=score / it.score)
            shown.append(it._replace(score=score, boosts=(*it.boosts, boost)))
        elif same is not None:
            left_out.append(_left_out(it, f"says the same as {same}"))
    left_out.sort(key=lambda miss: -miss.score)
    return shown, left_out


def _left_out(it: Weighed, reason: str) -> NearMiss:
    return NearMiss(id=it.fused.owner_id, score=it.score, reason=reason)


def _said(item: Record | Turn) -> _Said:
    text = item.content[: _LONGEST + 1].lower().strip()
    if len(text) > _LONGEST:
        # Compared as it is, see below.
        return _Said(item, text, frozenset((text,)))
    return _Said(item, text, _words(text))


# What was found before is found again.
@lru_cache(maxsize=1_024)
def _words(text: str) -> frozenset[str]:
    words = frozenset(_WORD.findall(text))
    if not text.isascii():
        # Of text without spaces the characters are words enough for a first look, and far quicker.
        words |= frozenset(text) - _ASCII
    return words - _NOT_COMPARED


@lru_cache(maxsize=1_024)
def _in_order(text: str) -> tuple[str, ...]:
    """The words of a text in one form each, in their order, without those that are mere joints."""
    words = _WORD_OR_CHARACTER.findall(text)
    return tuple(stem(it) if it.isascii() else it for it in words if it not in _NOT_COMPARED)


def _is_made_of(item: Record | Turn, other: Record | Turn) -> bool:
    if not isinstance(item, Record) or not isinstance(other, Turn):
        return False
    return any(it.turn == other.id for it in item.evidence)


def _are_of_the_same(one: _Said, other: _Said) -> bool:
    """Whether the same speaker says it of the same time."""
    match one.item, other.item:
        case Turn(), Turn():
            if one.item.speaker != other.item.speaker:
                return False
        case Record(), Record():
            kinds = {one.item.kind, other.item.kind}
            if Kind.EPISODIC in kinds and one.at.date() != other.at.date():
                return False
        case _:
            turn = one.item if isinstance(one.item, Turn) else other.item
            if isinstance(turn, Turn) and turn.role != "user":
                return False
    if one.at.date() == other.at.date():
        return True
    # What was said of today on two days are two things.
    return _times(one) == _times(other)


def _times(said: _Said) -> list[tuple[datetime, datetime]]:
    times = find_times(said.text, said.at)
    return [(it.start, it.end) for it in times if isinstance(it, When)]


def _say_the_same(one: _Said, other: _Said) -> bool:
    if max(len(one.text), len(other.text)) > _LONGEST:
        # Too long to be compared as a claim, where any detail may be another.
        return one.item.content == other.item.content
    if one.text == other.text:
        return True
    if one.asks != other.asks:
        return False
    return _in_order(one.text) == _in_order(other.text)
