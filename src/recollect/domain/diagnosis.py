"""What `doctor` reports: findings, and the figures they are based on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from recollect.domain.stats import JobCounts

# With a warning, something works less well than it could; with a problem, it does not work.
Verdict = Literal["ok", "warning", "problem"]

_VERDICTS_BY_SEVERITY: Final[tuple[Verdict, ...]] = ("ok", "warning", "problem")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The state of one part, what it means, and how to fix it."""

    part: str
    verdict: Verdict = "ok"
    message: str
    hint: str = ""
    figures: Mapping[str, object] = field(default_factory=dict[str, object], hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """All findings and the worst of their verdicts."""

    verdict: Verdict
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, findings: Sequence[Finding]) -> Diagnosis:
        verdicts: list[Verdict] = ["ok", *(finding.verdict for finding in findings)]
        worst = max(verdicts, key=_VERDICTS_BY_SEVERITY.index)
        return cls(verdict=worst, findings=tuple(findings))


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseCondition:
    """The condition of a database file or server, whichever version wrote it."""

    bytes: int
    journal_mode: str
    damage: str
    revision: str | None
    newest_revision: str
    is_from_the_future: bool
    # The name and version of a server; empty for a file.
    server: str = ""
    # The requirements that a server does not meet, each with its remedy.
    unmet: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TroubledJob:
    """A job whose last attempt failed, and why."""

    kind: str
    key: str
    attempts: int
    error: str
    gave_up: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFigures:
    """The size of the index and of the job queue, across all scopes."""

    units: int
    analysed_otherwise: int
    most_units: int
    most_terms: int
    jobs: JobCounts
    troubled: tuple[TroubledJob, ...]
    unfinished_forgettings: int = 0
