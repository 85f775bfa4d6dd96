"""What tests of upkeep put into a memory that no verb makes yet: disputes and doubtful records."""

from __future__ import annotations

from recollect import Memory
from recollect.domain.change import ChangeSet, RecordChange
from recollect.domain.ids import new_id
from recollect.domain.record import Record, Status
from recollect.domain.relation import Conflict
from recollect.language.units import record_units
from tests.services import store_of


async def quarantine(memory: Memory, record: Record) -> Record:
    """Hold a record back for review, as writing does with what its source does not bear out."""
    held = record.evolve(status=Status.QUARANTINED, version=record.version + 1)
    await store_of(memory).commit(
        ChangeSet(
            principal="test",
            scope=held.scope,
            records=(RecordChange(record=held, reason="not supported"),),
            units=(record_units(held),),
        )
    )
    return held


async def dispute(memory: Memory, first: Record, second: Record) -> str:
    """Mark two records as contradicting each other, as reconciling does; the conflict's id."""
    conflict = Conflict(
        id=new_id("conflict"),
        scope=second.scope,
        first=first.id,
        second=second.id,
        reason="neither time nor confidence decides",
        created_at=second.created_at,
    )
    await store_of(memory).commit(
        ChangeSet(principal="test", scope=second.scope, conflicts=(conflict,))
    )
    return conflict.id
