"""The lines of any text: what signals something, what is rare, what comes first and last.

Lines that differ only in numbers count as one kind; a kind is judged once, however often it comes.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from functools import cache
from statistics import median
from typing import Final

from recollect.language.analysis import query_terms
from recollect.language.characters import HAN
from recollect.language.digest.findings import Finding
from recollect.language.lexicon import lexicon
from recollect.language.summary import is_fragment, salience

# Many times faster than deleting them one by one.
_NUMBERS: Final = re.compile(r"[0-9]+")
_HEX: Final = re.compile(r"\b[0-9a-f][0-9a-f-]{7,}\b|\b[A-Za-z0-9+/_]{32,}")
_KEY_CHARS: Final = 300
_MAX_KINDS: Final = 10_000
_WORD: Final = re.compile(rf"[^\W\d_]{{2,}}(?<![{HAN}])|[{HAN}]+")
_PLAIN_WORD: Final = re.compile(r"[a-z][a-z'-]*[a-z]")
_AS_SPACES: Final = str.maketrans(
    {chr(code): " " for code in range(128) if not (chr(code).islower() or chr(code) in "'-")}
)
_HAN_RUN: Final = re.compile(f"[{HAN}]")
# Of the lines that signal nothing so many, the newest, are kept when there are too many.
_KEPT_PLAIN: Final = 2_000
# The share of the words of a line that may be values, such as names of users.
_MAX_VALUES: Final = 0.34
# Of so many kinds, chosen by what is quickly seen, the sentences are weighed.
_FINALISTS: Final = 120
_FAILURE: Final = 3.0
_WARNING: Final = 1.6
_NOTE: Final = 1.4
_RESULT: Final = 1.0
_NUMBER: Final = 0.5
_FIRST: Final = 1.0
_LAST: Final = 1.2
_RARE: Final = 4.0
_ASKED: Final = 3.0
_ASKED_PROSE: Final = 4.0
_OPENING: Final = 1.0
# What counts of the closeness of the heading, or of a sentence so near.
_IN_CONTEXT: Final = 0.5
_AROUND: Final = 2
_PLAIN: Final = 0.3
# From so many lines on it tells something that a line is rare.
_MIN_LINES: Final = 20
# What frequent repetition by itself is worth telling, at most.
_REPEATED: Final = 1.5
_MIN_LETTERS: Final = 4
_LETTERS: Final = re.compile(rf"[A-Za-z{HAN}]")
_DIGITS: Final = re.compile(r"\d")
_LABEL: Final = re.compile(r"[^\s\d]{1,20}(?: [^\s\d]{1,20}){0,2}:|:::.*")
# What a line is worth beside what the reader of the shape tells; to fill what is left.
_BESIDE: Final = 0.6
_LEFT_OVER: Final = 0.1
# So few lines of a table that are no rows say something else.
_FEW: Final = 0.05
_SPOKEN: Final = 0.8
# What is written exactly: settings, options, paths, versions, measures.
_NAMED: Final = re.compile(
    r"[A-Z][A-Z0-9]{0,60}_[A-Z0-9_]+|(?<![\w/])/[\w.-]+/[\w./-]+|(?<!\S)--?[a-z][\w-]+|\b\w+_\w+\b|"
    r"\b\d+(?:\.\d+)+\+?|[€$£¥]\d|"
    rf"\d[\d,.]{{0,30}}\s?(?:%|[€$£¥]|[A-Za-z]{{1,12}}\b|[{HAN}])"
)
# Marks that are repeated to fill a line.
_RULE: Final = re.compile(r"([^\w\s])\1{3,}")
# Several counts beside each other are a total: "2 added, 9 changed".
_COUNTED: Final = re.compile(
    r"\d ?[^\W\d]{1,20}(?: [^\W\d]{1,20}){0,2} ?[,;|，；、] ?[^\W\d]{0,10} ?\d+ ?[^\W\d]"
)
_TOTALS: Final = 1.5
_EXACT: Final = 0.7
_MAX_EXACT: Final = 2.1
_FRAGMENT: Final = 2.5
_A_FEW: Final = 2


class Kind:
    """A line and those like it."""

    __slots__ = ("_signal", "count", "first", "first_line", "last", "last_line", "shown")

    def __init__(self, text: str, line: int, shown: str, signal: str) -> None:
        self.first = text
        self.first_line = self.last_line = line
        # What is quoted: the line, perhaps without its time.
        self.shown = self.last = shown
        self.count = 1
        self._signal = signal

    @property
    def signal(self) -> str:
        """Return what the line signals, which is found out when it is needed."""
        self._signal = self._signal or signal_of(self.first)
        return self._signal


class Lines:
    """Reads every line of a text, in bounded memory.

    Of more kinds than fit, those seen once that signal nothing are dropped, the oldest first.
    """

    def __init__(self, query: str) -> None:
        self._kinds: dict[str, Kind] = {}
        self._asked = frozenset(query_terms(query)) if query else frozenset[str]()
        self.number = 0
        # Where each part begins, and its heading.
        self.parts: list[tuple[int, str]] = []

    def read(self, text: str, number: int, shown: str = "", signal: str = "") -> Kind:
        """Read a line or a sentence, perhaps with what it signals, and return its kind."""
        self.number = number
        key = _NUMBERS.sub("", text[:_KEY_CHARS])
        kind = self._kinds.get(key)
        if kind is None:
            coarse = key
            if len(key) < min(len(text), _KEY_CHARS):
                coarse = _NUMBERS.sub("", _HEX.sub("", text[:_KEY_CHARS]))
                kind = self._kinds.get(coarse)
            if kind is None:
                if len(self._kinds) >= _MAX_KINDS:
                    self._make_room()
                kind = self._kinds[coarse] = Kind(text, number, shown or text, signal)
                return kind
        kind.count += 1
        kind.last_line = number
        kind.last = shown or text
        return kind

    def findings(
        self, *, is_beside: bool = False, signals: Set[str] = frozenset(), is_spoken: bool = False
    ) -> Iterator[Finding]:
        """Yield the lines that are worth quoting.

        Beside what a reader of the shape tells, they fill what is left, those with one of these
        signals first; in what people say and write, decisions, tasks and the like weigh more.
        """
        kinds = [*self._kinds.values()]
        words = [_words(kind.first) for kind in kinds]
        frequency: Counter[str] = Counter()
        for kind, found in zip(kinds, words, strict=True):
            for word in found:
                frequency[word] += kind.count
        kinds, words = _merged(kinds, words, frequency)
        total = sum(kind.count for kind in kinds)
        is_few = total <= _FEW * self.number
        rarities = [_rarity(found, frequency, total) for found in words]
        usual = sum(rare * kind.count for rare, kind in zip(rarities, kinds, strict=True))
        usual /= max(1, total)
        near = self._closeness(kinds, is_spoken=is_spoken)
        opening = self._openings(kinds)
        quick: list[tuple[float, str, Kind]] = []
        for kind, rarity, close in zip(kinds, rarities, near, strict=True):
            signal = kind.signal
            if self.parts and signal in ("failure", "warning"):
                # A document tells of errors that may happen, not of one that did.
                signal = "note"
            worth = self._quick_worth(kind, signal)
            if worth > 0:
                worth += _OPENING * (id(kind) in opening)
                # In a text where every line is new, that tells nothing.
                worth += _RARE * max(0.0, rarity - usual) / (1.01 - usual)
                quick.append(
                    (worth + (_ASKED_PROSE if is_spoken else _ASKED) * close, signal, kind)
                )
        quick.sort(key=lambda rated: -rated[0])
        for weight, signal, kind in quick[:_FINALISTS]:
            if is_spoken:
                weight += _spoken_worth(kind.first)
            if is_beside:
                weight *= _BESIDE if signal in signals or is_few else _LEFT_OVER
            said = without_rules(kind.shown)
            if 2 * kind.count > self.number and kind.count > _A_FEW:
                # What most of a text is made of: its first line alone would be taken for all.
                ends = said, without_rules(kind.last)
                said = " … ".join(dict.fromkeys(ends))
            yield Finding(
                text=said,
                weight=weight,
                line=kind.first_line,
                count=kind.count,
                kind=signal,
            )

    def _openings(self, kinds: Sequence[Kind]) -> set[int]:
        """Return the first sentence of each part, which says what the part is about."""
        begins = [line for line, _ in self.parts]
        first: dict[int, int] = {}
        for kind in kinds:
            first.setdefault(bisect_right(begins, kind.first_line), id(kind))
        return set(first.values()) if begins else set()

    def _quick_worth(self, kind: Kind, signal: str) -> float:
        text = without_rules(kind.first[:_KEY_CHARS])
        letters = len(_LETTERS.findall(text))
        spoken = letters + len(_DIGITS.findall(text))
        # Rules, brackets and labels say nothing.
        if letters < _MIN_LETTERS or spoken < 0.3 * len(text) or _LABEL.fullmatch(text):
            return -1.0
        worth = _SIGNAL_WORTH.get(signal, _PLAIN)
        worth += _TOTALS * (kind.count == 1 and _COUNTED.search(text) is not None)
        worth += _NUMBER * (_DIGITS.search(text) is not None)
        if kind.count == 1:
            worth += _FIRST * (kind.first_line <= 2) + _LAST * (kind.last_line >= self.number - 2)
        if kind.count > 2 and signal in ("failure", "warning"):
            worth += min(_REPEATED, 0.3 * math.log(kind.count))
        return worth

    def _closeness(self, kinds: Sequence[Kind], *, is_spoken: bool) -> list[float]:
        """Return how much of what was asked each line says, from 0 to 1.

        A word counts the more the fewer lines have it. What stands in a part or beside a sentence
        about the question is likely to belong to its answer.
        """
        if not self._asked:
            return [0.0] * len(kinds)
        texts = [kind.first[:_KEY_CHARS].casefold() for kind in kinds]
        matched = [frozenset(filter(text.__contains__, self._asked)) for text in texts]
        frequency = Counter(word for found in matched for word in found)
        worth = {word: math.log(1 + len(kinds) / (1 + frequency[word])) for word in self._asked}
        whole = sum(worth.values())
        if not whole:
            return [0.0] * len(kinds)

        def share(words: Set[str]) -> float:
            return sum(map(worth.__getitem__, words)) / whole

        own = [share(found) for found in matched]
        if not is_spoken:
            return own
        heads = [
            (line, share({word for word in self._asked if word in heading.casefold()}))
            for line, heading in self.parts
        ]
        begins = [line for line, _ in heads]
        near: list[float] = []
        for place, kind in enumerate(kinds):
            part = bisect_right(begins, kind.first_line)
            around = own[max(0, place - _AROUND) : place + _AROUND + 1]
            context = max(heads[part - 1][1] if part else 0.0, max(around))
            near.append(own[place] + _IN_CONTEXT * context)
        return near

    def _make_room(self) -> None:
        """Drop what was seen once and signals nothing, then what was seen first."""
        plain = [
            key
            for key, kind in self._kinds.items()
            if kind.count == 1 and kind.signal in ("plain", "result")
        ]
        for key in plain[: max(0, len(plain) - _KEPT_PLAIN)]:
            del self._kinds[key]
        for key in [*self._kinds][: max(0, len(self._kinds) - _MAX_KINDS // 2)]:
            del self._kinds[key]


_SIGNAL_WORTH: Final = {
    "failure": _FAILURE,
    "warning": _WARNING,
    "note": _NOTE,
    "result": _RESULT,
}


def _spoken_worth(sentence: str) -> float:
    """Return what a sentence is worth as something that people say or write."""
    worth = _SPOKEN * max(-1.0, salience(sentence).weight)
    worth += min(_MAX_EXACT, _EXACT * len(set(_NAMED.findall(sentence))))
    return worth - (_FRAGMENT if is_fragment(sentence) and not _NAMED.search(sentence) else 0.0)


def without_rules(text: str) -> str:
    """Return a line without the dots and dashes that only fill it."""
    return _RULE.sub(r"\1", text)


def signal_of(text: str) -> str:
    """Return the strongest signal of a line: failure, warning, note, result or plain."""
    lowered = text[:_KEY_CHARS].lower()
    is_ascii = lowered.isascii()
    words = set(lowered.translate(_AS_SPACES).split() if is_ascii else _PLAIN_WORD.findall(lowered))
    every, any_part = _english_signs()
    if is_ascii and words.isdisjoint(every) and not any(map(lowered.__contains__, any_part)):
        return "plain"
    for name, singles, anywhere, chinese in _signals():
        if not words.isdisjoint(singles) or any(map(lowered.__contains__, anywhere)):
            return name
        if not is_ascii and any(map(lowered.__contains__, chinese)):
            return name
    return "plain"


@cache
def _english_signs() -> tuple[Set[str], Sequence[str]]:
    """Return every English word and part of a line that is a signal, whichever it is."""
    singles = frozenset(word for _, words, _, _ in _signals() for word in words)
    return singles, [part for _, _, parts, _ in _signals() for part in parts]


@cache
def _signals() -> tuple[tuple[str, Set[str], Set[str], Set[str]], ...]:
    english, chinese = lexicon("en", "digest"), lexicon("zh", "digest")
    return tuple(
        (name, english.words(name), english.words(anywhere), chinese.words(name))
        for name, anywhere in (
            ("failure", "failure_anywhere"),
            ("warning", "warning_anywhere"),
            ("note", "note_anywhere"),
            ("result", "result_anywhere"),
        )
    )


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a line without numbers, in order; of Chinese every two characters."""
    found: list[str] = []
    for word in _WORD.findall(text[:_KEY_CHARS]):
        if _HAN_RUN.match(word):
            found += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        else:
            found.append(word)
    return tuple(found)


def _merged(
    kinds: Sequence[Kind], words: Sequence[tuple[str, ...]], frequency: Counter[str]
) -> tuple[list[Kind], list[tuple[str, ...]]]:
    """Return the kinds with those joined that differ only in values, such as names of users.

    A value is a word that is much rarer than the others of its line.
    """
    by_form: dict[tuple[str, ...], int] = {}
    merged: list[Kind] = []
    kept: list[tuple[str, ...]] = []
    for kind, found in zip(kinds, words, strict=True):
        usual = median(map(frequency.__getitem__, found)) / 2 if len(found) > 3 else 0
        form = tuple("*" if frequency[word] < usual else word for word in found)
        values = form.count("*")
        place = by_form.get(form) if found and 0 < values <= _MAX_VALUES * len(form) else None
        if place is not None:
            other = merged[place]
            other.count += kind.count
            other.last_line = max(other.last_line, kind.last_line)
            continue
        if found:
            by_form.setdefault(form, len(merged))
        merged.append(kind)
        kept.append(found)
    return merged, kept


def _rarity(words: tuple[str, ...], frequency: Counter[str], total: int) -> float:
    """Return how rare the words of a line are in the text, from 0 to 1."""
    different = set(words)
    if total < _MIN_LINES or not different:
        return 0.0
    most = math.log(total + 1)
    return sum(
        math.log((total + 1) / (min(total, frequency[word]) + 0.0)) for word in different
    ) / (len(different) * most)
