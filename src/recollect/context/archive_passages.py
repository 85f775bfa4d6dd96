"""The passages of a long text that a question is about, within a budget of tokens.

The text is narrowed down in two steps with one measure (BM25 over the question's terms, counted as
substrings): from slabs to passages. Nothing is analysed, so 50,000 characters take a few
milliseconds and 100 MB a few seconds.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from recollect.ports.tokens import TokenCounter
from recollect.text.analysis import query_terms
from recollect.text.folding import fold
from recollect.text.language import script_share
from recollect.text.passages import PASSAGE_SIZE
from recollect.text.scripts import SPACELESS

Span = tuple[int, int]

_SLAB: Final = 20_000
_MOST_SLABS: Final = 20
_MOST_NEEDLES: Final = 32
_K1: Final = 1.2
_B: Final = 0.75
# Passages far weaker than the best one would only fill the budget.
_WORTH: Final = 0.25
# From here on a text counts as one of those whose characters say as much as words.
_WIDE_SHARE: Final = 0.2
_WIDE: Final = 3
_BREAKS: Final = ("\n\n", "\n", "。", ". ", "; ", " ")
_RUN: Final = re.compile(f"[{SPACELESS}]{{2,}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Chosen parts of a text in its order, and how many characters it has in all."""

    spans: tuple[Span, ...]
    of: int
    fits: bool = True
    """Whether they have words of the question; otherwise they are how the text begins."""

    def render(self, text: str) -> str:
        """The parts, each under the characters it was taken from, as `range` takes them."""
        return "\n".join(f"[chars {start}-{end}]\n{text[start:end]}" for start, end in self.spans)


class Needles:
    """Words to be found in texts as they are written."""

    def __init__(self, terms: Sequence[str]) -> None:
        self._terms = tuple(dict.fromkeys(terms))[:_MOST_NEEDLES]

    @classmethod
    def of(cls, query: str) -> Needles:
        """The terms of a question."""
        terms = [_beginning(term) for term in query_terms(query)]
        # One character of a Chinese word says little beside the whole word.
        terms = [it for it in terms if len(it) > 1] or terms
        # Traditional characters are looked for as they were asked for and as simplified ones.
        terms += [pair for run in _RUN.findall(query) for pair in map("".join, pairwise(run))]
        return cls(terms)

    def scores(self, texts: Sequence[str]) -> list[float]:
        """How well each text fits among the others; 0 without any of the terms."""
        average = sum(map(len, texts)) / max(len(texts), 1) or 1
        scores = [0.0] * len(texts)
        for counts in self.counts(texts):
            worth = math.log(1 + (len(texts) - len(counts) + 0.5) / (len(counts) + 0.5))
            for index, count in counts.items():
                damping = _K1 * (1 - _B + _B * len(texts[index]) / average)
                scores[index] += worth * count / (count + damping)
        return scores

    def counts(self, texts: Sequence[str]) -> Iterator[dict[int, int]]:
        """For each term the places of the texts that have it, and how often they do."""
        # One search through all of them: counting in each is several times slower.
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


def select_passages(text: str, query: str, tokens: TokenCounter, budget: int) -> Selection:
    """The passages that fit the question best; the beginning when none does."""
    ranked = _ranked(text, Needles.of(query)) or _ranked_folded(text, query)
    chosen: list[Span] = []
    left = budget
    for start, end in ranked or _beginning_of(text):
        cost = tokens.count(text[start:end])
        if cost <= left:
            chosen.append((start, end))
            left -= cost
        elif not chosen:
            # Not even one fits: as much of it as there is room for.
            chosen.append((start, start + (end - start) * left // cost))
            break
    return Selection(spans=_joined(chosen), of=len(text), fits=bool(ranked))


def _ranked(text: str, needles: Needles) -> list[Span]:
    """The passages that have any of the terms and are worth showing, best first."""
    slabs = _cut(text, 0, len(text), _SLAB)
    if len(slabs) > _MOST_SLABS:
        slabs = _best(text, slabs, needles)[:_MOST_SLABS]
    size = passage_size(text)
    return _best(text, [it for slab in slabs for it in _cut(text, *slab, size)], needles)


def _ranked_folded(text: str, query: str) -> list[Span]:
    """The same over the plain spelling of a text, when it is short and written in another one."""
    beginning = text[: _SLAB * _MOST_SLABS]
    folded = fold(beginning)
    # Positions must stay what they are.
    if folded == beginning or len(folded) != len(beginning):
        return []
    return _ranked(folded, Needles.of(fold(query)))


def _best(text: str, spans: Sequence[Span], needles: Needles) -> list[Span]:
    scores = needles.scores([text[start:end] for start, end in spans])
    least = _WORTH * max(scores, default=0.0)
    good = [index for index, score in enumerate(scores) if score > 0 and score >= least]
    good.sort(key=lambda index: (-scores[index], index))
    return [spans[index] for index in good]


def _beginning_of(text: str) -> list[Span]:
    size = passage_size(text)
    return _cut(text, 0, min(len(text), 4 * size), size)


def passage_size(text: str) -> int:
    """How many characters make a passage of this text."""
    return PASSAGE_SIZE // _WIDE if script_share(text) >= _WIDE_SHARE else PASSAGE_SIZE


def _cut(text: str, start: int, end: int, size: int) -> list[Span]:
    """Pieces of at most `size`, cut behind a paragraph, line, sentence or word where there is one.

    `text.passages` cuts better, and by measurement several hundred times slower.
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


def _joined(spans: Sequence[Span]) -> tuple[Span, ...]:
    """In the order of the text, neighbours made one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(joined)


def _beginning(term: str) -> str:
    """The letters that all forms of a word begin with: `polici` is the stem of policy."""
    is_changed = len(term) > 3 and term.isascii() and term.endswith("i")
    return term[:-1] if is_changed else term
