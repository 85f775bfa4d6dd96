"""Selection of the passages of a long text that match a query, within a token budget.

The text is narrowed down in two steps, from slabs to passages, with BM25 over the query's terms
counted as substrings. Nothing is analysed, so 50,000 characters take a few milliseconds and 100 MB
a few seconds.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from recollect.language.analysis import query_terms
from recollect.language.characters import SPACELESS, fold, script_share
from recollect.language.sentences import PASSAGE_SIZE
from recollect.ports.language_model import TokenCounter

Span = tuple[int, int]

_SLAB_CHARS: Final = 20_000
_MAX_SLABS: Final = 20
_MAX_NEEDLES: Final = 32
# The lines before and after one that a digest points at.
_NEAR_LINES: Final = 2
_K1: Final = 1.2
_B: Final = 0.75
# Passages far weaker than the best one would only fill the budget.
_MIN_RELATIVE_SCORE: Final = 0.25
# The share of characters without spaces between words (such as Chinese) of a "wide" text, whose
# characters say this many times as much.
_WIDE_SHARE: Final = 0.2
_WIDE_FACTOR: Final = 3
_BREAKS: Final = ("\n\n", "\n", "。", ". ", "; ", " ")
_RUN: Final = re.compile(f"[{SPACELESS}]{{2,}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Selected parts of a text in order, and its total length in characters."""

    spans: tuple[Span, ...]
    of: int
    fits: bool = True
    """Whether they contain terms of the query; otherwise they are the beginning of the text."""

    def render(self, text: str) -> str:
        """Return the parts, each under its character range as `range` takes it."""
        return "\n".join(f"[chars {start}-{end}]\n{text[start:end]}" for start, end in self.spans)


class Needles:
    """Terms to be found in texts as they are written."""

    def __init__(self, terms: Sequence[str]) -> None:
        self._terms = tuple(dict.fromkeys(terms))[:_MAX_NEEDLES]

    @classmethod
    def of(cls, query: str) -> Needles:
        """Return the terms of a query."""
        terms = [_beginning(term) for term in query_terms(query)]
        # A single character of a Chinese word says little beside the whole word.
        terms = [term for term in terms if len(term) > 1] or terms
        # Traditional characters are searched both as written and in simplified form.
        terms += [pair for run in _RUN.findall(query) for pair in map("".join, pairwise(run))]
        return cls(terms)

    def scores(self, texts: Sequence[str]) -> list[float]:
        """Return how well each text matches, relative to the others; 0 without any term."""
        average = sum(map(len, texts)) / max(len(texts), 1) or 1
        scores = [0.0] * len(texts)
        for counts in self.counts(texts):
            worth = math.log(1 + (len(texts) - len(counts) + 0.5) / (len(counts) + 0.5))
            for index, count in counts.items():
                damping = _K1 * (1 - _B + _B * len(texts[index]) / average)
                scores[index] += worth * count / (count + damping)
        return scores

    def counts(self, texts: Sequence[str]) -> Iterator[dict[int, int]]:
        """Return for each term the texts that contain it, with counts."""
        # One search through all texts: counting in each is several times slower.
        lowered = [text.lower() for text in texts]
        joined = "\n".join(lowered)
        starts = list(accumulate((len(text) + 1 for text in lowered), initial=0))
        for term in self._terms:
            counts: dict[int, int] = {}
            at = joined.find(term)
            while at >= 0:
                index = bisect_right(starts, at) - 1
                counts[index] = counts.get(index, 0) + 1
                at = joined.find(term, at + len(term))
            yield counts


def select_passages(
    text: str, query: str, tokens: TokenCounter, budget: int, *, lines: Sequence[int] = ()
) -> Selection:
    """Return the passages that match the query best, or the beginning if none does.

    Half of the budget goes to these lines and what stands around them, as far as they need it.
    """
    pointed = list(_around(text, lines))
    chosen, left = _within(text, pointed, tokens, budget // 2)
    ranked = _rank(text, Needles.of(query)) or _rank_folded(text, query)
    left += budget - budget // 2
    others = ranked or ([] if chosen else _beginning_of(text))
    more, _ = _within(text, others, tokens, left, cut=not chosen)
    return Selection(spans=_join([*chosen, *more]), of=len(text), fits=bool(ranked or chosen))


def _within(
    text: str, spans: Iterable[Span], tokens: TokenCounter, left: int, *, cut: bool = False
) -> tuple[list[Span], int]:
    """Return the spans that fit, and what is left; the first is cut if not even one fits."""
    chosen: list[Span] = []
    for start, end in spans:
        cost = tokens.count(text[start:end])
        if cost <= left:
            chosen.append((start, end))
            left -= cost
        elif cut and not chosen:
            return [(start, start + (end - start) * left // cost)], 0
    return chosen, left


def _around(text: str, lines: Sequence[int]) -> Iterator[Span]:
    """Yield these lines with their neighbours, in the order given."""
    if not lines:
        return
    wanted = {near for line in lines for near in range(line - _NEAR_LINES, line + _NEAR_LINES + 2)}
    starts: dict[int, int] = {}
    at = 0
    for number in range(1, max(wanted) + 1):
        if number in wanted:
            starts[number] = at
        found = text.find("\n", at)
        if found < 0:
            starts[number + 1] = len(text)
            break
        at = found + 1
    for line in lines:
        first = max(1, line - _NEAR_LINES)
        if first in starts:
            end = starts.get(line + _NEAR_LINES + 1, len(text))
            yield starts[first], min(end, starts[first] + PASSAGE_SIZE)


def _rank(text: str, needles: Needles) -> list[Span]:
    """Return the passages that contain terms and are worth showing, best first."""
    slabs = _cut(text, 0, len(text), _SLAB_CHARS)
    if len(slabs) > _MAX_SLABS:
        slabs = _best(text, slabs, needles)[:_MAX_SLABS]
    size = passage_size(text)
    return _best(text, [span for slab in slabs for span in _cut(text, *slab, size)], needles)


def _rank_folded(text: str, query: str) -> list[Span]:
    """Rank passages by the folded spelling of a text, as far as its positions stay valid."""
    beginning = text[: _SLAB_CHARS * _MAX_SLABS]
    folded = fold(beginning)
    # Folding must not move positions.
    if folded == beginning or len(folded) != len(beginning):
        return []
    return _rank(folded, Needles.of(fold(query)))


def _best(text: str, spans: Sequence[Span], needles: Needles) -> list[Span]:
    scores = needles.scores([text[start:end] for start, end in spans])
    least = _MIN_RELATIVE_SCORE * max(scores, default=0.0)
    good = [index for index, score in enumerate(scores) if score > 0 and score >= least]
    good.sort(key=lambda index: (-scores[index], index))
    return [spans[index] for index in good]


def _beginning_of(text: str) -> list[Span]:
    size = passage_size(text)
    return _cut(text, 0, min(len(text), 4 * size), size)


def passage_size(text: str) -> int:
    """Return the number of characters in a passage of this text."""
    return PASSAGE_SIZE // _WIDE_FACTOR if script_share(text) >= _WIDE_SHARE else PASSAGE_SIZE


def _cut(text: str, start: int, end: int, size: int) -> list[Span]:
    """Split into pieces of at most `size`, after a paragraph, line, sentence or word if possible.

    `language.passages` splits better but, as measured, several hundred times slower.
    """
    spans: list[Span] = []
    while end - start > size:
        stop = start + size
        for mark in _BREAKS:
            at = text.rfind(mark, start + size // 2, stop)
            if at >= 0:
                stop = at + len(mark)
                break
        spans.append((start, stop))
        start = stop
    return [*spans, (start, end)]


def _join(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return the spans in text order, with adjacent and overlapping ones joined."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _beginning(term: str) -> str:
    """Return the common prefix of a word's forms: `polici` is the stem of policy."""
    is_changed = len(term) > 3 and term.isascii() and term.endswith("i")
    return term[:-1] if is_changed else term
