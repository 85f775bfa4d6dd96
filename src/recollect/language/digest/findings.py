"""What a digest may say, and which of it fits into a budget."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from recollect.language.characters import one_line

# The parts of a text that each get a share.
_REGIONS: Final = 6
# What another finding of the same kind, or from the same part of the text, is still worth.
_SAME_KIND: Final = 0.92
_SAME_REGION: Final = 0.96
# What is still worth telling of which most words are told already.
_SAID: Final = 0.4
_SAID_SHARE: Final = 0.8
_MIN_WORDS: Final = 4
_WORD: Final = re.compile(r"[^\W_]+")
# A long finding must be worth more than two short ones.
_FREE_TOKENS: Final = 25
_SEPARATOR_TOKENS: Final = 1
# Of so many findings, the weightiest, the best are chosen.
_MAX_WAITING: Final = 400
# A finding takes at most this share of the budget, and at least so many tokens.
_LONGEST_SHARE: Final = 0.3
_MIN_TOKENS: Final = 24
MAX_CHARS: Final = 260
_PLACE: Final = re.compile(r" \(l\d+\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A statement about a text, or a line of it, and how much it matters."""

    text: str
    weight: float
    # The line that it quotes; 0 for a statement about the whole text.
    line: int = 0
    # How many lines say the same.
    count: int = 1
    kind: str = ""

    @property
    def told(self) -> str:
        """Return the finding in one line, with how often it occurs."""
        return self.text if self.count < 2 else f"{self.text} × {self.count}"

    def within(self, tokens: float) -> Finding:
        """Return the finding with its text cut to one line of about so many tokens."""
        line = one_line(self.text, MAX_CHARS)
        if (size := _about(line)) > tokens:
            line = one_line(line, max(1, int(len(line) * tokens / size)))
        return replace(self, text=line)


def fitting(
    findings: Iterable[Finding], room: int, cost: Callable[[str], int], lines: int
) -> list[Finding]:
    """Return the findings that fit, what is about the whole text first, then in its order.

    Each kind and each part of the text gets a share: what has more of its own already counts less.
    """
    limit = max(_MIN_TOKENS, _LONGEST_SHARE * room)
    kinds: Counter[str] = Counter()
    regions: Counter[int] = Counter()
    chosen: list[Finding] = []
    said: set[str] = set()

    def value(finding: Finding, size: float) -> float:
        share = _SAME_KIND ** kinds[finding.kind] if finding.kind else 1.0
        if finding.line:
            share *= _SAME_REGION ** regions[_region(finding, lines)]
        return share * finding.weight / (_FREE_TOKENS + size)

    distinct = _distinct(findings, limit)
    sizes = [_about(finding.told) for finding in distinct]
    waiting = [(-value(finding, sizes[place]), place) for place, finding in enumerate(distinct)]
    heapq.heapify(waiting)
    while waiting and room > 0:
        worth, place = heapq.heappop(waiting)
        finding = distinct[place]
        # What was chosen meanwhile can only have made it less valuable.
        now = -value(finding, sizes[place])
        words = _words(finding.text)
        if len(words) >= _MIN_WORDS and len(words & said) >= _SAID_SHARE * len(words):
            now *= _SAID
        if now > worth + 1e-9 and waiting and now > waiting[0][0]:
            heapq.heappush(waiting, (now, place))
            continue
        if sizes[place] > 2 * room:
            continue
        size = cost(finding.told) + _SEPARATOR_TOKENS
        if size > room:
            continue
        room -= size
        chosen.append(finding)
        said |= words
        kinds[finding.kind] += 1
        if finding.line:
            regions[_region(finding, lines)] += 1
    whole = [finding for finding in chosen if not finding.line]
    quoted = [finding for finding in chosen if finding.line]
    return [
        *sorted(whole, key=lambda finding: -finding.weight),
        *sorted(quoted, key=lambda finding: finding.line),
    ]


def _about(text: str) -> float:
    """Return roughly how many tokens a text has; counting is for those that are chosen."""
    beyond = (len(text.encode("utf-8", "replace")) - len(text)) / 2
    return max(1.0, (len(text) - beyond) / 3.6 + 0.8 * beyond)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _region(finding: Finding, lines: int) -> int:
    return min(_REGIONS - 1, finding.line * _REGIONS // max(1, lines))


def _distinct(findings: Iterable[Finding], limit: float) -> list[Finding]:
    """Return the weightiest findings without those that say what a heavier one says."""
    kept: list[Finding] = []
    said: list[str] = []
    heaviest = heapq.nlargest(_MAX_WAITING, findings, key=lambda finding: finding.weight)
    for finding in heaviest:
        cut = finding.within(limit)
        words = _PLACE.sub("", cut.text.casefold())
        if cut.weight > 0 and words and not any(words in other for other in said):
            kept.append(cut)
            said.append(words)
    return kept
