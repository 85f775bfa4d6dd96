"""Summaries without a model: the most valuable sentences, shortened, within a size."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain
from typing import Final, Literal

from recollect.domain.context import Tongue
from recollect.domain.summary import Point, PointKind
from recollect.language.analysis import terms
from recollect.language.characters import HAN, language
from recollect.language.entities import entities
from recollect.language.lexicon import bilingual, both, lexicon
from recollect.language.sentences import sentences

# --------------------------------------------------------------------------------------------------
# How much a sentence is worth keeping, and as what: a decision, a task, a fact with a number.
# Judged by rules, in Chinese and English, from the sentence alone.

_CLAUSE_END: Final = re.compile(r"(?<=[，；：])|(?<=[,;:])\s++|(?<!\s)\s++[-–—]\s++")
_ANY_HAN: Final = re.compile(f"[{HAN}]")
_CODE: Final = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Z])[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+")
_MIN_LONG_DIGITS: Final = 4
_QUESTION: Final = re.compile(r"[?？]\s*+$|[吗呢]\s*+(?:[。！]\s*+)?$")

_KINDS: Final = (
    PointKind.QUESTION,
    PointKind.CORRECTION,
    PointKind.DECISION,
    PointKind.TODO,
    PointKind.AGREEMENT,
    PointKind.CONCLUSION,
)
_WORTH: Final[Mapping[PointKind, float]] = {
    PointKind.DECISION: 2.4,
    PointKind.TODO: 2.2,
    PointKind.AGREEMENT: 2.0,
    PointKind.CORRECTION: 2.4,
    PointKind.CONCLUSION: 1.6,
    PointKind.QUESTION: 1.6,
    PointKind.FACT: 0.0,
}
_FIRST_WORTH: Final = 1.2
_FURTHER_WORTH: Final = 0.4
_MAX_WORTH: Final = 2.0
_IN_PASSING: Final = 0.3
# A relation or a measure that is named: who owns it, what it costs.
_NAMED: Final = 0.9
# A task or a decision about nothing in particular.
_VAGUE: Final = -0.5
_HYPOTHETICAL: Final = -1.8
# A question is worth something while nobody has answered it, which one sentence cannot tell.
_ASKED: Final = -1.2
_MIN_ENGLISH_WORDS: Final = 4
_MIN_CHINESE_CHARACTERS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Salience:
    """The kind of a sentence and its worth by itself."""

    kind: PointKind
    weight: float
    # Numbers, codes and names, as they are compared between sentences.
    specifics: frozenset[str]


@lru_cache(maxsize=4096)
def salience(sentence: str) -> Salience:
    """Return the worth of a sentence from its cue words, numbers, names and codes."""
    is_chinese = _ANY_HAN.search(sentence) is not None
    kind = _kind(sentence, is_chinese)
    numbers, in_passing = _numbers(sentence)
    codes = {*_CODE.findall(sentence), *(date.casefold() for date in _date().findall(sentence))}
    names, symbols = _names(sentence)
    weight = _WORTH[kind] + _for_several(len(numbers | codes)) + _for_several(len(names))
    weight += _IN_PASSING * (bool(in_passing) + bool(symbols))
    weight += _NAMED * _has_cue(PointKind.FACT, sentence, is_chinese)
    if kind is not PointKind.FACT and not (numbers or codes or names):
        weight += _VAGUE
    if _is_hypothetical(sentence, is_chinese):
        weight += _HYPOTHETICAL
    if _QUESTION.search(sentence):
        weight += _ASKED
    found = chain(numbers, in_passing, codes, names, symbols)
    return Salience(kind=kind, weight=weight, specifics=frozenset(found))


def is_fragment(sentence: str) -> bool:
    """Return whether it is a label rather than a sentence."""
    if any(letter.isdigit() for letter in sentence):
        return False
    han = len(_ANY_HAN.findall(sentence))
    return han < _MIN_CHINESE_CHARACTERS if han else len(sentence.split()) < _MIN_ENGLISH_WORDS


def gives_advice(sentence: str) -> bool:
    """Return whether an assistant gives general advice, without a date."""
    language = "zh" if _ANY_HAN.search(sentence) else "en"
    pattern = lexicon(language, "salience").regex("advice", re.IGNORECASE)
    return pattern.search(sentence) is not None and not _date().search(sentence)


def describes_own_work(sentence: str) -> bool:
    """Return whether an assistant says what it is doing, naming nobody and no date."""
    told = _lead_in().sub("", sentence, count=1)
    if not _own_work().match(told) or _date().search(sentence):
        return False
    return not _names(sentence)[0]


def compact(sentence: str, longest: int) -> str:
    """Return the sentence without lead-in words and, if it is long, without empty clauses."""
    told = sentence.strip()
    while (lead_in := _lead_in().match(told)) and lead_in.end() < len(told):
        told = told[lead_in.end() :]
    told = told.rstrip("。.；;，, ")
    if len(told) > longest // 2:
        told = _telling_clauses(told)
    return told if len(told) <= longest else told[: longest - 1].rstrip() + "…"


def specifics(text: str) -> frozenset[str]:
    """Return the numbers, codes and names of a text, in the form in which they are compared."""
    found = (salience(sentence).specifics for sentence in sentences(text))
    return frozenset(chain.from_iterable(found))


def _kind(sentence: str, is_chinese: bool) -> PointKind:
    """Return the kind with the most cues; a plain statement is a fact."""
    cues = _cues(is_chinese)
    found = {kind: sum(bool(cue.search(sentence)) for cue in cues[kind]) for kind in _KINDS}
    for certain in (PointKind.CORRECTION, PointKind.QUESTION):
        if found[certain]:
            return certain
    best = max(_KINDS, key=lambda kind: found[kind])
    return best if found[best] else PointKind.FACT


def _has_cue(kind: PointKind, sentence: str, is_chinese: bool) -> bool:
    return any(cue.search(sentence) for cue in _cues(is_chinese)[kind])


@cache
def _cues(is_chinese: bool) -> Mapping[PointKind, Sequence[re.Pattern[str]]]:
    words = lexicon("zh" if is_chinese else "en", "salience")
    before, after = ("", "") if is_chinese else (r"(?<![\w'])", r"(?!\w)")
    cues: dict[PointKind, list[re.Pattern[str]]] = {}
    for rule in words.rules():
        pattern = f"{before}{words.either(rule['pattern'])}{after}"
        cues.setdefault(PointKind(rule["name"]), []).append(re.compile(pattern, re.IGNORECASE))
    return cues


def _numbers(sentence: str) -> tuple[set[str], set[str]]:
    """Return the numbers that measure or count something, and separately all others."""
    measured: set[str] = set()
    others: set[str] = set()
    for match in _number().finditer(sentence):
        digits = match["digits"].replace(",", "").rstrip(".")
        if match["money"] or match["unit"] or "." in digits or len(digits) >= _MIN_LONG_DIGITS:
            measured.add(digits)
        else:
            others.add(digits)
    return measured, others


def _names(sentence: str) -> tuple[set[str], set[str]]:
    """Return names of people and things, and separately names in code and of files."""
    found = entities(sentence)
    symbols = {name for name in found if "_" in name or re.search(r"\w\.\w", name)}
    return set(found) - symbols, symbols


def _for_several(number: int) -> float:
    """Return the worth of several numbers or names; the first counts most."""
    if not number:
        return 0.0
    return min(_MAX_WORTH, _FIRST_WORTH + _FURTHER_WORTH * (number - 1))


def _is_hypothetical(sentence: str, is_chinese: bool) -> bool:
    if is_chinese:
        return lexicon("zh", "salience").regex("hypothetical").search(sentence) is not None
    return _english_hypothetical().search(sentence) is not None


def _telling_clauses(sentence: str) -> str:
    """Return the clauses that have a cue, a number or a name; all if none has."""
    clauses = [clause.strip() for clause in _CLAUSE_END.split(sentence)]
    telling = [clause for clause in clauses if clause and _tells(clause)]
    if not telling or len(telling) == len(clauses):
        return sentence
    joint = "" if _ANY_HAN.search(sentence) else " "
    return joint.join(telling).rstrip("，、；：,;: ")


def _tells(clause: str) -> bool:
    judged = salience(clause)
    return judged.kind is not PointKind.FACT or bool(judged.specifics)


# --- Patterns ------------------------------------------------------------------------------------


@cache
def _number() -> re.Pattern[str]:
    return re.compile(
        r"(?P<money>[$€£¥￥])?(?<![A-Za-z0-9_.-])(?P<digits>\d[\d,]*(?:\.\d+)?)"
        rf"\s?(?P<unit>(?i:{both('salience', 'unit')}))?"
    )


def _date() -> re.Pattern[str]:
    return bilingual("salience", "date", re.IGNORECASE)


@cache
def _english_hypothetical() -> re.Pattern[str]:
    pattern = lexicon("en", "salience").pattern("hypothetical")
    return re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE)


@cache
def _lead_in() -> re.Pattern[str]:
    english, chinese = lexicon("en", "salience"), lexicon("zh", "salience")
    return re.compile(
        rf"{english.pattern('lead_in')}[,.:!]\s*|{english.pattern('joining')},?\s+(?=\S+ \S)"
        rf"|{chinese.pattern('lead_in')}[，,。！：:]\s*",
        re.IGNORECASE,
    )


@cache
def _own_work() -> re.Pattern[str]:
    english, chinese = lexicon("en", "salience"), lexicon("zh", "salience")
    return re.compile(
        rf"{english.pattern('own_work')}\b|{chinese.pattern('own_work')}", re.IGNORECASE
    )


# --- Summaries without a model: the most valuable sentences, shortened, within a size -------------

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
# The kinds of points of which a summary has some, if there are any.
_KEPT: Final = (
    *(PointKind.DECISION, PointKind.TODO, PointKind.AGREEMENT, PointKind.CORRECTION),
    *(PointKind.QUESTION, PointKind.FACT),
)
_ECHO: Final = 0.85
# So much in common, a correction and what it corrects are about the same.
_ABOUT: Final = 0.6
# Said so often with other numbers, something is told once with how often.
_OFTEN: Final = 4
_TIMES: Final = re.compile(r" × (\d+)$")
# The part of the room that is shared out among the kinds of points.
_SHARED: Final = 0.15
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

    They come in their original order. Each kind has a share of the room. What is said in the same
    words as something chosen already, with only another name or number, counts for less each time,
    and what a later point corrects is left out.
    """
    given = _counted(_standing(points))
    costs = [cost(point.text) for point in given]
    values = [
        (point.weight + _RARITY * (2 * rarity.of(point.text) - 1)) / (_FREE_LENGTH + cost)
        for point, cost in zip(given, costs, strict=True)
    ]
    said = [_Saying.of(point.text) for point in given]
    waiting = {index for index, value in enumerate(values) if value > 0}
    chosen: list[int] = []

    def choose(among: set[int], limit: int) -> int:
        """Choose the best of these as far as the limit goes; return what is left of it."""
        while among:
            best = max(among, key=lambda index: (values[index], -index))
            among.remove(best)
            waiting.discard(best)
            if costs[best] > limit:
                continue
            limit -= costs[best]
            chosen.append(best)
            for other in tuple(waiting):
                if said[best].covers(said[other]):
                    waiting.remove(other)
                    among.discard(other)
                elif said[best].sounds_like(said[other]):
                    values[other] *= _ECHO
        return limit

    kinds = [kind for kind in _KEPT if any(given[index].kind is kind for index in waiting)]
    share = int(_SHARED * room / max(1, len(kinds)))
    for kind in kinds:
        of_kind = {index for index in waiting if given[index].kind is kind}
        # The best of each kind, even if it is longer than its share.
        best = max(of_kind, key=lambda index: (values[index], -index), default=None)
        limit = min(room, max(share, 0 if best is None else costs[best]))
        room += choose(set(of_kind), limit) - limit
        waiting |= of_kind - set(chosen) - _covered(of_kind, chosen, said)
    choose(waiting, room)
    return tuple(given[index] for index in sorted(chosen))


def _covered(among: set[int], chosen: Sequence[int], said: Sequence[_Saying]) -> set[int]:
    """Return those that a chosen one says nearly all of."""
    return {index for index in among if any(said[it].covers(said[index]) for it in chosen)}


def _standing(points: Iterable[Point]) -> list[Point]:
    """Return the points without those that a later one corrects."""
    given = list(points)
    corrections = [
        (_place(place, point), _Saying.of(point.text))
        for place, point in enumerate(given)
        if point.kind is PointKind.CORRECTION
    ]
    if not corrections:
        return given
    return [
        point
        for place, point in enumerate(given)
        if not any(
            _place(place, point) < later and said.corrects(_Saying.of(point.text))
            for later, said in corrections
        )
    ]


def _counted(points: Sequence[Point]) -> list[Point]:
    """Return the points with facts that differ only in numbers told by the first and the last."""
    alike: dict[frozenset[str], list[Point]] = {}
    # Decisions and tasks that are worded alike are several nevertheless.
    for point in (point for point in points if point.kind is PointKind.FACT):
        alike.setdefault(plain_terms(point.text), []).append(point)
    kept: dict[int, Point] = {id(point): point for point in points}
    for words, same in alike.items():
        if len({point.text for point in same}) < _OFTEN or not words:
            continue
        counts = [_TIMES.search(point.text) for point in same]
        number = sum(int(count[1]) if count else 1 for count in counts[:-1])
        first = _TIMES.sub("", same[0].text)
        kept[id(same[0])] = replace(same[0], text=f"{first} × {number}")
        for point in same[1:-1]:
            del kept[id(point)]
    return list(kept.values())


def _place(place: int, point: Point) -> tuple[int, int]:
    return (place if point.position is None else point.position, place)


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

    def corrects(self, other: _Saying) -> bool:
        """Return whether the other is about the same, and says it with other numbers or names."""
        shared = len(self.words & other.words)
        smaller = min(len(self.words), len(other.words))
        if shared and other.specifics and other.specifics < self.specifics:
            # It names what was said before beside what is right.
            return True
        return shared >= max(2, _ABOUT * smaller) and self.specifics != other.specifics

    def sounds_like(self, other: _Saying) -> bool:
        shared = len(self.words & other.words)
        return shared >= _SIMILAR * len(self.words | other.words)
