"""Settings → a diagnosis of them and of everything they name."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, TypeVar

from sqlalchemy import Connection

from recollect.agents.copying import agents_in, count_of
from recollect.agents.overlays import overlays_in, read_agents
from recollect.assemble.embedding import (
    check_embedder,
    embedder_in_use,
    list_embedders,
    wanted_embedder,
)
from recollect.assemble.sessions import model_choice
from recollect.assemble.spool import place_of
from recollect.assemble.stores import (
    blobs_at,
    contents_of,
    database_at,
    has_memory,
    journal_at,
    server_at,
)
from recollect.audit.rows import SqlAudit
from recollect.audit.service import Verifier
from recollect.backends.audit_anchor import known_heads
from recollect.backends.objects import is_url_of_blobs
from recollect.backends.outbox import OutboxBlobs, outbox_beside
from recollect.backends.sql.agent_marks import AWAY, HOME, MOVE, read_marks
from recollect.backends.sql.chain_head import require_newest
from recollect.backends.sql.companions import companions_of
from recollect.backends.sql.database import Database
from recollect.backends.sql.journaled_database import journal_of
from recollect.backends.sql.maintenance import SqlMaintenance
from recollect.backends.sql.migrate import require_usable, revision
from recollect.backends.sql.schema import HEAD_REVISION
from recollect.backends.sql.server_schema import require_usable as require_usable_server
from recollect.backends.sql.server_schema import try_writing
from recollect.domain.embedding import EmbedderCheck, EmbeddingModel
from recollect.domain.files import is_private
from recollect.domain.files import make_private as make_path_private
from recollect.domain.job import Progress
from recollect.domain.stats import Diagnosis, Finding
from recollect.embedding.reader import Reader
from recollect.embedding.scope_models import SqlScopeModels
from recollect.errors import NotAvailable, RecollectError, SettingsError, StorageError
from recollect.followers.rows import SqlFollowers, follower_names
from recollect.followers.vectors import VectorFollower, VectorStore
from recollect.health.deep_check import (
    IndexFault,
    Sample,
    differing_vectors,
    index_faults,
    mend,
    stored_blobs,
)
from recollect.health.doctor import (
    Doctor,
    IndexBudgets,
    Places,
    bucket_finding,
    check_models,
    content_fault,
    contents_finding,
    embedder_finding,
    files_finding,
    follower_finding,
    idle_findings,
    index_finding,
    left_store_finding,
    look_around,
    move_finding,
    nothing_stored,
    spool_finding,
    stranded_finding,
    unreadable,
    unusable_settings,
)
from recollect.jobs.queue import SqlJobs
from recollect.models.language.tiers import Tiers
from recollect.models.onnx_embedder import OnnxEmbedder
from recollect.ports.runtime import SystemClock
from recollect.settings import Settings, settings_file
from recollect.settings.agents import told_place, with_agents
from recollect.settings.effects import without_effect
from recollect.settings.sections import AgentSettings
from recollect.spool.files import count_in

T = TypeVar("T")

# So many records and turns are embedded again; a thousand short ones take about a second.
_COMPARED_OWNERS: Final = 2_000
_COMPARED_AT_ONCE: Final = 64
_PROBE: Final = "recollect-doctor"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Depth:
    """How to look at everything that is stored."""

    mend: bool
    progress: Progress


def _tell_nobody(_done: int, _total: int) -> None: ...


async def make_private(settings: Settings) -> None:
    """Remove everybody else's access to the files of this memory."""
    await asyncio.to_thread(_make_private, settings)


async def diagnose(
    settings: Settings, *, deep: bool = False, mend: bool = False, progress: Progress | None = None
) -> Diagnosis:
    """Check every part without changing anything; what cannot be opened becomes a finding.

    `deep` also reads everything: texts are compared with the audit log, archived contents with
    their hashes, and what is searched with what it was made of. With `mend`, what is searched and
    damaged is removed, and made anew by the next process that opens the memory.
    """
    depth = _Depth(mend=mend, progress=progress or _tell_nobody) if deep else None
    places = Places(
        settings_file=settings_file(),
        changed_settings=settings.changed(),
        data_dir=settings.data_dir,
        database=settings.database,
        log_file=settings.log_file,
        private=tuple(await asyncio.to_thread(_private_paths, settings)),
    )
    tried = await check_embedder(settings)
    rows = await _agents_in_common(settings)
    settings = with_agents(settings, overlays_in(rows))
    findings = await asyncio.to_thread(look_around, places)
    findings += idle_findings(without_effect(settings))
    findings.append(embedder_finding(tried, embedder_in_use(settings, list_embedders(settings))))
    findings += await _models(settings)
    findings += await _examine_store(settings, tried, depth)
    for agent, own in _own_stores(settings):
        found = await _examine_store(own, tried, depth)
        findings += [replace(it, part=f"{agent}: {it.part}") for it in found if _matters(it)]
    findings += await _stranded(settings, rows)
    findings += _unfinished_moves(rows)
    return Diagnosis.of(findings)


def _own_stores(settings: Settings) -> list[tuple[str, Settings]]:
    """Return the other stores that agents have of their own, each with the first of its agents."""
    seen = {settings.store_of(settings.scope.agent)}
    stores: list[tuple[str, Settings]] = []
    for agent in settings.agents:
        if settings.has_own_store(agent) and (key := settings.store_of(agent)) not in seen:
            seen.add(key)
            stores.append((agent, settings.of_agent(agent)))
    return stores


def _matters(finding: Finding) -> bool:
    return finding.part == "database" or finding.verdict != "ok"


async def _examine_store(
    settings: Settings, tried: EmbedderCheck, depth: _Depth | None
) -> list[Finding]:
    """Return the findings of the store that the settings name."""
    if settings.server_url:
        return await _examine_server(settings, tried, depth)
    if settings.is_journal:
        return await _examine_journal(settings, tried, depth)
    return await _examine_file(settings, tried, depth)


async def _examine_file(
    settings: Settings, tried: EmbedderCheck, depth: _Depth | None
) -> list[Finding]:
    """Return the findings of a database file."""
    is_temporary = settings.is_temporary
    try:
        if not is_temporary:
            await asyncio.to_thread(require_usable, settings.database)
    except StorageError as problem:
        return [unreadable("database", problem)]
    if is_temporary or not settings.database.exists():
        nothing = nothing_stored(settings.database, is_temporary=is_temporary)
        return [nothing, *await _beside(settings)]
    database = database_at(settings, settings.database)
    return await _examine_open(settings, database, tried, depth)


async def _examine_open(
    settings: Settings, database: Database, tried: EmbedderCheck, depth: _Depth | None
) -> list[Finding]:
    """Return the findings of a database that this process has alone, and close it."""
    try:
        findings = await _doctor(settings, database, tried).examine()
        findings += await _beside(settings, database)
        findings += await _older(database)
        return [*findings, *await _look_deep(settings, database, depth)]
    finally:
        await database.close()


async def _examine_journal(
    settings: Settings, tried: EmbedderCheck, depth: _Depth | None
) -> list[Finding]:
    """Return the findings of a journal, which is replayed for it; nothing is written."""
    if not journal_of(settings.database).exists():
        nothing = nothing_stored(journal_of(settings.database), is_temporary=False)
        return [nothing, *await _beside(settings)]
    try:
        database = await asyncio.to_thread(journal_at, settings)
    except StorageError as problem:
        return [unreadable("database", problem)]
    return await _examine_open(settings, database, tried, depth)


async def _examine_server(
    settings: Settings, tried: EmbedderCheck, depth: _Depth | None
) -> list[Finding]:
    """Return the findings of a database server; nothing is created on it."""
    waiting = await _waiting(settings)
    return [*waiting, *await _examine_reachable(settings, tried, depth)]


async def _waiting(settings: Settings) -> list[Finding]:
    """Return what is to be said of writes that wait on this machine."""
    place = place_of(settings)
    finding = spool_finding(place, *await asyncio.to_thread(count_in, place))
    return [] if finding is None else [finding]


async def _examine_reachable(
    settings: Settings, tried: EmbedderCheck, depth: _Depth | None
) -> list[Finding]:
    try:
        database = server_at(settings)
    except StorageError as problem:
        return [unreadable("database", problem)]
    try:
        await database.read(lambda connection: require_usable_server(connection, database.name))
        if await database.read(revision) is None:
            kept = "reached; its tables are created with the first write"
            reached = Finding(part="database", message=f"{settings.store_name}: {kept}")
            return [reached, *await _beside(settings)]
        await database.write(try_writing)
        findings = await _doctor(settings, database, tried).examine()
        findings += await _beside(settings, database)
        return [*findings, *await _look_deep(settings, database, depth)]
    except StorageError as problem:
        return [unreadable("database", problem)]
    finally:
        await database.close()


def _doctor(settings: Settings, database: Database, tried: EmbedderCheck) -> Doctor:
    recall = settings.recall
    return Doctor(
        SqlMaintenance(database),
        SqlScopeModels(database),
        str(journal_of(settings.database)) if settings.is_journal else settings.store_name,
        EmbeddingModel(name=tried.model, dimension=tried.dimension) if tried.model else None,
        IndexBudgets(keyword_mb=recall.index_memory_mb, vector_mb=recall.vector_memory_mb),
        SystemClock(),
    )


async def _followers(settings: Settings, database: Database) -> list[Finding]:
    """Return the findings about the stores that are derived from this database."""
    try:
        if await database.read(revision) != HEAD_REVISION:
            return []
        if not settings.vector_stores:
            return await _left_stores(database, ())
    except SettingsError as problem:
        return [Finding(part="vectors store", verdict="problem", message=problem.message)]
    from recollect.assemble.vectors import vector_stores_of

    clock = SystemClock()
    stores = vector_stores_of(settings, database, SqlJobs(database, clock), clock)
    findings = [await _vector_store(it) for it in stores]
    return [*findings, *await _left_stores(database, [it.following.name for it in stores])]


async def _vector_store(store: VectorStore) -> Finding:
    state = store.following.state
    try:
        report = await store.sink.check()
    except RecollectError as problem:
        return follower_finding(await state(), problem=problem.message)
    finally:
        await store.sink.close()
    return follower_finding(await state(), report)


async def _left_stores(database: Database, current: Collection[str]) -> list[Finding]:
    """Return a finding for each vector store that has vectors and is in the settings no more."""
    names = set(await follower_names(database)).difference(current)
    left = (name for name in sorted(names) if name.startswith(VectorFollower.kind))
    return list(map(left_store_finding, left))


async def _beside(settings: Settings, database: Database | None = None) -> list[Finding]:
    """Return the findings about the servers beside the database."""
    following = [] if database is None else await _followers(settings, database)
    return [*following, *await _redis(settings, database), *await _bucket(settings, database)]


async def _bucket(settings: Settings, database: Database | None = None) -> list[Finding]:
    """Return the finding about a bucket for contents, if there is one; a probe is written to it."""
    if not is_url_of_blobs(settings.blobs):
        return []
    waiting = 0
    if database is not None and isinstance(kept := contents_of(settings, database), OutboxBlobs):
        waiting = await kept.waiting()
    bucket, key, began = blobs_at(settings), f"{_PROBE}-{token_hex(8)}", time.perf_counter()
    try:
        await bucket.put(key, _PROBE.encode())
        is_same = await bucket.get(key) == _PROBE.encode()
        await bucket.delete([key])
    except StorageError as problem:
        return [bucket_finding(bucket.name, waiting, problem=problem)]
    milliseconds = (time.perf_counter() - began) * 1_000
    return [bucket_finding(bucket.name, waiting, milliseconds=milliseconds, is_same=is_same)]


async def _redis(settings: Settings, database: Database | None = None) -> list[Finding]:
    """Return the finding about the Redis server, if there is one, and about its mirror."""
    if not settings.storage.state:
        return []
    from recollect.assemble.redis import examine_redis
    from recollect.health.doctor import redis_finding

    try:
        condition = await examine_redis(settings)
    except NotAvailable as problem:
        return [Finding(part="redis", verdict="problem", message=str(problem), hint=problem.hint)]
    if database is None:
        return [redis_finding(condition)]
    figures = await SqlFollowers(database, condition.name, 0).figures()
    is_others = condition.owner not in ("", await asyncio.to_thread(lambda: database.identity))
    return [redis_finding(condition, figures, is_others=is_others)]


async def _models(settings: Settings) -> list[Finding]:
    tiers = Tiers(model_choice(settings), SystemClock())
    try:
        return await check_models(tiers)
    finally:
        await tiers.close()


def _private_paths(settings: Settings) -> list[Path]:
    """Return every file and folder that holds memory, but no folder that others use too."""
    database, logs = settings.database, settings.log_file.parent
    kept = [database, *companions_of(database), logs, *logs.glob(f"{settings.log_file.name}*")]
    if isinstance(settings.blobs, Path):
        kept += [settings.blobs, *settings.blobs.rglob("*")]
    else:
        outbox = outbox_beside(database)
        kept += [outbox, *outbox.rglob("*")]
    if database == settings.data_dir / "memory" / "memory.db":
        kept += [settings.data_dir, database.parent]
    return [path for path in dict.fromkeys(kept) if path.exists()]


def _make_private(settings: Settings) -> None:
    for path in _private_paths(settings):
        if not is_private(path):
            # `diagnose` still reports a path that belongs to somebody else.
            with contextlib.suppress(OSError):
                make_path_private(path)


async def _older(database: Database) -> list[Finding]:
    """Return a finding if the database is older than the files beside it."""
    known = await asyncio.to_thread(known_heads, database.path)
    try:
        await database.read(lambda connection: require_newest(connection, database.path, known))
    except StorageError as problem:
        # A database that cannot be read at all is reported already.
        return [unreadable("audit", problem)] * (problem.code == "database_older")
    return []


async def _look_deep(settings: Settings, database: Database, depth: _Depth | None) -> list[Finding]:
    """Return the findings of reading everything that is stored."""
    if depth is None:
        return []
    return [
        await _contents(database),
        await _files(settings, database),
        await _index(settings, database, depth),
    ]


async def _files(settings: Settings, database: Database) -> Finding:
    """Return the finding of comparing every archived content with its hash."""
    contents = contents_of(settings, database)
    try:
        blobs = await database.read(stored_blobs)
        faults = [
            f"{blob.key} {fault}"
            for blob in blobs
            if (fault := content_fault(blob, await contents.get(blob.key)))
        ]
    except StorageError as problem:
        return unreadable("archived contents", problem)
    return files_finding(len(blobs), faults)


async def _index(settings: Settings, database: Database, depth: _Depth) -> Finding:
    """Return the finding of comparing what is searched with what it was made of."""
    sample = Sample(_COMPARED_OWNERS)
    try:
        faults = await database.read(lambda it: [*index_faults(it, sample, depth.progress)])
        known = {fault.unit for fault in faults}
        found, compared = await _compare_vectors(settings, database, sample, depth.progress)
        faults += [fault for fault in found if fault.unit not in known]
        mending = [fault for fault in faults if fault.can_be_mended] if depth.mend else []
        if mending:
            await database.write(lambda it: mend(it, mending))
    except StorageError as problem:
        return unreadable("search index", problem)
    return index_finding(
        [fault.message for fault in faults],
        compared,
        can_be_mended=all(fault.can_be_mended for fault in faults),
        is_mended=len(mending) == len(faults),
    )


async def _compare_vectors(
    settings: Settings, database: Database, sample: Sample, progress: Progress
) -> tuple[list[IndexFault], str]:
    """Make the vectors of a sample again and compare them; return the faults and how many."""
    try:
        embedder = wanted_embedder(settings)
    except NotAvailable:
        embedder = None
    if not isinstance(embedder, OnnxEmbedder):
        # A service is paid for each text.
        return [], "vectors were not made again, because no local model makes them"
    reader, count, faults = Reader(embedder, SystemClock()), 0, list[IndexFault]()
    try:
        while some := sample.owners[count : count + _COMPARED_AT_ONCE]:
            made = await reader.filled(some)
            faults += await database.read(
                partial(differing_vectors, owners=made, model=reader.model)
            )
            count += len(some)
            progress(count, len(sample.owners))
    finally:
        await reader.close()
    told = f"the vectors of {count:,} of {sample.seen:,} records and turns were made again"
    return faults, told


async def _contents(database: Database) -> Finding:
    """Return the finding of comparing everything stored with the audit log."""
    log = SqlAudit(database)
    verifier = Verifier(log, database.anchor)
    try:
        verdicts = [await verifier.verify(*workspace) for workspace in await log.workspaces()]
    except StorageError as problem:
        return unreadable("contents", problem)
    return contents_finding(verdicts)


# --- Memory of agents that nobody reads -----------------------------------------------------------


async def _agents_in_common(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return what the common store says about agents; nothing if it cannot be read."""
    found = await _read_from(settings.of_agent(None), read_agents)
    return found or {}


async def _stranded(settings: Settings, rows: Mapping[str, Mapping[str, Any]]) -> list[Finding]:
    """Return a finding for each agent with memory in a store in which nobody looks for it."""
    findings: list[Finding] = []
    for key, store in _known_stores(settings, rows).items():
        for agent, held in (await _read_from(store, _held_by_agents) or {}).items():
            if settings.store_of(agent) != key:
                now = settings.of_agent(agent).store_name
                findings.append(stranded_finding(agent, held, store.store_name, now))
    return findings


def _known_stores(
    settings: Settings, rows: Mapping[str, Mapping[str, Any]]
) -> dict[tuple[str, str], Settings]:
    """Return every store that settings name, and the files in which agents were last."""
    places = [AgentSettings(store=name) for name in settings.stores]
    homes = (Path(row[HOME]) for row in rows.values() if HOME in row)
    places += [AgentSettings(sqlite_path=home) for home in homes if home.is_file()]
    found = {settings.store_of(None): settings.of_agent(None)}
    for place in (*places, *settings.agents.values()):
        its = settings.model_copy(update={"agents": {"": place}}).of_agent("")
        found.setdefault(its.store_of(""), its)
    return {key: its for key, its in found.items() if not its.is_temporary}


def _held_by_agents(connection: Connection) -> dict[str, dict[str, int]]:
    held = {agent: count_of(connection, agent) for agent in agents_in(connection)}
    # What was moved away is a copy, which `agents` names.
    return {
        agent: counts
        for agent, counts in held.items()
        if counts and AWAY not in read_marks(connection, agent)
    }


async def _read_from(settings: Settings, read: Callable[[Connection], T]) -> T | None:
    """Read from a store without changing it; None if there is none or it cannot be read."""
    try:
        if not await asyncio.to_thread(has_memory, settings):
            return None
        if settings.server_url:
            database: Database = server_at(settings)
        elif settings.is_journal:
            database = await asyncio.to_thread(journal_at, settings)
        else:
            await asyncio.to_thread(require_usable, settings.database)
            database = database_at(settings, settings.database)
        try:
            return await database.read(read)
        finally:
            await database.close()
    except RecollectError:
        # Whoever examines the store says why.
        return None


def _unfinished_moves(rows: Mapping[str, Mapping[str, Any]]) -> list[Finding]:
    moves = {agent: row[MOVE] for agent, row in rows.items() if MOVE in row}
    return [
        move_finding(agent, move["state"], told_place(move["from"]), told_place(move["to"]))
        for agent, move in moves.items()
    ]


def diagnose_settings(problem: SettingsError) -> Diagnosis:
    """Return the diagnosis for settings that cannot be used at all."""
    return Diagnosis.of(unusable_settings(problem.message, problem.hint))
