"""Settings → upkeep: short-term tier, expiry, retention, capacity, conflicts and quarantine."""

from __future__ import annotations

from datetime import timedelta

from recollect.backends.sql.database import Database
from recollect.backends.sql.state import SqlState
from recollect.domain.scope import Holding
from recollect.domain.upkeep import RetentionRule
from recollect.lifecycle.conflicts import Conflicts
from recollect.lifecycle.short_term import Buffer, Promoter, Quarantine
from recollect.lifecycle.statistics import HealthCheck
from recollect.lifecycle.sweep import (
    Capacity,
    CapacityOptions,
    Expiry,
    ExpiryOptions,
    RecordSweep,
    RetentionRules,
    SweepRunner,
)
from recollect.lifecycle.usage import Usage
from recollect.lifecycle.working_memory import WorkingMemory
from recollect.memory.parts import UpkeepServices
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.ports.units import UnitIndex
from recollect.ports.upkeep import UpkeepReader
from recollect.recall.listing import Listing
from recollect.recall.meaning import Meaning
from recollect.settings import Settings
from recollect.settings.working import RetentionRuleSettings
from recollect.writing.redaction import Redactor
from recollect.writing.saver import Saver


def usage_of(
    settings: Settings,
    database: Database,
    reader: UpkeepReader,
    store: Store,
    saver: Saver,
    clock: Clock,
) -> tuple[Usage, Promoter]:
    """Return the counter of recalls, and the promoter of records that are recalled often."""
    clearing = SweepRunner(store, reader, clock)
    promoter = Promoter(store, saver, clearing, clock, promote_at=settings.buffer.promote_at)
    state = SqlState(database, clock)
    redactor = Redactor(settings.writing.redact)
    usage = Usage(store, clock, state=state, recalled=promoter.recalled, redactor=redactor)
    return usage, promoter


def tending_of(
    settings: Settings,
    reader: UpkeepReader,
    clock: Clock,
    store: Store,
    listing: Listing,
    saver: Saver,
    units: Holding[UnitIndex],
    meaning: Meaning,
    redactor: Redactor,
    usage: Usage,
    promoter: Promoter,
    working: WorkingMemory,
) -> UpkeepServices:
    """Return the services of upkeep."""
    clearing = SweepRunner(store, reader, clock)
    lifecycle = settings.lifecycle
    sweep = RecordSweep(
        Expiry(
            clearing,
            clock,
            ExpiryOptions(
                promote_at=settings.buffer.promote_at,
                purge_after=timedelta(days=lifecycle.purge_after_days),
            ),
        ),
        RetentionRules(clearing, clock, [_rule(rule) for rule in settings.retention]),
        Capacity(
            store,
            reader,
            clearing,
            clock,
            CapacityOptions(records=lifecycle.capacity, decay_lambda=settings.recall.decay_lambda),
        ),
        working.retention,
        usage.flush,
    )
    return UpkeepServices(
        buffer=Buffer(reader, clock),
        promoter=promoter,
        sweep=sweep,
        health=HealthCheck(store, reader, units, clock, capacity=lifecycle.capacity),
        conflicts=Conflicts(store, reader, meaning, redactor, clock),
        review=Quarantine(listing, saver, clock),
    )


def _rule(rule: RetentionRuleSettings) -> RetentionRule:
    said = rule.model_dump(exclude={"older_than_days"})
    return RetentionRule(older_than=timedelta(days=rule.older_than_days), **said)
