"""Settings → upkeep and forgetting, including the caches of this process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.assemble.sharing import parties_of

if TYPE_CHECKING:
    from recollect.assemble.redis import Redis
    from recollect.assemble.working_memory import WorkingMemory
    from recollect.backends.sql.database import Database
    from recollect.context.sessions import Sessions
    from recollect.domain.document import Document
    from recollect.domain.forgetting import Target
    from recollect.domain.scope import Caller, Holding
    from recollect.embedding.service import EmbeddingService
    from recollect.erasure.forgetting import Forgetting
    from recollect.health.figures import SqlHealth
    from recollect.health.statistics import HealthCheck
    from recollect.ports.archives import Blobs
    from recollect.ports.copies import Copies
    from recollect.ports.runtime import Clock
    from recollect.ports.state import State
    from recollect.ports.store import Store
    from recollect.ports.units import UnitIndex
    from recollect.recall.cache import CachedRecaller
    from recollect.recall.conflicts import SqlConflicts
    from recollect.recall.listing import Listing
    from recollect.recall.profile import ProfileReader
    from recollect.records.conflicts import Conflicts
    from recollect.records.usage import Usage
    from recollect.retention.rows import SqlRetention
    from recollect.retention.short_term import Buffer, Promoter, Quarantine
    from recollect.retention.sweep import RecordSweep
    from recollect.settings import Settings
    from recollect.spool.service import Spool
    from recollect.writing.redaction import Redactor
    from recollect.writing.saver import Saver


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepServices:
    """The services behind `memory.upkeep`."""

    buffer: Buffer
    promoter: Promoter
    sweep: RecordSweep
    health: HealthCheck
    conflicts: Conflicts
    review: Quarantine


def usage_of(
    settings: Settings,
    state: State,
    reader: SqlRetention,
    store: Store,
    saver: Saver,
    clock: Clock,
) -> tuple[Usage, Promoter]:
    """Return the counter of recalls, and the promoter of records that are recalled often."""
    from recollect.records.usage import Usage
    from recollect.retention.short_term import Promoter
    from recollect.retention.sweep import SweepRunner
    from recollect.writing.redaction import Redactor

    clearing = SweepRunner(store, reader, clock)
    promoter = Promoter(store, saver, clearing, clock, promote_at=settings.buffer.promote_at)
    redactor = Redactor(settings.writing.redact)
    usage = Usage(store, clock, state=state, recalled=promoter.recalled, redactor=redactor)
    return usage, promoter


def upkeep_services_of(
    settings: Settings,
    reader: SqlRetention,
    conflicts: SqlConflicts,
    figures: SqlHealth,
    clock: Clock,
    store: Store,
    listing: Listing,
    saver: Saver,
    units: Holding[UnitIndex],
    embedding: EmbeddingService,
    redactor: Redactor,
    usage: Usage,
    promoter: Promoter,
    working: WorkingMemory,
) -> UpkeepServices:
    """Return the services of upkeep."""
    from recollect.health.statistics import HealthCheck
    from recollect.records.conflicts import Conflicts
    from recollect.retention.short_term import Buffer, Quarantine
    from recollect.retention.sweep import (
        Capacity,
        Expiry,
        RecordSweep,
        RetentionRules,
        SweepRunner,
    )

    clearing = SweepRunner(store, reader, clock)
    lifecycle = settings.lifecycle
    sweep = RecordSweep(
        Expiry(clearing, clock, settings.buffer, lifecycle),
        RetentionRules(clearing, clock, settings.retention),
        Capacity(store, reader, clearing, clock, lifecycle, settings.recall.decay_lambda),
        working.retention,
        usage.flush,
    )
    return UpkeepServices(
        buffer=Buffer(reader, clock),
        promoter=promoter,
        sweep=sweep,
        health=HealthCheck(store, figures, units, clock, capacity=lifecycle.capacity),
        conflicts=Conflicts(store, conflicts, embedding, redactor, clock, parties_of(settings)),
        review=Quarantine(listing, saver, clock),
    )


# --- Settings → the service that forgets, including the caches of this process --------------------


async def hide_forgotten(database: Database, clock: Clock) -> None:
    """Hide what an older copy of the database brought back, before anybody sees it."""
    from recollect.erasure.rows import SqlErasure

    await SqlErasure(database, clock).reapply()


def forgetting_of(
    settings: Settings,
    database: Database,
    clock: Clock,
    store: Store,
    listing: Listing,
    usage: Usage,
    recaller: CachedRecaller,
    profiles: ProfileReader,
    sessions: Sessions,
    forget_texts: Callable[[], None],
    own_document: Callable[[Caller, str], Awaitable[Document]],
    copied: Callable[[], Awaitable[Collection[str]]],
    blobs: Blobs,
    spool: Spool | None,
    redis: Redis | None,
    copies: Sequence[Copies],
) -> Forgetting:
    """Return the service that forgets; it also clears the caches of this process."""
    from recollect.erasure.forgetting import Forgetting
    from recollect.erasure.proof import SqlProof
    from recollect.erasure.rows import SqlErasure

    async def let_go(target: Target) -> None:
        recaller.clear()
        profiles.clear()
        forget_texts()
        if redis is not None:
            await redis.tell_forgotten()
        await sessions.discard(target)

    erasure = SqlErasure(database, clock, in_place=settings.storage.erase_in_place)
    return Forgetting(
        erasure,
        SqlProof(database, blobs, partial(_other_files, settings), copies),
        store,
        listing,
        blobs,
        clock,
        settle=usage.flush,
        let_go=let_go,
        own_document=own_document,
        copied=copied,
        spool=spool,
        copies=copies,
    )


def _other_files(settings: Settings) -> Sequence[Path]:
    """Return the files beside the database that a verification searches too."""
    from recollect.assemble.spool import place_of as spool_place
    from recollect.backends.audit_anchor import anchor_of
    from recollect.spool.files import contents_of as contents_of_spool

    logs = settings.log_file.parent.glob(f"{settings.log_file.name}*")
    outgoing = (it for it in settings.outgoing_dir.rglob("*") if it.is_file())
    waiting = (path for path, _ in contents_of_spool(spool_place(settings)))
    return [*sorted(logs), *sorted(outgoing), anchor_of(settings.database), *waiting]
