"""How the parts are doing: what `doctor` finds, and the figures it looks at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from recollect.domain.stats import JobCounts

# A warning works less well than it could; a problem does not work.
Verdict = Literal["ok", "warning", "problem"]

_FROM_BEST_TO_WORST: Final[tuple[Verdict, ...]] = ("ok", "warning", "problem")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """How one part is doing, what that means, and how to fix it."""

    part: str
    verdict: Verdict = "ok"
    message: str
    hint: str = ""
    figures: Mapping[str, object] = field(default_factory=dict[str, object], hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Every finding, and the worst of their verdicts."""

    verdict: Verdict
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, findings: Sequence[Finding]) -> Diagnosis:
        verdicts: list[Verdict] = ["ok", *(finding.verdict for finding in findings)]
        worst = max(verdicts, key=_FROM_BEST_TO_WORST.index)
        return cls(verdict=worst, findings=tuple(findings))


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseCondition:
    """What a database says about itself, whichever version wrote it."""

    bytes: int
    journal_mode: str
    damage: str
    revision: str | None
    newest_revision: str
    is_from_the_future: bool
    # The name and version of a server; empty for a file.
    server: str = ""
    # What a server lacks, each with its remedy.
    unmet: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TroubledJob:
    """A job that failed the last time it ran, and why."""

    kind: str
    key: str
    attempts: int
    error: str
    gave_up: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFigures:
    """How much there is to search and to do, across all scopes."""

    units: int
    analysed_otherwise: int
    most_units: int
    most_terms: int
    jobs: JobCounts
    troubled: tuple[TroubledJob, ...]
    unfinished_forgettings: int = 0
