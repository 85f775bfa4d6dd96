"""What a digest may say, and which of it fits into a budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from recollect.language.characters import one_line

# The parts of a text that each get a share.
_REGIONS: Final = 6
# What another finding of the same kind, or from the same part of the text, is still worth.
_SAME_KIND: Final = 0.8
_SAME_REGION: Final = 0.9
# A long finding must be worth more than two short ones.
_FREE_TOKENS: Final = 12
_SEPARATOR_TOKENS: Final = 1
MAX_CHARS: Final = 240


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
        text = one_line(self.text, MAX_CHARS)
        return text if self.count < 2 else f"{text} × {self.count:,}"


def fitting(
    findings: Iterable[Finding], room: int, cost: Callable[[str], int], lines: int
) -> list[Finding]:
    """Return the findings that fit, what is about the whole text first, then in its order.

    Each kind and each part of the text gets a share: what has more of its own already counts less.
    """
    waiting = _distinct(findings)
    costs = {finding: cost(finding.told) + _SEPARATOR_TOKENS for finding in waiting}
    kinds: Counter[str] = Counter()
    regions: Counter[int] = Counter()
    chosen: list[Finding] = []

    def value(finding: Finding) -> float:
        share = _SAME_KIND ** kinds[finding.kind]
        if finding.line:
            share *= _SAME_REGION ** regions[_region(finding, lines)]
        return share * finding.weight / (_FREE_TOKENS + costs[finding])

    while waiting:
        best = max(waiting, key=value)
        waiting.remove(best)
        if costs[best] > room:
            continue
        room -= costs[best]
        chosen.append(best)
        kinds[best.kind] += 1
        if best.line:
            regions[_region(best, lines)] += 1
    whole = [finding for finding in chosen if not finding.line]
    quoted = [finding for finding in chosen if finding.line]
    return [
        *sorted(whole, key=lambda finding: -finding.weight),
        *sorted(quoted, key=lambda finding: finding.line),
    ]


def _region(finding: Finding, lines: int) -> int:
    return min(_REGIONS - 1, finding.line * _REGIONS // max(1, lines))


def _distinct(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings without those that say what a heavier one says."""
    kept: list[Finding] = []
    said: list[str] = []
    for finding in sorted(findings, key=lambda finding: -finding.weight):
        words = finding.told.casefold()
        if finding.weight > 0 and words and not any(words in other for other in said):
            kept.append(finding)
            said.append(words)
    return kept
