"""What `doctor` finds in the database. Nothing is changed by looking."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from recollect.domain.diagnosis import (
    DatabaseCondition,
    Finding,
    IndexFigures,
    TroubledJob,
    Verdict,
)
from recollect.domain.embedding import EmbeddingModel
from recollect.errors import StorageError
from recollect.ports.maintenance import Maintenance
from recollect.ports.serving import Serving
from recollect.text.analysis import ANALYZER_VERSION

_MEGABYTE: Final = 1 << 20
# About what the packed indexes take: a term of a unit, and a number of its vector.
_BYTES_PER_TERM: Final = 17
_BYTES_PER_NUMBER: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexBudgets:
    """How much memory the packed indexes may take, as the settings say."""

    keyword_mb: int
    vector_mb: int


def nothing_stored(database: Path, *, is_temporary: bool) -> Finding:
    """The finding when there is no database to look at."""
    return Finding(
        part="database",
        message="kept in memory, and gone with the process"
        if is_temporary
        else f"{database} (made when something is first kept)",
        figures={"path": str(database), "exists": False},
    )


class Doctor:
    """Examines a database that is there; `model` is the one that makes vectors now, if any."""

    def __init__(
        self,
        maintenance: Maintenance,
        serving: Serving,
        database: Path,
        model: EmbeddingModel | None,
        budgets: IndexBudgets,
    ) -> None:
        self._maintenance = maintenance
        self._serving = serving
        self._database = database
        self._model = model
        self._budgets = budgets

    async def examine(self) -> list[Finding]:
        """The database, and what is in it as far as it can be read."""
        try:
            condition = await self._maintenance.condition()
        except StorageError as problem:
            return [_unreadable("database", problem)]
        findings = [_database(self._database, condition)]
        if condition.revision != condition.newest_revision:
            return findings
        try:
            figures = await self._maintenance.figures(ANALYZER_VERSION)
            findings += [
                await self._vectors(figures.units),
                _terms(figures),
                _jobs(figures),
                self._memory(figures),
            ]
        except StorageError as problem:
            findings.append(_unreadable("search index", problem))
        return findings

    async def _vectors(self, units: int) -> Finding:
        model = self._model
        if model is None:
            return Finding(
                part="vectors",
                message="no model makes vectors now; recall goes by words",
                figures={"units": units},
            )
        missing = await self._serving.count_lacking(model)
        others: dict[str, int] = {}
        told: list[str] = []
        for served in await self._serving.served():
            if served.model is None:
                missing += served.units
            elif served.model != model:
                others[served.model.name] = served.units
                where = f"{served.scopes:,} scopes with {served.units:,} pieces"
                told.append(f"{served.model.name} still answers in {where}")
        has = units - missing - sum(others.values())
        told.insert(0, f"{has:,} of {units:,} pieces have a vector of {model.name}")
        if missing:
            told.append(f"{missing:,} are found by their words only")
        return Finding(
            part="vectors",
            verdict="warning" if missing or others else "ok",
            message="; ".join(told),
            hint="`recollect reindex` makes the missing ones; texts in a language that the model "
            "does not read stay without."
            if missing or others
            else "",
            figures={"units": units, "without_vector": missing, "of_other_models": others},
        )

    def _memory(self, figures: IndexFigures) -> Finding:
        dimension = self._model.dimension if self._model else 0
        needs = {
            "recall.index_memory_mb": (
                self._budgets.keyword_mb,
                figures.most_terms * _BYTES_PER_TERM,
            ),
            "recall.vector_memory_mb": (
                self._budgets.vector_mb,
                figures.most_units * dimension * _BYTES_PER_NUMBER,
            ),
        }
        short = {
            setting: need // _MEGABYTE + 1
            for setting, (budget, need) in needs.items()
            if need > budget * _MEGABYTE
        }
        told = ", ".join(
            f"{setting} {budget:,} (about {need / _MEGABYTE:,.1f} needed)"
            for setting, (budget, need) in needs.items()
        )
        return Finding(
            part="index memory",
            verdict="warning" if short else "ok",
            message=f"largest scope {figures.most_units:,} pieces: {told}"
            + ("; it is read from disk for each question, which is slow" if short else ""),
            hint=" ".join(f"Set {setting} to {more} or more." for setting, more in short.items()),
            figures={"largest_scope_units": figures.most_units},
        )


def _unreadable(part: str, problem: StorageError) -> Finding:
    return Finding(part=part, verdict="problem", message=problem.message, hint=problem.hint)


def _database(path: Path, condition: DatabaseCondition) -> Finding:
    verdict, meaning, hint = _judged(condition, is_writable=os.access(path, os.W_OK))
    size = condition.bytes / _MEGABYTE
    return Finding(
        part="database",
        verdict=verdict,
        message=f"{path}, {size:,.1f} MB, schema {condition.revision or '-'}: {meaning}",
        hint=hint,
        figures={
            "path": str(path),
            "exists": True,
            "bytes": condition.bytes,
            "revision": condition.revision,
            "newest_revision": condition.newest_revision,
            "journal_mode": condition.journal_mode,
            "damage": condition.damage,
        },
    )


def _judged(condition: DatabaseCondition, *, is_writable: bool) -> tuple[Verdict, str, str]:
    """How bad it is, what it means and how to mend it; the worst comes first."""
    if condition.damage:
        return (
            "problem",
            f"it is damaged ({condition.damage})",
            "Bring back the last good copy with `recollect restore`.",
        )
    if condition.is_from_the_future:
        return (
            "problem",
            f"a newer version of Recollect wrote it, this one knows {condition.newest_revision}",
            "Upgrade Recollect, or open a backup made with this version.",
        )
    if not is_writable:
        return "problem", "it may not be written to", "Mend the permissions of the file."
    if condition.revision != condition.newest_revision:
        return (
            "warning",
            f"it becomes {condition.newest_revision} when it is next opened",
            "Copy the file first if an older version of Recollect must read it again.",
        )
    if condition.journal_mode != "wal":
        return (
            "warning",
            f"readers and writers wait for each other (journal mode {condition.journal_mode})",
            "Keep it on a disk of this machine; a network share cannot do better.",
        )
    return "ok", "no damage found", ""


def _terms(figures: IndexFigures) -> Finding:
    waiting = figures.analysed_otherwise
    return Finding(
        part="search terms",
        verdict="warning" if waiting else "ok",
        message=f"{waiting:,} of {figures.units:,} pieces still have the terms of another version"
        if waiting
        else f"analyzer {ANALYZER_VERSION} for all {figures.units:,} pieces",
        hint="`recollect work --once` renews them now; an open memory does so by itself."
        if waiting
        else "",
        figures={"analyzer": ANALYZER_VERSION, "analysed_otherwise": waiting},
    )


def _jobs(figures: IndexFigures) -> Finding:
    jobs, troubled = figures.jobs, figures.troubled
    told = [f"{jobs.waiting:,} waiting, {jobs.failed:,} given up", *map(_trouble, troubled)]
    return Finding(
        part="background jobs",
        verdict="warning" if troubled else "ok",
        message="; ".join(told),
        hint="Mend the cause; what is still needed is tried again by `recollect work --once`."
        if troubled
        else "",
        figures={"waiting": jobs.waiting, "failed": jobs.failed, "troubled": troubled},
    )


def _trouble(job: TroubledJob) -> str:
    state = "given up" if job.gave_up else "tried again later"
    return f"{job.kind} ({job.key}) failed {job.attempts} times, {state}: {job.error}"
