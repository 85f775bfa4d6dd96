"""Change many records, each on its own, so that one failure does not stop the others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final, cast

from recollect.domain.fields import MAX_LABEL, RecordFields, checked_items, checked_text, revised
from recollect.domain.record import Record
from recollect.domain.scope import Caller
from recollect.domain.upkeep import BulkChange, BulkFailure
from recollect.errors import Conflict, InvalidInput, NotAllowed, NotFound
from recollect.lifecycle.versions import Versions
from recollect.ports.runtime import Clock
from recollect.writing.replaced_turns import corrected
from recollect.writing.saver import Saver

_MAX_RECORDS: Final = 1_000


class Bulk:
    """Edits, tags and deletes records by id."""

    def __init__(self, saver: Saver, versions: Versions, clock: Clock) -> None:
        self._saver = saver
        self._versions = versions
        self._clock = clock

    async def update(
        self,
        caller: Caller,
        record_ids: Iterable[str],
        fields: RecordFields,
        *,
        add_tags: Iterable[str],
        remove_tags: Iterable[str],
        reason: str,
    ) -> BulkChange:
        """Set the same fields on records and add or remove tags; each gets a new version."""
        ids = _named(record_ids)
        added, removed = _tags(add_tags, "add_tags"), _tags(remove_tags, "remove_tags")
        if not (fields or added or removed):
            raise InvalidInput(
                "There is nothing to change", code="nothing_to_change", hint="Name a field."
            )

        def change(record: Record) -> Record:
            given = cast("RecordFields", dict(fields))
            if added or removed:
                tags = given.get("tags") or record.tags
                kept = (tag for tag in (*tags, *added) if tag not in removed)
                given["tags"] = list(dict.fromkeys(kept))
            return corrected(record, revised(record, None, given, self._clock.now()))

        return await _each(
            ids, lambda record_id: self._saver.revise(caller, record_id, change, reason=reason)
        )

    async def delete(self, caller: Caller, record_ids: Iterable[str], *, reason: str) -> BulkChange:
        """Hide records everywhere; `undo` restores each of them."""
        return await _each(
            _named(record_ids),
            lambda record_id: self._versions.delete(caller, record_id, reason=reason),
        )


async def _each(ids: Sequence[str], change: Callable[[str], Awaitable[Record]]) -> BulkChange:
    changed: list[Record] = []
    failed: list[BulkFailure] = []
    for record_id in ids:
        try:
            changed.append(await change(record_id))
        except (NotFound, NotAllowed, Conflict) as problem:
            failed.append(BulkFailure(id=record_id, code=problem.code, message=problem.message))
    return BulkChange(changed=tuple(changed), failed=tuple(failed))


def _named(record_ids: Iterable[str]) -> list[str]:
    ids = list(dict.fromkeys(checked_items(record_ids, "ids")))
    if not 1 <= len(ids) <= _MAX_RECORDS:
        raise InvalidInput(
            f"{len(ids):,} records are named; name 1 to {_MAX_RECORDS:,} at a time",
            code="too_many_items",
        )
    return ids


def _tags(given: Iterable[str], name: str) -> list[str]:
    return [checked_text(tag, name, MAX_LABEL) for tag in checked_items(given, name)]
