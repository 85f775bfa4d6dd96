"""What a commit says to the database, built once.

Building and keying a statement costs more than running it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import (
    String,
    bindparam,
    case,
    delete,
    distinct,
    func,
    insert,
    or_,
    select,
    update,
)

from recollect.backends.sql import schema
from recollect.backends.sql.portable import (
    InsertOrIgnore,
    InsertOrReplace,
    count_where,
    listed,
    listed_numbers,
)
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.domain.unit import ARCHIVE

INSERT_RECORDS: Final = PreparedStatement(insert(schema.records))
INSERT_TAGS: Final = PreparedStatement(insert(schema.record_tags))
INSERT_VERSIONS: Final = PreparedStatement(insert(schema.versions))
INSERT_TRACES: Final = PreparedStatement(insert(schema.writes))
INSERT_TURNS: Final = PreparedStatement(insert(schema.turns))
INSERT_UNITS: Final = PreparedStatement(insert(schema.units))
INSERT_CHANGES: Final = PreparedStatement(insert(schema.changes))
# The number of an entry is given by the database, and its place in the chain when it is sealed.
INSERT_AUDIT: Final = PreparedStatement(
    insert(schema.audit).values(
        {
            name: bindparam(f"new_{name}")
            for name in ("scope_id", "at", "actor", "action", "target", "payload", "salt")
        }
    )
)
# A unit that two workers embedded at once keeps the newer of two equal vectors.
INSERT_VECTORS: Final = PreparedStatement(InsertOrReplace(schema.vectors))
_CLOSE_SCOPE: Final = (
    update(schema.scopes)
    .where(schema.scopes.c.id == bindparam("new_id"))
    .values(
        version=bindparam("new_version"),
        next_unit=bindparam("new_next_unit"),
        unit_count=schema.scopes.c.unit_count + bindparam("new_units"),
        unit_length=schema.scopes.c.unit_length + bindparam("new_length"),
        model_id=bindparam("new_model"),
        full_text_to=bindparam("new_full_text_to"),
    )
)
CLOSE_SCOPE: Final = PreparedStatement(_CLOSE_SCOPE)
# The same of a scope that still has its name and was not written to since it was left so.
CLOSE_SCOPE_AS_LEFT: Final = PreparedStatement(
    _CLOSE_SCOPE.where(
        *(
            schema.scopes.c[name].is_not_distinct_from(bindparam(f"left_{name}"))
            for name in (
                *("org", "workspace", "agent", "user", "version", "next_unit", "model_id"),
                *("full_text_to", "first_unit"),
            )
        )
    )
)
# How often a record was used is counted on its own, see `uses`; a new version leaves it alone.
_COUNTED: Final = ("access_count", "last_accessed", "helped", "rejected")
CHANGING: Final = [
    column.name for column in schema.records.c if column.name not in ("id", *_COUNTED)
]
COUNT_ACCESSES: Final = PreparedStatement(
    update(schema.records)
    .where(schema.records.c.id == bindparam("new_id"))
    .values(
        access_count=schema.records.c.access_count + bindparam("new_count"),
        last_accessed=bindparam("new_at"),
    )
)
UPDATE_RECORD: Final = PreparedStatement(
    update(schema.records)
    .where(schema.records.c.id == bindparam("new_id"))
    .values({name: bindparam(f"new_{name}") for name in CHANGING})
)
RECORD_IN_SCOPE: Final = PreparedStatement(
    select(schema.records).where(
        schema.records.c.id == bindparam("record"), schema.records.c.scope_id == bindparam("scope")
    )
)
LAST_RECORDED: Final = PreparedStatement(
    select(func.max(schema.records.c.recorded_at)).where(schema.records.c.id.in_(listed("ids")))
)
# How many versions of a scope are on the list of its changes, and how many of these changed a
# record or took something away.
CHANGES_SINCE: Final = PreparedStatement(
    select(
        func.count(distinct(schema.changes.c.version)),
        count_where(or_(schema.changes.c.entity == "record", schema.changes.c.op == "purge")),
    ).where(
        schema.changes.c.scope_id == bindparam("scope"),
        schema.changes.c.version > bindparam("expected"),
        schema.changes.c.version <= bindparam("found"),
    )
)
LAST_ORDINAL: Final = PreparedStatement(
    select(func.max(schema.turns.c.ordinal)).where(
        schema.turns.c.scope_id == bindparam("scope"), schema.turns.c.session == bindparam("place")
    )
)
READ_TURN: Final = PreparedStatement(
    select(schema.turns.c.id)
    .where(
        schema.turns.c.scope_id == bindparam("scope"),
        schema.turns.c.session == bindparam("place"),
        schema.turns.c.ordinal <= bindparam("last"),
    )
    .limit(1)
)
WATERMARK: Final = PreparedStatement(
    select(schema.watermarks.c.ordinal).where(
        schema.watermarks.c.scope_id == bindparam("scope"),
        schema.watermarks.c.session == bindparam("place"),
    )
)
INSERT_WATERMARK: Final = PreparedStatement(insert(schema.watermarks))
RAISE_WATERMARK: Final = PreparedStatement(
    update(schema.watermarks)
    .where(
        schema.watermarks.c.scope_id == bindparam("new_scope_id"),
        schema.watermarks.c.session == bindparam("new_session"),
    )
    .values(ordinal=bindparam("new_ordinal"), updated_at=bindparam("new_updated_at"))
)
_SAME_JOB: Final = (
    schema.jobs.c.kind == bindparam("new_kind"),
    schema.jobs.c.key == bindparam("new_key"),
)
# Locked, so that nobody ends it before it is asked for again.
SAME_JOB: Final = PreparedStatement(select(schema.jobs.c.id).where(*_SAME_JOB).with_for_update())
# Somebody may add the same one at the same moment: then theirs is there.
INSERT_JOB: Final = PreparedStatement(InsertOrIgnore(schema.jobs))
REPEAT_JOB: Final = PreparedStatement(
    update(schema.jobs)
    .where(*_SAME_JOB)
    .values(
        {
            **{
                name: bindparam(f"new_{name}")
                for name in ("payload", "run_after", "attempts", "gave_up")
            },
            # Whoever runs it now keeps its lease.
            "lease_owner": case(
                (
                    schema.jobs.c.lease_until <= bindparam("new_now"),
                    bindparam("new_holder", type_=String()),
                ),
                else_=schema.jobs.c.lease_owner,
            ),
        }
    )
)
# The version of an owner of units; those that never change have none.
CURRENT: Final = {
    kind: PreparedStatement(select(version).where(ident == bindparam("owner")))
    for kind, ident, version in (
        ("record", schema.records.c.id, schema.records.c.version),
        ("turn", schema.turns.c.id, schema.turns.c.id),
        (ARCHIVE, schema.archives.c.id, schema.archives.c.id),
        ("document", schema.documents.c.id, schema.documents.c.version),
    )
}
UNITS_OF_OWNER: Final = PreparedStatement(
    select(schema.units.c.id, schema.units.c.scope_id, schema.units.c.terms).where(
        schema.units.c.owner_id == bindparam("owner")
    )
)
DELETE_UNITS_OF_OWNER: Final = PreparedStatement(
    delete(schema.units).where(schema.units.c.owner_id == bindparam("owner"))
)
# Adding nothing keeps SQLite from walking the scope's index instead of looking up the ids.
OWNERS_OF_UNITS: Final = PreparedStatement(
    select(schema.units.c.id, schema.units.c.owner_id).where(
        schema.units.c.id.in_(listed_numbers("units")),
        schema.units.c.scope_id + 0 == bindparam("scope"),
    )
)


def prefixed(row: Mapping[str, Any]) -> dict[str, Any]:
    """Bind names that do not collide with column names in an UPDATE."""
    return {f"new_{name}": value for name, value in row.items()}
