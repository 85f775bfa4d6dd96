"""Review records in quarantine."""

from __future__ import annotations

from recollect.domain.fields import MAX_CONTENT, checked_text
from recollect.domain.filters import make_filter
from recollect.domain.page import Page
from recollect.domain.record import Record, Status
from recollect.domain.scope import Caller
from recollect.errors import Conflict
from recollect.lifecycle.sweep import after
from recollect.ports.runtime import Clock
from recollect.recall.listing import Listing
from recollect.writing.saver import Saver


class Quarantine:
    """Accepts, edits or rejects records that their source does not support."""

    def __init__(self, listing: Listing, saver: Saver, clock: Clock) -> None:
        self._listing = listing
        self._saver = saver
        self._clock = clock

    async def quarantined(self, caller: Caller, *, limit: int, cursor: str | None) -> Page[Record]:
        """Return a page of quarantined records, latest first."""
        where = make_filter(status=Status.QUARANTINED)
        return await self._listing.records(caller.readable, where, limit=limit, cursor=cursor)

    async def accept(
        self, caller: Caller, record_id: str, content: str | None = None, *, reason: str = ""
    ) -> Record:
        """Release a record, optionally with new content; it becomes permanent."""
        if content is not None:
            checked_text(content, "content", MAX_CONTENT)

        def change(record: Record) -> Record:
            _require_quarantined(record)
            now = self._clock.now()
            # It was confirmed, so it skips the short-term buffer.
            accepted = after(record, "promote", now).evolve(last_confirmed=now)
            return accepted if content is None else accepted.evolve(content=content)

        why = reason or ("accepted" if content is None else "accepted with other words")
        return await self._saver.revise(caller, record_id, change, reason=why)

    async def reject(self, caller: Caller, record_id: str, *, reason: str = "") -> Record:
        """Delete a record; this can be undone."""

        def change(record: Record) -> Record:
            _require_quarantined(record)
            return after(record, "delete", self._clock.now())

        return await self._saver.revise(caller, record_id, change, reason=reason or "rejected")


def _require_quarantined(record: Record) -> None:
    if record.status is not Status.QUARANTINED:
        raise Conflict(
            f"{record.id} is {record.status}, not quarantined",
            code="not_quarantined",
            hint="`quarantine` lists the records to review.",
        )
