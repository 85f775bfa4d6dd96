"""What a caller wants saved, as a record in the scope where it belongs."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

from recollect.domain.category import USER_PROFILE, is_user_profile
from recollect.domain.fields import Draft, RecordFields, new_record
from recollect.domain.record import Record
from recollect.domain.scope import Caller, Scope

Namespace = str | tuple[str, str]


def drafted(caller: Caller, draft: Draft, namespace: Namespace | None, now: datetime) -> Record:
    """A new record, checked, where this caller may write it."""
    fields = cast("dict[str, Any]", dict(draft))
    content = cast("str", fields.pop("content", ""))
    record = new_record(content, cast("RecordFields", fields), caller.scope, now)
    scope = _target(caller, record, namespace)
    caller.require_write(scope, is_profile=is_user_profile(record.category))
    return record if scope == record.scope else record.evolve(scope=scope)


def _target(caller: Caller, record: Record, namespace: Namespace | None) -> Scope:
    """Where a new record belongs: a user profile to the user, anything else to the caller."""
    if namespace is not None:
        return caller.namespace(namespace)
    is_for_user = record.category == USER_PROFILE and caller.scope.user is not None
    return caller.scope.of_user if is_for_user else caller.scope
