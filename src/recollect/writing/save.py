"""Saving and changing records: checked first, then written in one transaction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, cast

from recollect.domain.category import USER_PROFILE, is_user_profile
from recollect.domain.change import ChangeSet, Idempotency, RecordChange
from recollect.domain.fields import (
    MAX_TITLE,
    Draft,
    RecordFields,
    checked_text,
    new_record,
    revised,
)
from recollect.domain.filters import Filter
from recollect.domain.record import Record, Status
from recollect.domain.scope import Caller, Scope
from recollect.errors import StaleVersion
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.recall.listing import Listing
from recollect.text.searchable import record_text, record_units

_ANY_STATUS: Final = Filter(statuses=frozenset(Status))
_ATTEMPTS: Final = 5


class Saver:
    """Creates records and makes new versions of them."""

    def __init__(self, store: Store, listing: Listing, clock: Clock) -> None:
        self._store = store
        self._listing = listing
        self._clock = clock

    async def create(
        self,
        caller: Caller,
        drafts: Sequence[Draft],
        *,
        namespace: str | tuple[str, str] | None = None,
        idempotency_key: str | None = None,
        reason: str = "",
    ) -> tuple[Record, ...]:
        """Save new records together: all of them, or none."""
        now = self._clock.now()
        records = tuple(_drafted(caller, draft, namespace, now) for draft in drafts)
        if not records:
            return ()
        committed = await self._store.commit(
            ChangeSet(
                principal=caller.principal,
                scope=caller.scope,
                records=tuple(RecordChange(record=record, reason=reason) for record in records),
                units=tuple(record_units(record) for record in records),
                idempotency=idempotency(
                    idempotency_key,
                    {"save": [*drafts], "namespace": namespace},
                    {"ids": [record.id for record in records]},
                ),
            )
        )
        if committed.replayed is not None:
            return await self._saved_before(caller, cast("list[str]", committed.replayed["ids"]))
        return tuple(record.evolve(recorded_at=committed.recorded_at) for record in records)

    async def update(
        self,
        caller: Caller,
        record_id: str,
        content: str | None,
        fields: RecordFields,
        *,
        expected_version: int | None = None,
        reason: str = "",
    ) -> Record:
        """Change some fields of a record; the version before stays in its history."""

        def change(record: Record) -> Record:
            if expected_version is not None and record.version != expected_version:
                raise StaleVersion(
                    f"{record_id} is at version {record.version}, not {expected_version}",
                    hint="Read the record again and repeat the change.",
                )
            return revised(record, content, fields, self._clock.now())

        is_certain = expected_version is not None
        return await self.revise(caller, record_id, change, reason=reason, once=is_certain)

    async def revise(
        self,
        caller: Caller,
        record_id: str,
        change: Callable[[Record], Record],
        *,
        reason: str,
        even_deleted: bool = False,
        once: bool = False,
    ) -> Record:
        """Apply `change` to the newest version, again when somebody else was faster."""
        for attempt in range(_ATTEMPTS):
            before = await self._listing.get(caller, record_id, even_deleted=even_deleted)
            after = change(before)
            for state in (before, after):
                caller.require_write(state.scope, is_profile=is_user_profile(state.category))
            try:
                return await self._write_version(caller, before, after, reason)
            except StaleVersion:
                if once or attempt == _ATTEMPTS - 1:
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def _write_version(
        self, caller: Caller, before: Record, after: Record, reason: str
    ) -> Record:
        is_searched_alike = before.is_live == after.is_live and (
            record_text(before) == record_text(after) and before.observed_at == after.observed_at
        )
        committed = await self._store.commit(
            ChangeSet(
                principal=caller.principal,
                scope=caller.scope,
                records=(RecordChange(record=after, reason=reason),),
                units=() if is_searched_alike else (record_units(after),),
            )
        )
        return after.evolve(recorded_at=committed.recorded_at)

    async def _saved_before(self, caller: Caller, ids: Sequence[str]) -> tuple[Record, ...]:
        found = await self._store.records(
            caller.readable, _ANY_STATUS, now=self._clock.now(), ids=ids
        )
        by_id = {record.id: record for record in found}
        return tuple(by_id[saved] for saved in ids if saved in by_id)


def idempotency(
    key: str | None, body: Mapping[str, Any], result: Mapping[str, Any]
) -> Idempotency | None:
    """The key with a hash of the request, so that another request under it is noticed."""
    if key is None:
        return None
    canonical = json.dumps(body, sort_keys=True, ensure_ascii=False, default=_plain)
    return Idempotency(
        key=checked_text(key, "idempotency_key", MAX_TITLE),
        body_hash=hashlib.sha256(canonical.encode()).hexdigest(),
        result=result,
    )


def _drafted(
    caller: Caller, draft: Draft, namespace: str | tuple[str, str] | None, now: datetime
) -> Record:
    fields = cast("dict[str, Any]", dict(draft))
    content = cast("str", fields.pop("content", ""))
    record = new_record(content, cast("RecordFields", fields), caller.scope, now)
    scope = _target(caller, record, namespace)
    caller.require_write(scope, is_profile=is_user_profile(record.category))
    return record.evolve(scope=scope)


def _target(caller: Caller, record: Record, namespace: str | tuple[str, str] | None) -> Scope:
    """Where a new record belongs: a user profile to the user, anything else to the caller."""
    if namespace is not None:
        return caller.namespace(namespace)
    is_for_user = record.category == USER_PROFILE and caller.scope.user is not None
    return caller.scope.of_user if is_for_user else caller.scope


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return repr(value)
