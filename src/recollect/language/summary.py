"""Summaries without a model: the most valuable sentences, shortened, within a size."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from recollect.domain.context import Tongue
from recollect.domain.summary import Point, PointKind
from recollect.language.analysis import terms
from recollect.language.characters import language
from recollect.language.salience import (
    compact,
    describes_own_work,
    gives_advice,
    is_fragment,
    salience,
    specifics,
)
from recollect.language.sentences import sentences

# --- How unusual words are within a conversation --------------------------------------------------

# Stands among counted terms for the sentences themselves; no term is empty.
_SENTENCES: Final = ""
# Where nothing can be compared.
_UNKNOWN: Final = 0.5


class Rarity:
    """How unusual the words of a sentence are in a conversation, from 0 to 1.

    Numbers and names in code are left out: they are always rare, and are weighed apart.
    """

    def __init__(self, counts: Iterable[Counter[str]]) -> None:
        self._counts: Counter[str] = Counter()
        for count in counts:
            self._counts.update(count)
        self._number = self._counts[_SENTENCES]

    def of(self, text: str) -> float:
        found = plain_terms(text)
        if not found or self._number < 2:
            return _UNKNOWN
        most = math.log(self._number + 1)
        rare = (math.log((self._number + 1) / (self._counts[term] + 1)) for term in found)
        return max(0.0, sum(rare) / len(found) / most)


def sentence_counts(text: str) -> Counter[str]:
    """Return in how many sentences of a text each term occurs, as `Rarity` adds them up."""
    counts: Counter[str] = Counter()
    for sentence in sentences(text):
        counts[_SENTENCES] += 1
        counts.update(plain_terms(sentence))
    return counts


@lru_cache(maxsize=4096)
def plain_terms(text: str) -> frozenset[str]:
    """Return the words of a text without numbers, names in code and single characters."""
    return frozenset(term for term in terms(text) if len(term) > 1 and term.isalpha())


# --- Summaries without a model: the most valuable sentences, shortened, within a size -------------

Speaker = Literal["user", "assistant", "tool"]

# Characters of one point; a Chinese character says as much as a few letters.
_MAX_POINT_CHARACTERS: Final = {"en": 220, "zh": 90}
_MAX_TOPIC_CHARACTERS: Final = {"en": 70, "zh": 28}
_MAX_TOPICS: Final = 2
# Users state what holds; assistants mostly explain; tools print.
_SAID_BY: Final = {"user": 0.6, "assistant": 0.0, "tool": -2.5}
# What rare words add at most; common ones take away as much.
_RARITY: Final = 2.0
# Below this a sentence is only talk, whoever says it and however rare its words.
_MIN_WORTH: Final = 0.9
_SAME: Final = 0.75
_SIMILAR: Final = 0.5
_ECHO: Final = 0.85
# "I'll read the file next" is over when it is said; the result comes in words of its own.
_OWN_WORK: Final = -1.2
_ADVICE: Final = -1.2
_FRAGMENT: Final = -3.0
# A long point must be worth more than two short ones.
_FREE_LENGTH: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message: its text, speaker and position."""

    text: str
    by: Speaker
    position: int


def tongue_of(texts: Iterable[str]) -> Tongue:
    """Return the language to use when speaking about these texts."""
    return "zh" if language("\n".join(text[:400] for text in texts)) == "zh" else "en"


def points_of(said: Sequence[Said], tongue: Tongue) -> list[Point]:
    """Return everything in a conversation that may be worth keeping, in order, with its worth."""
    told = [(sentence, message) for message in said for sentence in sentences(message.text)]
    points = [_point(sentence, message, tongue) for sentence, message in told]
    worth = (point for point in points if point.weight >= _MIN_WORTH and point.text)
    return [*_topics(told, tongue), *worth]


def fitting(
    points: Iterable[Point], room: int, cost: Callable[[str], int], rarity: Rarity
) -> tuple[Point, ...]:
    """Return the most valuable points that fit, none of which repeats another.

    They come in their original order. What is said in the same words as something chosen already,
    with only another name or number, counts for less each time.
    """
    given = list(points)
    costs = [cost(point.text) for point in given]
    values = [
        (point.weight + _RARITY * (2 * rarity.of(point.text) - 1)) / (_FREE_LENGTH + cost)
        for point, cost in zip(given, costs, strict=True)
    ]
    said = [_Saying.of(point.text) for point in given]
    waiting = {index for index, value in enumerate(values) if value > 0}
    chosen: list[int] = []
    while waiting:
        best = max(waiting, key=lambda index: (values[index], -index))
        waiting.remove(best)
        if costs[best] > room:
            continue
        room -= costs[best]
        chosen.append(best)
        for other in tuple(waiting):
            if said[best].covers(said[other]):
                waiting.remove(other)
            elif said[best].sounds_like(said[other]):
                values[other] *= _ECHO
    return tuple(given[index] for index in sorted(chosen))


def extract(text: str, room: int, cost: Callable[[str], int]) -> str:
    """Return the most telling sentences of a text that fit; its beginning if none is telling."""
    tongue = tongue_of([text])
    said = Said(text=text, by="user", position=0)
    points = [_point(sentence, said, tongue) for sentence in sentences(text)]
    telling = [point for point in points if point.weight >= _MIN_WORTH]
    beginning = [replace(point, weight=1 / place) for place, point in enumerate(points, 1)]
    rarity = Rarity([sentence_counts(text)] if telling else [])
    chosen = fitting(telling or beginning, room, cost, rarity)
    return ("；" if tongue == "zh" else "; ").join(point.text for point in chosen)


def _point(sentence: str, said: Said, tongue: Tongue) -> Point:
    judged = salience(sentence)
    weight = judged.weight
    if weight >= _MIN_WORTH:
        weight += _SAID_BY[said.by]
    if said.by == "assistant":
        weight += _OWN_WORK * describes_own_work(sentence) + _ADVICE * gives_advice(sentence)
        weight += _FRAGMENT * is_fragment(sentence)
    # A tool decides nothing and gives nobody a task, whatever a page it fetched may say.
    kind = PointKind.FACT if said.by == "tool" else judged.kind
    text = compact(sentence, _MAX_POINT_CHARACTERS[tongue])
    return Point(kind=kind, text=text, weight=weight, position=said.position)


def _topics(told: Sequence[tuple[str, Said]], tongue: Tongue) -> list[Point]:
    """Return what users asked for, in a few words."""
    asked = [
        (s, message)
        for s, message in told
        if message.by == "user" and salience(s).weight < _MIN_WORTH
    ]
    best = sorted(asked, key=lambda asking: -_topic_worth(asking[0]))[:_MAX_TOPICS]
    return [
        Point(
            kind=PointKind.TOPIC,
            text=compact(sentence, _MAX_TOPIC_CHARACTERS[tongue]).rstrip("?？"),
            weight=_MIN_WORTH,
            position=message.position,
        )
        for sentence, message in sorted(best, key=lambda asking: asking[1].position)
    ]


def _topic_worth(sentence: str) -> float:
    """Rank questions before statements, and what names something or says more before the rest."""
    is_question = sentence.endswith(("?", "？"))
    return 2 * is_question + bool(specifics(sentence)) + min(1.0, len(plain_terms(sentence)) / 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saying:
    """What a text says, for comparison with others."""

    words: frozenset[str]
    specifics: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _Saying:
        return cls(words=plain_terms(text), specifics=specifics(text))

    def covers(self, other: _Saying) -> bool:
        """Return whether this says nearly all of the other, with all its numbers and names."""
        shared = len(self.words & other.words)
        return other.specifics <= self.specifics and shared >= _SAME * len(other.words)

    def sounds_like(self, other: _Saying) -> bool:
        shared = len(self.words & other.words)
        return shared >= _SIMILAR * len(self.words | other.words)
