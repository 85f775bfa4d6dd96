"""Who erases which column. What is to be forgotten lies in scopes that nobody can ask for; batch
by batch all that is in them is deleted, each batch in a transaction of its own.

A test holds that every column marked as content in the schema has an eraser here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Integer,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    union_all,
    update,
)

from recollect.backends.sql import schema
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.dialects.base import KEY_BYTES
from recollect.backends.sql.full_text import take_out
from recollect.backends.sql.index_generations import drop_from_generation
from recollect.backends.sql.portable import InsertOrIgnore, listed, listed_numbers
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.rows import Row, rows_of, to_json
from recollect.backends.sql.schema import metadata
from recollect.backends.sql.scopes import lock_scopes
from recollect.domain.unit import ARCHIVE

_RECORDS: Final = 100
_TURNS: Final = 200
_ARCHIVES: Final = 50
_DOCUMENTS: Final = 5
_ROWS: Final = 2_000


@dataclass(slots=True)
class Batch:
    """One transaction's work: where to erase, and what was erased so far."""

    connection: Connection
    scopes: Sequence[int]
    forget_id: str
    now: int
    # Not so for a copy of what another store holds.
    is_forgotten: bool = True
    counts: Counter[str] = field(default_factory=Counter[str])
    blobs: list[str] = field(default_factory=list[str])

    @property
    def here(self) -> dict[str, str]:
        return {"scopes": to_json(list(self.scopes))}

    def delete(self, kind: str, table: Table, column: Column[Any], ids: Collection[Any]) -> None:
        """Delete the rows whose column is one of these."""
        are_numbers = isinstance(column.type, Integer)
        these = listed_numbers("ids") if are_numbers else listed("ids")
        gone = delete(table).where(column.in_(these))
        self.counts[kind] += self.connection.execute(gone, _ids(ids)).rowcount


_BURY: Final = PreparedStatement(InsertOrIgnore(schema.tombstones))
Eraser = Callable[[Batch], None]


def erase_records(batch: Batch) -> None:
    """Records with their versions, tags, conflicts, links and units."""
    table = schema.records
    ids = _first(batch, table, _RECORDS)
    if not ids:
        return
    _bury(batch, "record", ids)
    _erase_units(batch, ids)
    tags, versions = schema.record_tags, schema.versions
    batch.delete("tags", tags, tags.c.record_id, ids)
    batch.delete("versions", versions, versions.c.record_id, ids)
    conflicts = schema.conflicts.c
    either = or_(conflicts.first_id.in_(listed("ids")), conflicts.second_id.in_(listed("ids")))
    gone = batch.connection.execute(delete(schema.conflicts).where(either), _ids(ids))
    batch.counts["conflicts"] += gone.rowcount
    _erase_links(batch, ids)
    batch.delete("records", table, table.c.id, ids)


def _erase_links(batch: Batch, owners: Collection[str]) -> None:
    """Links at either end of which one of these is."""
    links = schema.links.c
    either = or_(links.newer.in_(listed("ids")), links.older.in_(listed("ids")))
    gone = batch.connection.execute(delete(schema.links).where(either), _ids(owners))
    batch.counts["links"] += gone.rowcount


def erase_turns(batch: Batch) -> None:
    """Turns with their links and units."""
    ids = _first(batch, schema.turns, _TURNS)
    if ids:
        _bury(batch, "turn", ids)
        _erase_units(batch, ids)
        _erase_links(batch, ids)
        batch.delete("turns", schema.turns, schema.turns.c.id, ids)


def erase_proposals(batch: Batch) -> None:
    """Proposals; that they were forgotten stays known, so that no import brings them back."""
    ids = _first(batch, schema.proposals, _RECORDS)
    if ids:
        _bury(batch, "proposal", ids)
        batch.delete("proposals", schema.proposals, schema.proposals.c.id, ids)


def erase_items(batch: Batch) -> None:
    """Items; that they were forgotten stays known, so that no import brings them back."""
    ids = _first(batch, schema.items, _TURNS)
    if ids:
        _bury(batch, "item", ids)
        batch.delete("items", schema.items, schema.items.c.id, ids)


def erase_archives(batch: Batch) -> None:
    """Archives with their units, and each content that nobody else in the workspace has."""
    table = schema.archives
    rows = _first_with_contents(batch, table, _ARCHIVES, table.c.content_hash)
    if rows:
        ids = [row["id"] for row in rows]
        _bury(batch, ARCHIVE, ids)
        _erase_units(batch, ids)
        batch.delete("archives", table, table.c.id, ids)
        _let_go_of_blobs(batch, rows, "content_hash")


def erase_documents(batch: Batch) -> None:
    """Documents with their sections and chunks, and each raw file that nobody else has."""
    table, sections = schema.documents, schema.sections
    hashes = (table.c.content_hash, table.c.pending_hash)
    rows = _first_with_contents(batch, table, _DOCUMENTS, *hashes)
    if rows:
        ids = [row["id"] for row in rows]
        _bury(batch, "document", ids)
        _erase_units(batch, ids)
        batch.delete("sections", sections, sections.c.document_id, ids)
        batch.delete("documents", table, table.c.id, ids)
        _let_go_of_blobs(batch, rows, "content_hash", "pending_hash")


def erase_rows(table: Table, kind: str) -> Eraser:
    """Rows that belong to a scope and to nothing else."""
    key = tuple(table.primary_key)
    gone = PreparedStatement(
        delete(table).where(*(it == bindparam(f"its_{it.name}", type_=it.type) for it in key))
    )

    def erase(batch: Batch) -> None:
        some = select(*key).where(table.c.scope_id.in_(listed_numbers("scopes"))).limit(_ROWS)
        rows = rows_of(batch.connection, some, batch.here)
        gone.run(batch.connection, [{f"its_{name}": row[name] for name in row} for row in rows])
        batch.counts[kind] += len(rows)

    return erase


def erased_at_once(batch: Batch) -> None:
    """Do nothing: these rows go in the first transaction, see `erasure.hide`."""


# What rows of a table are called when they are counted.
COUNTED: Final[Mapping[Table, str]] = MappingProxyType(
    {
        schema.records: "records",
        schema.turns: "turns",
        schema.archives: "archives",
        schema.documents: "documents",
        schema.writes: "traces",
        schema.proposals: "proposals",
        schema.conflicts: "conflicts",
        schema.links: "links",
        schema.state: "state",
        schema.items: "items",
        schema.watermarks: "watermarks",
        schema.idempotency: "requests",
    }
)
_SPECIAL: Final[Mapping[Table, Eraser]] = MappingProxyType(
    {
        schema.records: erase_records,
        schema.turns: erase_turns,
        schema.archives: erase_archives,
        schema.documents: erase_documents,
        schema.proposals: erase_proposals,
        schema.items: erase_items,
    }
)
STEPS: Final[Mapping[Table, Eraser]] = MappingProxyType(
    {table: _SPECIAL.get(table) or erase_rows(table, kind) for table, kind in COUNTED.items()}
)
_WITH_THEIR_OWNER: Final[Mapping[Table, Eraser]] = MappingProxyType(
    {
        schema.record_tags: erase_records,
        schema.versions: erase_records,
        schema.units: erase_records,
        schema.vectors: erase_records,
        schema.blobs: erase_archives,
        schema.sections: erase_documents,
    }
)
# Tables whose rows stay without these columns.
_BLANKED: Final = (
    *(schema.scopes.c.agent, schema.scopes.c.user),
    *(schema.audit.c.actor, schema.audit.c.payload, schema.audit.c.salt),
    *(schema.jobs.c.key, schema.jobs.c.payload, schema.jobs.c.last_error),
)
ERASERS: Final[Mapping[str, Eraser]] = MappingProxyType(
    {
        f"{table.name}.{it.name}": eraser
        for table, eraser in {**STEPS, **_WITH_THEIR_OWNER}.items()
        for it in table.c
    }
    | {f"{it.table.name}.{it.name}": erased_at_once for it in _BLANKED}
)


def content_columns() -> list[Column[Any]]:
    """Return the columns that hold what somebody said, or what was made of it."""
    return [it for table in metadata.tables.values() for it in table.c if it.info.get("content")]


def count_all(connection: Connection, scopes: Sequence[int]) -> Counter[str]:
    """Return how much there is to erase in these scopes: what the batches will count."""
    counts: Counter[str] = Counter()
    for table, kind in COUNTED.items():
        its = [table.c.scope_id.in_(listed_numbers("scopes"))]
        if table is schema.conflicts:
            its += [it.in_(_owners(schema.records)) for it in (table.c.first_id, table.c.second_id)]
        if table is schema.links:
            ends = union_all(*map(_owners, (schema.records, schema.turns)))
            its += [it.in_(ends) for it in (table.c.newer, table.c.older)]
        counts[kind] = _count(connection, table, or_(*its), scopes)
    of_records = _owners(schema.records)
    counts["versions"] = _count(
        connection, schema.versions, schema.versions.c.record_id.in_(of_records), scopes
    )
    counts["tags"] = _count(
        connection, schema.record_tags, schema.record_tags.c.record_id.in_(of_records), scopes
    )
    owners = union_all(
        *map(_owners, (schema.records, schema.turns, schema.archives, schema.documents))
    )
    of_owners = schema.units.c.owner_id.in_(owners)
    sections = schema.sections
    of_documents = sections.c.document_id.in_(_owners(schema.documents))
    counts["sections"] = _count(connection, sections, of_documents, scopes)
    counts["units"] = _count(connection, schema.units, of_owners, scopes)
    units = schema.vectors.c.unit_id.in_(select(schema.units.c.id).where(of_owners))
    counts["vectors"] = _count(connection, schema.vectors, units, scopes)
    counts["blobs"] = _count_blobs(connection, scopes)
    return +counts


def erase_some(batch: Batch) -> bool:
    """Erase the next of what is left; whether there was anything."""
    before = batch.counts.total()
    for erase in STEPS.values():
        erase(batch)
        if batch.counts.total() > before:
            return True
    return False


def _owners(table: Table) -> Select[Any]:
    return select(table.c.id).where(table.c.scope_id.in_(listed_numbers("scopes")))


def _count(
    connection: Connection, table: Table, which: ColumnElement[bool], scopes: Sequence[int]
) -> int:
    counted = select(func.count()).select_from(table).where(which)
    return connection.scalar(counted, {"scopes": to_json(list(scopes))}) or 0


def _count_blobs(connection: Connection, scopes: Sequence[int]) -> int:
    """Count the contents that only these archives and documents have."""
    archives, documents = schema.archives.c, schema.documents.c
    blobs, places = schema.blobs.c, schema.scopes.c
    pending = documents.pending_hash != documents.content_hash
    needed = union_all(
        select(archives.scope_id, archives.content_hash),
        select(documents.scope_id, documents.content_hash),
        select(documents.scope_id, documents.pending_hash).where(pending),
    ).subquery()
    same_place = and_(blobs.org == places.org, blobs.workspace == places.workspace)
    referred = (
        select(blobs.key)
        .select_from(needed)
        .join(schema.scopes, places.id == needed.c.scope_id)
        .join(schema.blobs, and_(same_place, blobs.hash == needed.c.content_hash))
        .where(needed.c.scope_id.in_(listed_numbers("scopes")))
        .group_by(blobs.key, blobs.reference_count)
        .having(func.count() >= blobs.reference_count)
    )
    return len(connection.execute(referred, {"scopes": to_json(list(scopes))}).all())


def _first(batch: Batch, table: Table, most: int) -> list[str]:
    some = select(table.c.id).where(table.c.scope_id.in_(listed_numbers("scopes"))).limit(most)
    return list(batch.connection.scalars(some, batch.here))


def _bury(batch: Batch, kind: str, ids: Iterable[str]) -> None:
    """Keep that these were forgotten, and not what they were."""
    if not batch.is_forgotten:
        return
    scope = select(schema.scopes).where(schema.scopes.c.id == batch.scopes[0])
    (row,) = rows_of(batch.connection, scope)
    stone = {"kind": kind, "org": row["org"], "workspace": row["workspace"]}
    stone |= {"forgotten_at": batch.now, "forget_id": batch.forget_id}
    _BURY.run(batch.connection, [{"id": it, **stone} for it in ids])


def _erase_units(batch: Batch, owners: Collection[str]) -> None:
    """Units with their terms, their vectors and their tokens in the full text."""
    table = schema.units.c
    if dialect_of(batch.connection).is_server:
        theirs = select(table.scope_id).where(table.owner_id.in_(listed("ids"))).distinct()
        lock_scopes(batch.connection, batch.connection.scalars(theirs, _ids(owners)).all())
    wanted = (
        select(table.id, table.scope_id, table.terms)
        .where(table.owner_id.in_(listed("ids")))
        .order_by(table.scope_id, table.id)
    )
    for scope_id, units in groupby(
        rows_of(batch.connection, wanted, _ids(owners)), key=itemgetter("scope_id")
    ):
        rows = list(units)
        ids = [row["id"] for row in rows]
        answering = drop_from_generation(batch.connection, scope_id, rows)
        terms = [(row["id"], row["terms"]) for row in answering]
        take_out(batch.connection, scope_id, terms)
        batch.delete("vectors", schema.vectors, schema.vectors.c.unit_id, ids)
        batch.delete("units", schema.units, table.id, ids)
        if scope_id not in batch.scopes and answering:
            _tell_followers(batch, scope_id, answering)


def _tell_followers(batch: Batch, scope_id: int, units: Sequence[Mapping[str, Any]]) -> None:
    """List the units of a scope that stays as removed, for whoever keeps them packed."""
    scopes = schema.scopes.c
    its = select(scopes.version).where(scopes.id == scope_id).with_for_update()
    version = batch.connection.scalar(its) or 0
    change = {"scope_id": scope_id, "version": version + 1, "entity": "unit", "op": "remove"}
    batch.connection.execute(
        insert(schema.changes),
        [{**change, "seq": seq, "id": str(row["id"])} for seq, row in enumerate(units)],
    )
    length = sum(len(row["terms"]) for row in units) // KEY_BYTES
    batch.connection.execute(
        update(schema.scopes)
        .where(scopes.id == scope_id)
        .values(
            version=version + 1,
            unit_count=scopes.unit_count - len(units),
            unit_length=scopes.unit_length - length,
        )
    )


def _first_with_contents(
    batch: Batch, table: Table, most: int, *hashes: Column[str]
) -> Sequence[Row]:
    """Return the first rows of a table with the hashes of their contents and their workspaces."""
    scopes = schema.scopes.c
    wanted = (
        select(table.c.id, *hashes, scopes.org, scopes.workspace)
        .join(schema.scopes, scopes.id == table.c.scope_id)
        .where(table.c.scope_id.in_(listed_numbers("scopes")))
        .limit(most)
    )
    return rows_of(batch.connection, wanted, batch.here)


def _let_go_of_blobs(batch: Batch, rows: Sequence[Row], *hashes: str) -> None:
    """Count fewer references to the contents of these rows; delete what nobody else has."""
    fewer = Counter(
        (row["org"], row["workspace"], content)
        for row in rows
        for content in {row[name] for name in hashes} - {""}
    )
    for (org, workspace, content), count in fewer.items():
        _let_go_of_blob(batch, org, workspace, content, count)


def _let_go_of_blob(batch: Batch, org: str, workspace: str, content: str, count: int) -> None:
    table = schema.blobs.c
    its = (table.org == org, table.workspace == workspace, table.hash == content)
    counted = select(table.key, table.reference_count).where(*its).with_for_update()
    row = batch.connection.execute(counted).one()
    if row.reference_count > count:
        fewer = table.reference_count - count
        batch.connection.execute(update(schema.blobs).where(*its).values(reference_count=fewer))
        return
    batch.connection.execute(delete(schema.blobs).where(*its))
    batch.blobs.append(row.key)
    batch.counts["blobs"] += 1


def _ids(values: Collection[Any]) -> dict[str, str]:
    return {"ids": to_json(list(values))}
