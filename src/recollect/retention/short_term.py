"""Records on trial: the short-term buffer and the quarantine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from recollect.domain.fields import checked_content
from recollect.domain.filters import Filter, make_filter
from recollect.domain.page import Page
from recollect.domain.record import Record, Status, Tier
from recollect.domain.scope import Caller, Scope
from recollect.domain.upkeep import Selection, buffer_score
from recollect.errors import Conflict
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.recall.listing import Listing
from recollect.retention.sweep import PROMOTE, SweepAccount, SweepRunner, after
from recollect.writing.saver import Saver

if TYPE_CHECKING:
    from recollect.retention.rows import SqlRetention

PROMOTION: Final = "promotion"
_PROMOTABLE: Final = frozenset({Status.ACTIVE, Status.EXPIRED})


class Promoter:
    """Makes short-term records permanent."""

    def __init__(
        self, store: Store, saver: Saver, clearing: SweepRunner, clock: Clock, *, promote_at: int
    ) -> None:
        self._store = store
        self._saver = saver
        self._clearing = clearing
        self._clock = clock
        self._promote_at = promote_at

    async def promote(self, caller: Caller, record_id: str, *, reason: str = "") -> Record:
        """Make a record permanent because somebody asks for it, even if it has expired."""
        return await self._saver.revise(
            caller, record_id, self._kept, reason=reason or "confirmed: it shall be kept"
        )

    async def recalled(self, scopes: Sequence[Scope], ids: Sequence[str]) -> None:
        """Promote those of the recalled short-term records that were recalled often enough."""
        found = await self._store.records(scopes, Filter(), now=self._clock.now(), ids=ids)
        enough = [
            record
            for record in found
            if record.tier is Tier.SHORT and record.access_count >= self._promote_at
        ]
        await self._clearing.do(PROMOTE, enough, SweepAccount(by=PROMOTION))

    def _kept(self, record: Record) -> Record:
        if record.status not in _PROMOTABLE:
            raise Conflict(
                f"{record.id} is {record.status}; only an active or expired record can be promoted",
                code="not_active",
                hint="Accept a quarantined record first; undo restores others.",
            )
        is_kept = record.tier is Tier.LONG and record.expires_at is None
        if is_kept and record.status is Status.ACTIVE:
            return record
        return after(record, "promote", self._clock.now())


class Buffer:
    """Reads the buffer."""

    def __init__(self, reader: SqlRetention, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock

    async def entries(self, caller: Caller) -> tuple[Record, ...]:
        """Return the short-term records, newest and most important first."""
        held = await self._reader.select(
            Selection(scopes=caller.readable, tier=Tier.SHORT, expires_after=self._clock.now())
        )
        return tuple(sorted(held, key=buffer_score, reverse=True))


# --- Review records in quarantine -----------------------------------------------------------------


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
            checked_content(content)

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
