"""Settings → upkeep and forgetting, including the caches of this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.assemble.sharing import parties_of

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring
    from recollect.backends.sql.database import Database
    from recollect.domain.forgetting import Target
    from recollect.erasure.forgetting import Forgetting
    from recollect.health.statistics import HealthCheck
    from recollect.ports.runtime import Clock
    from recollect.records.conflicts import Conflicts
    from recollect.records.usage import Usage
    from recollect.retention.short_term import Buffer, Promoter, Quarantine
    from recollect.retention.sweep import RecordSweep
    from recollect.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepServices:
    """The services behind `memory.upkeep`."""

    buffer: Buffer
    promoter: Promoter
    sweep: RecordSweep
    health: HealthCheck
    conflicts: Conflicts
    review: Quarantine


def usage_of(parts: Wiring) -> tuple[Usage, Promoter]:
    """Return the counter of recalls, and the promoter of records that are recalled often."""
    from recollect.records.usage import Usage
    from recollect.retention.short_term import Promoter
    from recollect.retention.sweep import SweepRunner
    from recollect.writing.redaction import Redactor

    settings, store, clock = parts.settings, parts.store, parts.clock
    clearing = SweepRunner(store, parts.retention_rows, clock)
    promote_at = settings.buffer.promote_at
    promoter = Promoter(store, parts.saver, clearing, clock, promote_at=promote_at)
    redactor = Redactor(settings.writing.redact)
    recalled = promoter.recalled
    usage = Usage(store, clock, state=parts.state, recalled=recalled, redactor=redactor)
    return usage, promoter


def upkeep_services_of(parts: Wiring, usage: Usage, promoter: Promoter) -> UpkeepServices:
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

    settings, store, clock, reader = parts.settings, parts.store, parts.clock, parts.retention_rows
    clearing = SweepRunner(store, reader, clock)
    lifecycle = settings.lifecycle
    sweep = RecordSweep(
        Expiry(clearing, clock, settings.buffer, lifecycle),
        RetentionRules(clearing, clock, settings.retention),
        Capacity(store, reader, clearing, clock, lifecycle, settings.recall.decay_lambda),
        parts.working.retention,
        usage.flush,
    )
    return UpkeepServices(
        buffer=Buffer(reader, clock),
        promoter=promoter,
        sweep=sweep,
        health=HealthCheck(
            store,
            parts.health_rows,
            lambda scope: parts.router.holding(scope).here.units,
            clock,
            lifecycle.capacity,
        ),
        conflicts=Conflicts(
            store,
            parts.conflict_rows,
            parts.embedding,
            parts.redactor,
            clock,
            parties_of(settings),
        ),
        review=Quarantine(parts.listing, parts.saver, clock),
    )


# --- Settings → the service that forgets, including the caches of this process --------------------


async def hide_forgotten(database: Database, clock: Clock) -> None:
    """Hide what an older copy of the database brought back, before anybody sees it."""
    from recollect.erasure.rows import SqlErasure

    await SqlErasure(database, clock).reapply()


def forgetting_of(parts: Wiring) -> Forgetting:
    """Return the service that forgets; it also clears the caches of this process."""
    from recollect.erasure.forgetting import Forgetting
    from recollect.erasure.proof import SqlProof
    from recollect.erasure.rows import SqlErasure
    from recollect.recall.listing import Listing

    settings, database, clock, here = parts.settings, parts.database, parts.clock, parts.here

    async def let_go(target: Target) -> None:
        parts.let_go_of_caches()
        if parts.redis is not None:
            await parts.redis.tell_forgotten()
        await parts.working.sessions.discard(target)

    erasure = SqlErasure(database, clock, in_place=settings.storage.erase_in_place)
    return Forgetting(
        erasure,
        SqlProof(database, here.blobs, partial(_other_files, settings), parts.copies),
        here.store,
        Listing(here.store, clock),
        here.blobs,
        clock,
        settle=parts.usage.flush,
        let_go=let_go,
        own_document=parts.knowledge.own_document,
        copied=lambda: parts.moves.known(),
        spool=parts.spool,
        copies=parts.copies,
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
