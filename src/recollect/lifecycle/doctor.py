"""The findings of `doctor` about the database, which it does not change."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from recollect.domain.audit import AuditVerdict
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.stats import (
    DatabaseCondition,
    Finding,
    IndexFigures,
    TroubledJob,
    Verdict,
)
from recollect.errors import StorageError
from recollect.language.analysis import ANALYZER_VERSION
from recollect.ports.scope_models import Serving
from recollect.ports.upkeep import Maintenance

_MEGABYTE: Final = 1 << 20
_MAX_LISTED_FAULTS: Final = 10
# The approximate memory of the packed indexes, per term and per number of a vector.
_BYTES_PER_TERM: Final = 17
_BYTES_PER_NUMBER: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexBudgets:
    """The memory budgets of the packed indexes."""

    keyword_mb: int
    vector_mb: int


def nothing_stored(database: Path, *, is_temporary: bool) -> Finding:
    """Return the finding for a database that does not exist."""
    return Finding(
        part="database",
        message="kept in memory; lost when the process ends"
        if is_temporary
        else f"{database} (created when something is first stored)",
        figures={"path": str(database), "exists": False},
    )


class Doctor:
    """Examines an existing database; `model` is the current embedding model, if any."""

    def __init__(
        self,
        maintenance: Maintenance,
        serving: Serving,
        database: Path | str,
        model: EmbeddingModel | None,
        budgets: IndexBudgets,
    ) -> None:
        self._maintenance = maintenance
        self._serving = serving
        self._database = database
        self._model = model
        self._budgets = budgets

    async def examine(self) -> list[Finding]:
        """Return the findings about the database and its contents."""
        try:
            condition = await self._maintenance.condition()
        except StorageError as problem:
            return [unreadable("database", problem)]
        findings = [_database(self._database, condition)]
        if condition.revision != condition.newest_revision:
            return findings
        try:
            figures = await self._maintenance.figures(ANALYZER_VERSION)
            findings += [
                await self._vectors(figures.units),
                _terms(figures),
                _jobs(figures),
                _forgetting(figures.unfinished_forgettings),
                self._memory(figures),
            ]
        except StorageError as problem:
            findings.append(unreadable("search index", problem))
        return findings

    async def _vectors(self, units: int) -> Finding:
        model = self._model
        if model is None:
            return Finding(
                part="vectors",
                message="no model makes vectors now; recall uses words only",
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
                where = f"{served.scopes:,} scopes with {served.units:,} units"
                told.append(f"{served.model.name} still serves {where}")
        has = units - missing - sum(others.values())
        told.insert(0, f"{has:,} of {units:,} units have a vector of {model.name}")
        if missing:
            told.append(f"{missing:,} are found by words only")
        return Finding(
            part="vectors",
            verdict="warning" if missing or others else "ok",
            message="; ".join(told),
            hint="`recollect reindex` creates the missing ones; texts in a language that the model "
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
            message=f"largest scope {figures.most_units:,} units: {told}"
            + ("; it is read from disk for each query, which is slow" if short else ""),
            hint=" ".join(f"Set {setting} to {more} or more." for setting, more in short.items()),
            figures={"largest_scope_units": figures.most_units},
        )


def unreadable(part: str, problem: StorageError) -> Finding:
    """Return the finding for a part that cannot be read."""
    return Finding(part=part, verdict="problem", message=problem.message, hint=problem.hint)


def contents_finding(verdicts: Sequence[AuditVerdict]) -> Finding:
    """Return the finding of comparing everything stored with the audit logs."""
    faults = [
        f"{verdict.org}/{verdict.workspace}: {fault.what}"
        for verdict in verdicts
        for fault in verdict.faults
    ]
    proved, unproved = (
        sum(verdict.proved for verdict in verdicts),
        sum(verdict.unproved for verdict in verdicts),
    )
    told = [f"{proved:,} records and turns match the audit log"]
    if unproved:
        told.append(f"{unproved:,} were stored before the audit log held digests")
    if faults:
        told += faults[:_MAX_LISTED_FAULTS]
        if len(faults) > _MAX_LISTED_FAULTS:
            told.append(f"and {len(faults) - _MAX_LISTED_FAULTS:,} more")
    return Finding(
        part="contents",
        verdict="problem" if faults else "ok",
        message="; ".join(told),
        hint="A backup has them as they were: open it with --data, or bring it back with "
        "`recollect restore`. `recollect history ID` shows what a record said before."
        if faults
        else "",
        figures={"proved": proved, "unproved": unproved, "faults": faults},
    )


def _database(path: Path | str, condition: DatabaseCondition) -> Finding:
    is_writable = bool(condition.server) or os.access(path, os.W_OK)
    verdict, meaning, hint = _judged(condition, is_writable=is_writable)
    size = condition.bytes / _MEGABYTE
    of = f"{condition.server}, " if condition.server else ""
    return Finding(
        part="database",
        verdict=verdict,
        message=f"{path}, {of}{size:,.1f} MB, schema {condition.revision or '-'}: {meaning}",
        hint=hint,
        figures={
            "path": str(path),
            "exists": True,
            "bytes": condition.bytes,
            "revision": condition.revision,
            "newest_revision": condition.newest_revision,
            "journal_mode": condition.journal_mode,
            "server": condition.server,
            "damage": condition.damage,
        },
    )


def _judged(condition: DatabaseCondition, *, is_writable: bool) -> tuple[Verdict, str, str]:
    """Return verdict, message and fix of the worst problem."""
    if condition.damage:
        return (
            "problem",
            f"it is damaged ({condition.damage})",
            "Restore the last good copy with `recollect restore`.",
        )
    if condition.is_from_the_future:
        return (
            "problem",
            f"a newer version of Recollect wrote it, this one knows {condition.newest_revision}",
            "Upgrade Recollect, or open a backup made with this version.",
        )
    if condition.unmet:
        told = "; ".join(message for message, _ in condition.unmet)
        return "problem", told, " ".join(remedy for _, remedy in condition.unmet)
    if not is_writable:
        return "problem", "it is not writable", "Fix the permissions of the file."
    if condition.revision != condition.newest_revision:
        return (
            "warning",
            f"it is migrated to {condition.newest_revision} when it is next opened",
            "Copy the file first if an older version of Recollect must read it again.",
        )
    if not condition.server and condition.journal_mode != "wal":
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
        message=f"{waiting:,} of {figures.units:,} units still have the terms of another version"
        if waiting
        else f"analyzer {ANALYZER_VERSION} for all {figures.units:,} units",
        hint="A running process analyses them again; `recollect work --once` does it now."
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
        hint="Fix the cause; `recollect work --once` retries what is still needed."
        if troubled
        else "",
        figures={"waiting": jobs.waiting, "failed": jobs.failed, "troubled": troubled},
    )


def _forgetting(unfinished: int) -> Finding:
    return Finding(
        part="forgetting",
        verdict="warning" if unfinished else "ok",
        message=f"erasure_pending: {unfinished:,} forgettings are not finished; nobody can ask for "
        "what they hid, but its bytes are still in the files"
        if unfinished
        else "no erasure is pending",
        hint="A running process finishes it in the background; `recollect work --once` does it now."
        if unfinished
        else "",
        figures={"unfinished": unfinished},
    )


def _trouble(job: TroubledJob) -> str:
    state = "given up" if job.gave_up else "tried again later"
    return f"{job.kind} ({job.key}) failed {job.attempts} times, {state}: {job.error}"
