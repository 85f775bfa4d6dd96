"""The turns that a record supersedes; recall uses them to mark those turns."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.domain.fields import MAX_ITEMS
from recollect.domain.record import Evidence, Record


def replacing(record: Record, said: Sequence[Evidence], said_now: Sequence[Evidence]) -> Record:
    """Return the record with the superseded turns among its related ids."""
    turns_now = {evidence.turn for evidence in said_now}
    others = (evidence.turn for evidence in said if evidence.turn not in turns_now)
    return record.evolve(related=tuple(dict.fromkeys((*record.related, *others)))[-MAX_ITEMS:])


def corrected(before: Record, after: Record) -> Record:
    """Return a record after a manual change; its old turns no longer say what it says."""
    if after.content == before.content:
        return after
    is_told_anew = after.evidence != before.evidence
    return replacing(after, before.evidence, after.evidence if is_told_anew else ())
