"""Detection of hits that say the same, so that only one of them is shown.

A record, the turn that it was made from and a reply that takes note of it are accounts of one fact.
They fill one place, which is that of the best account.

Other duplicates need nearly the same words first, which is quick to check and rare. Then they are
compared word by word, since another number, name, time or a "not" makes a different fact.
Duplicates in other words are known by their links.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from recollect.domain.hit import NearMiss
from recollect.domain.record import Kind, Record
from recollect.domain.turn import Turn
from recollect.language.times.expressions import When, find_times
from recollect.language.words import stem
from recollect.recall.candidates import Candidate, best_first

_WORD: Final = re.compile(r"[a-z0-9]+")
_WORD_OR_CHARACTER: Final = re.compile(r"[a-z0-9]+|[^\W_]")
# A turn knows its speaker, and a record says "the user"; the rest are function words.
_NOT_COMPARED: Final = frozenset(
    {"i", "m", "my", "me", "mine", "the", "user", "s", "a", "an", *"我的用户，。！？、’"}
)
_DENIALS: Final = frozenset(
    {"not", "no", "never", "t", "cannot", "without", "不", "没", "无", "未", "别", "非"}
)
_ASCII: Final = frozenset(map(chr, range(128)))
# Longer texts are duplicates only if they are equal.
_MAX_COMPARED_CHARS: Final = 600
_QUESTION_MARKS: Final = ("?", "\uff1f")
# Every pair is compared, and longer answers are read by programs.
_MAX_COMPARED_HITS: Final = 50


@dataclass(frozen=True, slots=True)
class _Comparable:
    """A record or turn, prepared for comparison."""

    item: Record | Turn
    text: str
    words: frozenset[str]
    # The turns that it was made from.
    sources: frozenset[str]

    @property
    def asks(self) -> bool:
        return self.text.endswith(_QUESTION_MARKS)

    @property
    def at(self) -> datetime:
        return self.item.observed_at if isinstance(self.item, Record) else self.item.at


class DuplicateDetector:
    """A detector of duplicates; `share` is the minimum share of common words."""

    def __init__(self, share: float) -> None:
        self._share = share

    def repeats(self, items: Sequence[Record | Turn]) -> dict[str, str]:
        """Return the ids of duplicates among items (best first), each with the id it duplicates.

        The better item stays, except that a record replaces the turn it was made from.
        """
        different: dict[str, _Comparable] = {}
        found: dict[str, str] = {}
        for item in items[:_MAX_COMPARED_HITS]:
            said = _prepare(item)
            same = self._first_same(different.values(), said)
            if same is None:
                different[item.id] = said
            elif same.item.id in said.sources:
                del different[same.item.id]
                found = {
                    old: item.id if kept == same.item.id else kept for old, kept in found.items()
                }
                found[same.item.id] = item.id
                different[item.id] = said
            else:
                found[item.id] = same.item.id
        return found

    def _first_same(self, among: Iterable[_Comparable], other: _Comparable) -> _Comparable | None:
        """Return the first that says the same as another; most have too few words in common."""
        for one in among:
            if other.item.id in one.sources:
                is_same = self._covers(one, other)
            elif one.item.id in other.sources:
                is_same = self._covers(other, one)
            else:
                common = len(one.words & other.words)
                together = len(one.words) + len(other.words) - common
                is_same = (
                    common >= max(1, self._share * together)
                    and _are_of_the_same(one, other)
                    and _say_the_same(one, other)
                )
            if is_same:
                return one
        return None

    def _covers(self, record: _Comparable, turn: _Comparable) -> bool:
        """Return whether a record says everything that its source turn says."""
        lost = turn.words - record.words
        if len(lost) > (1 - self._share) * len(turn.words) or turn.asks:
            return False
        has_number = any(word.isnumeric() or not word.isalpha() for word in lost)
        return not has_number and not (turn.words ^ record.words) & _DENIALS


def accounts(
    hits: Sequence[Record | Turn],
    replies: Mapping[str, str],
    tells_more: Callable[[Turn, Record], bool],
) -> dict[str, str]:
    """Return the hits that another account of the same fact makes needless, each with that one.

    A record is shown instead of the turn it was made from, unless the turn `tells_more` about the
    question than every record of it; and a turn instead of the reply that notes it.
    """
    found: dict[str, str] = {}
    turns = {hit.id: hit for hit in hits if isinstance(hit, Turn)}
    if not turns:
        return found
    made = [(hit, _sources_of(hit)) for hit in hits if isinstance(hit, Record)]
    for turn in turns.values():
        records = [record for record, sources in made if turn.id in sources]
        enough = next((record for record in records if not tells_more(turn, record)), None)
        if enough is not None:
            found[turn.id] = enough.id
        else:
            found |= dict.fromkeys((record.id for record in records), turn.id)
    noted = {reply: said for reply, said in replies.items() if reply in turns and said in turns}
    return found | {reply: found.get(said, said) for reply, said in noted.items()}


def arranged(
    scored: Sequence[Candidate], repeats: Mapping[str, str], limit: int
) -> tuple[list[Candidate], list[NearMiss]]:
    """Return the hits to show, duplicates last, and those left out with the reason.

    A hit takes the place of its best duplicate. A duplicate that is shown scores no more than the
    last distinct hit, so that the order holds.
    """
    scored = _in_best_place(scored, repeats)
    shown = [hit for hit in scored if hit.owner_id not in repeats]
    left_out = [_left_out(hit, "beyond the limit") for hit in shown[limit:]]
    del shown[limit:]
    last = shown[-1].score
    for hit in scored:
        same = repeats.get(hit.owner_id)
        if same is not None and len(shown) < limit:
            shown.append(hit.moved(min(hit.score, last), f"says the same as {same}"))
        elif same is not None:
            left_out.append(_left_out(hit, f"says the same as {same}"))
    left_out.sort(key=lambda miss: -miss.score)
    return shown, left_out


def _in_best_place(scored: Sequence[Candidate], repeats: Mapping[str, str]) -> list[Candidate]:
    """Sort best first, with each hit in the place of its best duplicate."""
    best: dict[str, float] = {}
    for hit in scored:
        shown = repeats.get(hit.owner_id)
        if shown is not None:
            best[shown] = max(best.get(shown, 0.0), hit.score)
    lifted = [
        hit.moved(score, "told by another hit")
        if (score := best.get(hit.owner_id, 0.0)) > hit.score
        else hit
        for hit in scored
    ]
    return best_first(lifted)


def _left_out(hit: Candidate, reason: str) -> NearMiss:
    return NearMiss(id=hit.owner_id, score=hit.score, reason=reason)


def _prepare(item: Record | Turn) -> _Comparable:
    text = item.content[: _MAX_COMPARED_CHARS + 1].lower().strip()
    if len(text) > _MAX_COMPARED_CHARS:
        # Compared as a whole in `_say_the_same`.
        return _Comparable(item, text, frozenset((text,)), _sources_of(item))
    return _Comparable(item, text, _words(text), _sources_of(item))


# The same texts are found again and again.
@lru_cache(maxsize=1_024)
def _words(text: str) -> frozenset[str]:
    words = frozenset(_WORD.findall(text))
    if not text.isascii():
        # In text without spaces, single characters are precise enough here and far quicker.
        words |= frozenset(text) - _ASCII
    return words - _NOT_COMPARED


@lru_cache(maxsize=1_024)
def _in_order(text: str) -> tuple[str, ...]:
    """Return the stemmed words of a text in order, without function words."""
    words = _WORD_OR_CHARACTER.findall(text)
    return tuple(
        stem(word) if word.isascii() else word for word in words if word not in _NOT_COMPARED
    )


def _sources_of(item: Record | Turn) -> frozenset[str]:
    """Return the turns that a record was made from; a summary only repeats what they say."""
    if not isinstance(item, Record) or not item.evidence or item.is_session_episode:
        return frozenset()
    return frozenset([source.turn for source in item.evidence])


def _are_of_the_same(one: _Comparable, other: _Comparable) -> bool:
    """Return whether both come from the same speaker and are about the same time."""
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
    # "Today" on two different days means two different times.
    return _times(one) == _times(other)


def _times(said: _Comparable) -> list[tuple[datetime, datetime]]:
    times = find_times(said.text, said.at)
    return [(time.start, time.end) for time in times if isinstance(time, When)]


def _say_the_same(one: _Comparable, other: _Comparable) -> bool:
    if max(len(one.text), len(other.text)) > _MAX_COMPARED_CHARS:
        # Too long to be compared as one claim: any detail may differ.
        return one.item.content == other.item.content
    if one.text == other.text:
        return True
    if one.asks != other.asks:
        return False
    return _in_order(one.text) == _in_order(other.text)
