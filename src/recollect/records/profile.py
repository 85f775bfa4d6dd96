"""A person's choices about the profile: which records it shows."""

from __future__ import annotations

from recollect.domain.profile import hidden, with_tag, written_by
from recollect.domain.record import Record
from recollect.domain.scope import Caller
from recollect.ports.runtime import Clock
from recollect.recall.listing import Listing
from recollect.recall.profile import ProfileReader, is_of_profile
from recollect.writing.saver import Saver


class ProfileKeeper:
    """Shows records in the profile, or hides them from it."""

    def __init__(
        self, listing: Listing, saver: Saver, profiles: ProfileReader, clock: Clock
    ) -> None:
        self._listing = listing
        self._saver = saver
        self._profiles = profiles
        self._clock = clock

    async def show(self, caller: Caller, record_id: str, *, shown: bool) -> Record:
        """Show a record in the profile, whatever its facet and origin, or hide it."""
        stored = await self._listing.get(caller, record_id)
        is_own = await self._profiles.is_own(caller, stored)

        def change(record: Record) -> Record:
            metadata = hidden(record.metadata, is_hidden=not shown)
            if shown and not is_own:
                # A person vouches for the words.
                metadata = written_by(metadata, "person")
            tags = with_tag(record.tags, shown and not is_of_profile(record))
            after = record.evolve(tags=tags, metadata=metadata)
            if after == record:
                return record
            return after.evolve(updated_at=self._clock.now(), version=record.version + 1)

        reason = "shown in the profile" if shown else "hidden from the profile"
        return await self._saver.revise(caller, record_id, change, reason=reason)
