"""What agents say of records that they were given: this helped, that did not."""

from __future__ import annotations

from recollect.domain.change import ChangeSet, Feedback
from recollect.domain.hit import Hit
from recollect.domain.record import Record
from recollect.domain.scope import Caller
from recollect.errors import InvalidInput
from recollect.ports.store import Store
from recollect.recall.listing import Listing

Judged = Hit | Record | str


class FeedbackTaker:
    """Counts what helped and what did not; later recalls weigh it.

    Whoever may read a record may say so: it changes nothing of what the record says.
    """

    def __init__(self, store: Store, listing: Listing) -> None:
        self._store = store
        self._listing = listing

    async def used(self, caller: Caller, judged: Judged, *, success: bool) -> Record:
        """A record was used, with success or without."""
        return await self._take(caller, judged, helped=success, was_used=True)

    async def rejected(self, caller: Caller, judged: Judged) -> Record:
        """A record was looked at and not used."""
        return await self._take(caller, judged, helped=False, was_used=False)

    async def _take(
        self, caller: Caller, judged: Judged, *, helped: bool, was_used: bool
    ) -> Record:
        record = await self._listing.get(caller, _record_id(judged))
        feedback = Feedback(record=record, helped=helped, was_used=was_used)
        await self._store.commit(
            ChangeSet(principal=caller.principal, scope=caller.scope, feedback=(feedback,))
        )
        return await self._listing.get(caller, record.id)


def _record_id(judged: Judged) -> str:
    match judged:
        case Hit() | Record():
            ident = judged.id
        case str():
            ident = judged
        case _:
            raise InvalidInput(
                f"A hit, a record or an id is judged, not {type(judged).__name__}",
                code="wrong_type",
            )
    if ident.startswith("turn_"):
        raise InvalidInput(
            f"{ident} is a turn; only a record can be used or rejected",
            code="not_a_record",
            hint="A turn is kept as it was said. Save what is worth weighing as a record.",
        )
    return ident
