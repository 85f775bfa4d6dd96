"""Feedback on recalled records: what helped and what did not."""

from __future__ import annotations

from recollect.domain.change import ChangeSet, Feedback
from recollect.domain.hit import Hit
from recollect.domain.meter import Meter
from recollect.domain.record import Record
from recollect.domain.scope import Caller
from recollect.errors import InvalidInput
from recollect.ports.store import Store
from recollect.recall.listing import Listing

Judged = Hit | Record | str


class FeedbackCounter:
    """Counts what helped and what did not; later recalls consider it.

    Anybody who may read a record may give feedback: it does not change what the record says.
    """

    def __init__(self, store: Store, listing: Listing, meter: Meter | None = None) -> None:
        self._store = store
        self._listing = listing
        self._meter = meter or Meter()

    async def used(self, caller: Caller, judged: Judged, *, success: bool) -> Record:
        """Count that a record was used, with or without success."""
        return await self._take(caller, judged, helped=success, was_used=True)

    async def rejected(self, caller: Caller, judged: Judged) -> Record:
        """Count that a record was seen and not used."""
        return await self._take(caller, judged, helped=False, was_used=False)

    async def _take(
        self, caller: Caller, judged: Judged, *, helped: bool, was_used: bool
    ) -> Record:
        record = await self._listing.get(caller, _record_id(judged))
        feedback = Feedback(record=record, helped=helped, was_used=was_used)
        await self._store.commit(
            ChangeSet(principal=caller.principal, scope=caller.scope, feedback=(feedback,))
        )
        self._meter.add("feedback", label="used" if was_used else "rejected")
        return await self._listing.get(caller, record.id)


def _record_id(judged: Judged) -> str:
    match judged:
        case Hit() | Record():
            ident = judged.id
        case str():
            ident = judged
        case _:
            raise InvalidInput(
                f"Give a hit, a record or an id, not {type(judged).__name__}",
                code="wrong_type",
            )
    if ident.startswith("turn_"):
        raise InvalidInput(
            f"{ident} is a turn; only a record can be used or rejected",
            code="not_a_record",
            hint="Turns are stored as they were said. Save what matters as a record.",
        )
    return ident
