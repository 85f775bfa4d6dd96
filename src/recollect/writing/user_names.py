"""The names of a user, set by a caller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recollect.domain.fields import MAX_LABEL, Draft, RecordFields, checked_text
from recollect.domain.filters import Filter
from recollect.domain.record import USER_PROFILE, Record
from recollect.domain.scope import Caller, namespace_of
from recollect.errors import InvalidInput
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.recall.user_names import FIELD, TAG
from recollect.writing.saver import Saver

_TITLE: Final = "Names of the user"


class Naming:
    """The service that keeps a user's names in one record of their profile."""

    def __init__(self, store: Store, saver: Saver, clock: Clock) -> None:
        self._store = store
        self._saver = saver
        self._clock = clock

    async def set(self, caller: Caller, names: Sequence[str]) -> Record:
        """Replace the names that were set before."""
        given = [checked_text(name, "names", MAX_LABEL) for name in names]
        if caller.scope.user is None or not given:
            raise InvalidInput(
                "Names are set for a user, and at least one is needed; nothing was changed",
                code="bad_names",
                hint='Set them as memory.scope(user="ann").set_user_names(["Ann"]).',
            )
        content = f"User is called {', '.join(given)}"
        metadata = {FIELD: given}
        place = caller.scope.of_user
        told = await self._store.records(
            [place], Filter(tags=frozenset({TAG})), now=self._clock.now()
        )
        before = next((record for record in told if record.title == _TITLE), None)
        if before is not None:
            fields = RecordFields(metadata=metadata)
            return await self._saver.update(caller, before.id, content, fields, reason="names set")
        draft = Draft(
            content=content, title=_TITLE, category=USER_PROFILE, tags=[TAG], metadata=metadata
        )
        (record,) = await self._saver.create(
            caller, [draft], namespace=namespace_of(place), reason="names set"
        )
        return record
