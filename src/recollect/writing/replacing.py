"""Which turns said what a record replaces: by these a recall knows that they no longer hold."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.domain.fields import MAX_ITEMS
from recollect.domain.record import Evidence, Record


def replacing(record: Record, said: Sequence[Evidence], said_now: Sequence[Evidence]) -> Record:
    """The record with the turns that said something else among what it is related to."""
    turns_now = {it.turn for it in said_now}
    others = (it.turn for it in said if it.turn not in turns_now)
    return record.evolve(related=tuple(dict.fromkeys((*record.related, *others)))[-MAX_ITEMS:])


def corrected(before: Record, after: Record) -> Record:
    """A record after somebody changed it: with other words it is no longer what its turns say."""
    if after.content == before.content:
        return after
    is_told_anew = after.evidence != before.evidence
    return replacing(after, before.evidence, after.evidence if is_told_anew else ())
