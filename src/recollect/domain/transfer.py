"""What moves when memory is exported or imported, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.domain.record import Procedure, Record, Version
from recollect.domain.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordHistory:
    """A record with all its versions, oldest first; the last one is what it says now."""

    versions: tuple[Version, ...]

    @property
    def current(self) -> Record:
        return self.versions[-1].record

    def holds(self, other: RecordHistory) -> bool:
        """Whether every version of the other is one of these; how often it was used aside."""
        known = {version.number: _said(version) for version in self.versions}
        return all(known.get(it.number) == _said(it) for it in other.versions)


Item = RecordHistory | Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedContents:
    """How many contents of archives went into a copy; those that were gone or damaged did not."""

    copied: int
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportCounts:
    """How much an export holds; every record and every turn is one line of it."""

    records: int
    versions: int
    turns: int

    @property
    def lines(self) -> int:
        return self.records + self.turns


@dataclass(frozen=True, slots=True, kw_only=True)
class LineProblem:
    """Why a line of a file was not imported."""

    line: int
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import did with each line; of many problems only the first ones are listed."""

    added: int
    unchanged: int
    conflicting: int
    bad: int
    problems: tuple[LineProblem, ...]


def _said(version: Version) -> tuple[Record, str, str]:
    record = version.record.evolve(access_count=0, last_accessed=None, helped=0, rejected=0)
    if isinstance(record.details, Procedure):
        record = record.evolve(details=record.details.with_uses_of(Procedure()))
    return record, version.changed_by, version.reason
