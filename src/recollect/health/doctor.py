"""The findings of `doctor` about the database, the settings, the disk and the models."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recollect.context.archives.description import hash_of
from recollect.context.archives.frames import decompressed
from recollect.domain.archive import Blob
from recollect.domain.audit import AuditVerdict
from recollect.domain.embedding import GAP_LASTS, EmbedderCheck, EmbedderState, EmbeddingModel
from recollect.domain.files import is_private
from recollect.domain.followers import FollowerState
from recollect.domain.model_tier import LANGUAGE_TASKS, LanguageTask
from recollect.domain.stats import DatabaseCondition, Finding, IndexFigures, TroubledJob, Verdict
from recollect.errors import ModelError, StorageError
from recollect.language.analysis import ANALYZER_VERSION
from recollect.ports.language_model import LanguageModel, LanguageModels, Prompt
from recollect.ports.runtime import Clock
from recollect.ports.vector_sink import SinkReport

if TYPE_CHECKING:
    from recollect.backends.redis.examination import RedisCondition
    from recollect.backends.sql.maintenance import SqlMaintenance
    from recollect.embedding.scope_models import SqlScopeModels
    from recollect.followers.rows import FollowedScopes

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


def follower_finding(
    state: FollowerState, report: SinkReport | None = None, problem: str = ""
) -> Finding:
    """Return the finding about a store that is derived from the database."""
    part = f"{state.kind} store"
    told = f"{state.done:,} of {state.total:,} units of {state.scopes:,} scopes"
    lag = "up to date" if not state.lag else f"{state.lag:,} writes behind"
    if state.to_erase:
        lag += f", {state.to_erase:,} forgotten scopes to erase"
    figures = {"name": state.name, "lag": state.lag, "to_erase": state.to_erase}
    if problem or report is None:
        return Finding(
            part=part,
            verdict="problem" if state.to_erase else "warning",
            message=f"{problem}; the database answers alone ({told}, {lag})",
            hint="Start it, or check its URL and key in storage.vectors; it catches up by itself.",
            figures=figures,
        )
    figures |= {"version": report.version, "index": report.index}
    message = f"{state.name}, {report.version}, {report.index}: {told}, {lag}"
    if report.problems:
        return Finding(
            part=part,
            verdict="problem",
            message="; ".join(report.problems),
            hint="Ask its administrator; docs/vectors.md lists the permissions.",
            figures=figures,
        )
    return Finding(part=part, message=message, figures=figures)


def left_store_finding(name: str) -> Finding:
    """Return the finding about a store that has something and is not followed any more."""
    return Finding(
        part="left store",
        verdict="warning",
        message=f"{name} still has what it had; what is forgotten now stays there",
        hint="Name it in storage.vectors again, run `recollect reconcile --clear`, then change it.",
        figures={"name": name},
    )


@dataclass(eq=False)
class Doctor:
    """Examines an existing database; `model` is the current embedding model, if any."""

    _maintenance: SqlMaintenance
    _serving: SqlScopeModels
    _database: Path | str
    _model: EmbeddingModel | None
    _budgets: IndexBudgets
    _clock: Clock

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
        # What is new or waits for a job gets its vectors by itself.
        is_filling = await self._serving.is_filling()
        since = self._clock.now() - GAP_LASTS
        lasting = 0 if is_filling else await self._serving.count_lacking(model, before=since)
        others: dict[str, int] = {}
        told: list[str] = []
        for served in await self._serving.served():
            if served.model is None:
                missing += served.units
                lasting += 0 if is_filling else served.units
            elif served.model != model:
                others[served.model.name] = served.units
                where = f"{served.scopes:,} scopes with {served.units:,} units"
                told.append(f"{served.model.name} still serves {where}")
        has = units - missing - sum(others.values())
        told.insert(0, f"{has:,} of {units:,} units have a vector of {model.name}")
        if missing:
            told.append(f"{missing:,} are found by words only" + ("" if lasting else " for now"))
        return Finding(
            part="vectors",
            verdict="warning" if lasting or others else "ok",
            message="; ".join(told),
            hint="`recollect reindex` creates the missing ones; texts in a language that the model "
            "does not read stay without."
            if lasting or others
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


def files_finding(count: int, faults: Sequence[str]) -> Finding:
    """Return the finding of comparing archived contents with their hashes."""
    return Finding(
        part="archived contents",
        verdict="problem" if faults else "ok",
        message=_listed(f"{count - len(faults):,} of {count:,} match their hashes", faults),
        hint="Copy the files that are missing or changed from a backup." if faults else "",
        figures={"contents": count, "faults": list(faults)},
    )


def index_finding(
    faults: Sequence[str], compared: str, *, can_be_mended: bool, is_mended: bool
) -> Finding:
    """Return the finding of comparing what is searched with what it was made of."""
    if not faults:
        sound = f"what is searched follows from what is stored; {compared}"
        return Finding(part="search index", message=sound, figures={"faults": []})
    if is_mended:
        hint = "`recollect reindex` makes them anew; so does any process that opens the memory."
    elif can_be_mended:
        hint = "`recollect doctor --deep --fix` removes them, `recollect reindex` makes them anew."
    else:
        hint = "Damaged pages need the last good copy (`recollect restore`)."
    what = "were removed" if is_mended else "parts are damaged"
    return Finding(
        part="search index",
        verdict="warning" if is_mended else "problem",
        message=_listed(f"{len(faults):,} {what}", faults) + f"; {compared}",
        hint=hint,
        figures={"faults": list(faults)},
    )


def content_fault(blob: Blob, stored: bytes | None) -> str:
    """Return what is wrong with an archived content; empty if nothing is."""
    if stored is None:
        return "is missing"
    if hash_of(stored) != blob.stored_hash:
        return "is not what was stored"
    try:
        data = decompressed(stored, blob.size)
    except Exception:  # noqa: BLE001  (the library has errors of its own)
        return "cannot be unpacked"
    return "" if hash_of(data) == blob.hash else "is another content"


def _listed(told: str, faults: Sequence[str]) -> str:
    more = len(faults) - _MAX_LISTED_FAULTS
    rest = [f"and {more:,} more"] if more > 0 else []
    return "; ".join([told, *faults[:_MAX_LISTED_FAULTS], *rest])


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


# --- The findings of `doctor` about the program, settings, folders, disk and models ---------------

_MAX_LISTED: Final = 3
_LOW_SPACE_BYTES: Final = 500 * _MEGABYTE
_QUESTION: Final = Prompt(text="Answer with the word yes.", max_tokens=8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where things are stored, and which settings differ from the defaults."""

    settings_file: Path
    changed_settings: Mapping[str, str]
    data_dir: Path
    database: Path
    log_file: Path
    private: tuple[Path, ...] = ()
    """Files and folders with content, which only the owner should be able to read."""


def look_around(places: Places) -> list[Finding]:
    """Return the findings that need neither the database nor a model."""
    return [
        _program(),
        _settings(places),
        _data_directory(places.data_dir),
        _disk(places.database.parent),
        _log_file(places.log_file),
        _permissions(places.private),
    ]


def unusable_settings(message: str, hint: str) -> list[Finding]:
    """Return the findings when the settings are invalid."""
    return [
        _program(),
        Finding(part="settings", verdict="problem", message=message, hint=hint),
    ]


def idle_findings(idle: Sequence[tuple[str, str]]) -> list[Finding]:
    """Return the findings about settings that have no effect, each with what it needs."""
    return [
        Finding(
            part="settings",
            verdict="warning",
            message=f"{name} has no effect",
            hint=f"{hint[:1].upper()}{hint[1:]}.",
        )
        for name, hint in idle
    ]


def stranded_finding(agent: str, held: Mapping[str, int], store: str, now: str) -> Finding:
    """Return the finding that an agent has memory in a store in which nobody looks for it."""
    told = ", ".join(f"{count:,} {kind}" for kind, count in held.items())
    return Finding(
        part="agents",
        verdict="warning",
        message=f"{agent} has memory that nobody reads: {told} in {store}, and its store is {now}",
        hint=f"Set its store back to {store}, then move it: recollect agents move {agent} --to "
        "STORE",
        figures={"agent": agent, "store": store, **held},
    )


def move_finding(agent: str, state: str, source: str, target: str) -> Finding:
    """Return the finding about a move that has not ended, or whose old copy is kept."""
    figures: dict[str, object] = {"agent": agent, "from": source, "to": target, "state": state}
    if state == "moved":
        return Finding(
            part="agents",
            message=f"{agent} was moved to {target}; its copy in {source} is kept until "
            f"`recollect agents move {agent} --purge`",
            figures=figures,
        )
    return Finding(
        part="agents",
        verdict="warning",
        message=f"{agent} is being moved from {source} to {target}, or that was interrupted; "
        f"{source} serves",
        hint=f"Go on: recollect agents move {agent} --to {target}; or give up: recollect agents "
        f"move {agent} --purge",
        figures=figures,
    )


def spool_finding(place: Path, waiting: int, size: int, set_aside: int) -> Finding | None:
    """Return the finding about writes that wait for a database server, if there are any."""
    figures: dict[str, object] = {"waiting": waiting, "bytes": size, "set_aside": set_aside}
    if set_aside:
        return Finding(
            part="spool",
            verdict="problem",
            message=f"{set_aside:,} writes that were kept while the database was away could not be "
            f"stored; they are in {place}",
            hint="The log says why each was refused. Save again what is needed, then remove the "
            "set-aside files.",
            figures=figures,
        )
    if waiting:
        return Finding(
            part="spool",
            verdict="warning",
            message=f"{waiting:,} writes ({size:,} bytes) wait in {place} for the database",
            hint="They are stored by whichever process has the memory open when the server is "
            "back.",
            figures=figures,
        )
    return None


def bucket_finding(
    name: str,
    waiting: int,
    *,
    milliseconds: float = 0.0,
    is_same: bool = True,
    problem: StorageError | None = None,
) -> Finding:
    """Return the finding about a bucket for contents, and what waits on this machine for it."""
    queue = f"{waiting:,} contents wait on this machine" if waiting else "nothing waits for it"
    figures: dict[str, object] = {"waiting": waiting, "milliseconds": round(milliseconds, 2)}
    if problem is not None:
        return Finding(
            part="bucket",
            verdict="problem",
            message=f"{problem.message}; {queue}",
            hint=problem.hint,
            figures=figures | {"code": problem.code},
        )
    return Finding(
        part="bucket",
        verdict="ok" if is_same else "problem",
        message=f"{name}: written, read and deleted in {milliseconds:.0f} ms; {queue}"
        if is_same
        else f"{name} does not return what was written to it",
        figures=figures,
    )


def redis_finding(
    condition: RedisCondition, mirrored: FollowedScopes | None = None, *, is_others: bool = False
) -> Finding:
    """Return the finding about Redis, and how far its mirror is behind the database."""
    if condition.problem:
        return Finding(
            part="redis",
            verdict="warning",
            message=f"{condition.name} is away: {condition.problem}; the database serves alone",
            hint="Start it, or correct storage.state and storage.state_password. What it misses "
            "is mirrored when it is back.",
            figures={"problem": condition.problem},
        )
    told = [
        f"{condition.name}, version {condition.version or 'unknown'}",
        f"{condition.milliseconds:.1f} ms, {condition.memory_bytes / _MEGABYTE:,.1f} MB",
    ]
    if mirrored is not None:
        told.append(
            f"{mirrored.lag:,} writes behind, {mirrored.to_build:,} scopes to mirror, "
            f"{mirrored.to_erase:,} to erase"
        )
    problems: list[tuple[str, str]] = []
    if is_others:
        problems.append(
            ("its keys belong to another database", "Set storage.state_prefix for this one.")
        )
    if condition.denied:
        refused = ", ".join(condition.denied)
        remedy = "Allow these commands on the keys of storage.state_prefix (ACL SETUSER)."
        problems.append((f"refused: {refused}", remedy))
    if condition.is_too_old:
        problems.append(("it is too old", "Use Redis 6 or newer, or Valkey."))
    warnings: list[tuple[str, str]] = []
    if condition.eviction.startswith("allkeys"):
        remedy = "With maxmemory-policy volatile-lru, it drops only what expires anyway."
        warnings.append((f"it may drop any key ({condition.eviction})", remedy))
    return Finding(
        part="redis",
        verdict="problem" if problems else "warning" if warnings else "ok",
        message="; ".join([*told, *(it for it, _ in (*problems, *warnings))]),
        hint=" ".join(remedy for _, remedy in (*problems, *warnings)),
        figures={
            "version": condition.version,
            "milliseconds": round(condition.milliseconds, 2),
            "memory_bytes": condition.memory_bytes,
            "encrypted": condition.is_encrypted,
            "denied": list(condition.denied),
            "writes_behind": 0 if mirrored is None else mirrored.lag,
            "scopes_to_mirror": 0 if mirrored is None else mirrored.to_build,
            "scopes_to_erase": 0 if mirrored is None else mirrored.to_erase,
        },
    )


def embedder_finding(tried: EmbedderCheck, state: EmbedderState | None) -> Finding:
    """Return the finding about the embedder; `state` is its entry in the catalogue."""
    figures: dict[str, object] = {
        "name": tried.name,
        "condition": state.condition if state else "",
        "works": tried.works,
        "model": tried.model,
        "dimension": tried.dimension,
        "query_ms": round(tried.query_ms, 2),
        "notes": tried.notes,
    }
    if not tried.works:
        return Finding(
            part="embedder",
            verdict=_without_embedder(tried, state),
            message=f"{tried.name}: {tried.problem}. Recall uses words only",
            hint=tried.hint,
            figures=figures,
        )
    if not tried.model:
        return Finding(part="embedder", message="; ".join(("none", *tried.notes)), figures=figures)
    told = f"{tried.name}: {tried.model}, {tried.dimension} dimensions, {tried.query_ms:.1f} ms"
    return Finding(
        part="embedder",
        verdict="warning" if tried.notes else "ok",
        message="; ".join((told, *tried.notes)),
        figures=figures,
    )


def _without_embedder(tried: EmbedderCheck, state: EmbedderState | None) -> Verdict:
    """Return a warning for a default model that was never installed, else a problem."""
    is_absent = state is not None and state.condition in {"not_found", "not_installed"}
    return "warning" if tried.name == "local" and is_absent else "problem"


def _program() -> Finding:
    number = version("recollect")
    python = platform.python_version()
    return Finding(
        part="version",
        message=f"recollect {number}, Python {python}, SQLite {sqlite3.sqlite_version}, "
        f"{platform.system()} {platform.machine()}",
        figures={"recollect": number, "python": python, "sqlite": sqlite3.sqlite_version},
    )


def _settings(places: Places) -> Finding:
    is_there = places.settings_file.exists()
    changed = dict(places.changed_settings)
    told = "; ".join(f"{name} = {value}" for name, value in changed.items())
    return Finding(
        part="settings",
        message=f"{places.settings_file}{'' if is_there else ' (does not exist, not needed)'}; "
        + (f"changed: {told}" if told else "all have their defaults"),
        figures={"file": str(places.settings_file), "exists": is_there, "changed": changed},
    )


def _data_directory(folder: Path) -> Finding:
    is_there = folder.exists()
    nearest = _nearest(folder)
    is_writable = nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
    figures = {"path": str(folder), "exists": is_there, "writable": is_writable}
    if not is_writable:
        return Finding(
            part="data directory",
            verdict="problem",
            message=f"{nearest} is not a writable folder; nothing can be stored",
            hint="Fix its permissions, or choose another folder with RECOLLECT_DATA_DIR.",
            figures=figures,
        )
    told = str(folder) if is_there else f"{folder} (created when something is first stored)"
    return Finding(part="data directory", message=told, figures=figures)


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(_nearest(folder)).free
    is_little = free < _LOW_SPACE_BYTES
    return Finding(
        part="disk",
        verdict="warning" if is_little else "ok",
        message=f"{free // _MEGABYTE:,} MB free"
        + (": saving stops when nothing is left" if is_little else ""),
        hint="Free some space, or move the data with RECOLLECT_DATA_DIR." if is_little else "",
        figures={"free_bytes": free},
    )


def _log_file(file: Path) -> Finding:
    figures = {"path": str(file), "exists": file.exists()}
    folder = _nearest(file.parent)
    if not (folder.is_dir() and os.access(file if file.exists() else folder, os.W_OK)):
        return Finding(
            part="log file",
            verdict="warning",
            message=f"{file} cannot be written: warnings are lost",
            hint=f"Fix the permissions of {folder}.",
            figures=figures,
        )
    if not file.exists():
        return Finding(part="log file", message=f"{file} (no warning so far)", figures=figures)
    changed = datetime.fromtimestamp(file.stat().st_mtime, UTC).astimezone()
    return Finding(
        part="log file",
        message=f"{file}, last warning {changed:%Y-%m-%d %H:%M}",
        figures=figures | {"bytes": file.stat().st_size, "changed_at": changed},
    )


def _permissions(private: Sequence[Path]) -> Finding:
    open_to_others = [path for path in private if not is_private(path)]
    if not open_to_others:
        return Finding(part="permissions", message="nobody else can read the data")
    some = ", ".join(map(str, open_to_others[:_MAX_LISTED]))
    more = f" and {len(open_to_others) - _MAX_LISTED:,} more"
    return Finding(
        part="permissions",
        verdict="warning",
        message=f"others on this machine may read {some}"
        + (more if len(open_to_others) > _MAX_LISTED else ""),
        hint="`recollect doctor --fix` removes their access.",
        figures={"open_to_others": [str(path) for path in open_to_others]},
    )


def _nearest(path: Path) -> Path:
    """Return the path, or the nearest existing folder above it."""
    return next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())


async def check_models(models: LanguageModels) -> list[Finding]:
    """Ask every configured tier one short question and return the findings."""
    checks = (
        _checked(task, model) for task in LANGUAGE_TASKS if (model := models.of(task)) is not None
    )
    return list(await asyncio.gather(*checks))


async def _checked(task: LanguageTask, model: LanguageModel) -> Finding:
    began = time.monotonic()
    try:
        await model.write(_QUESTION)
    except ModelError as problem:
        return Finding(
            part=f"{task} model",
            verdict="warning",
            message=f"{problem.message}; rules are used instead",
            hint=problem.hint,
            figures={"model": model.name, "code": problem.code},
        )
    seconds = time.monotonic() - began
    return Finding(
        part=f"{task} model",
        message=f"{model.name} answered within {seconds:.1f} s",
        figures={"model": model.name, "seconds": round(seconds, 2)},
    )
