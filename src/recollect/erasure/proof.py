"""The proof that something is forgotten: no store and no file says it any more.

Terms of it are taken before it goes. Afterwards, those that other memory says too are put aside,
since they prove nothing; of the rest no trace may be left anywhere, in whatever form.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import numpy as np
from sqlalchemy import Column, ColumnElement, Connection, String, Table, func, or_, select

from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.journaled_database import journal_of
from recollect.backends.sql.schema import metadata
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.domain.forgetting import Remains, Target, Verification
from recollect.domain.item import texts_in
from recollect.erasure import raw_search
from recollect.erasure.raw_search import (
    ManyPatterns,
    keys_of,
    spellings,
    spellings_of_key,
    written_forms,
)
from recollect.erasure.targets import Found, find
from recollect.errors import StorageError, StoreAway
from recollect.ports.archives import Blobs
from recollect.ports.copies import Copies
from recollect.ports.erasure import Mementos

_MOST_TERMS: Final = 200
_PHRASES: Final = 2
_MOST_ROWS: Final = 400
_UNITS: Final = 20_000
_ROWS: Final = 2_000
_VECTOR_BYTES: Final = 24
# A word long enough to be told apart, or a few characters of a script without spaces.
_TERM: Final = re.compile(r"[\u3040-\u9fff]{3,8}|[^\W_\u3040-\u9fff][\w.\-]{5,39}")
# A text in one piece, up to what is spelled otherwise within JSON.
_PHRASE: Final = re.compile(r"[^\x00-\x1f\"\\/\x7f]{4,80}")
_FEWEST_BYTES: Final = 4
# A few digits are in any file by chance: in keys, hashes and times. Stores are searched for them.
_BY_CHANCE: Final = re.compile("[0-9a-f]{1,9}")
# What people said and saved; terms are taken from these columns.
_SAID: Final[Mapping[Table, Sequence[str]]] = {
    schema.records: ("content", "title", "description", "tags", "metadata", "details", "reason"),
    schema.versions: ("body",),
    schema.turns: ("content", "payload"),
    schema.archives: ("query", "summary", "input"),
    schema.proposals: ("content", "title", "reason"),
    schema.documents: ("title", "source", "summary"),
    schema.sections: ("text",),
    schema.items: ("namespace", "key", "value"),
}
# Their rows as JSON hold more than what was said.
_SAID_IN_BODY: Final = ("content", "title", "description", "tags", "metadata", "details", "reason")
_HELD: Final = (*_SAID, schema.record_tags)


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedTerms:
    """What a proof searches for after the erasure."""

    texts: list[str]
    contents: list[str]
    vectors: frozenset[bytes]
    scopes: tuple[int, ...]


def collect_terms(connection: Connection, found: Found) -> CollectedTerms:
    """Texts, keys of contents and vectors of what is to go; of very much a part."""
    texts = [
        told
        for table, columns in _SAID.items()
        for row in connection.execute(
            select(*(table.c[name] for name in columns))
            .where(_goes(table, found))
            .limit(_MOST_ROWS)
        )
        for told in _told(table, row)
    ]
    archives, documents, blobs = schema.archives.c, schema.documents.c, schema.blobs.c
    of_archives = (
        select(blobs.key)
        .join(schema.archives, archives.content_hash == blobs.hash)
        .where(_goes(schema.archives, found))
        .limit(_MOST_ROWS)
    )
    of_documents = (
        select(blobs.key)
        .join(schema.documents, blobs.hash.in_([documents.content_hash, documents.pending_hash]))
        .where(_goes(schema.documents, found))
        .limit(_MOST_ROWS)
    )
    contents = [*connection.scalars(of_archives), *connection.scalars(of_documents)]
    units, vectors = schema.units.c, schema.vectors.c
    its = or_(units.scope_id.in_(found.whole), units.owner_id.in_(sorted(found.ids)))
    beginnings = (
        select(func.substr(vectors.vector, 1, _VECTOR_BYTES))
        .join(schema.units, units.id == vectors.unit_id)
        .where(its)
        .limit(_MOST_TERMS)
    )
    return CollectedTerms(
        texts=texts,
        contents=contents,
        vectors=frozenset(connection.scalars(beginnings)),
        scopes=(*found.whole, *found.related),
    )


def distinctive_terms(texts: Iterable[str]) -> frozenset[str]:
    """Each text as it is and words of it, the longest first, as many as can be searched for."""
    by_text = [
        [*_phrases(text), *sorted(set(_TERM.findall(text)), key=len, reverse=True)]
        for text in texts
    ]
    chosen: dict[str, None] = {}
    for row in zip_longest(*by_text):
        for term in row:
            if term is not None and len(chosen) < _MOST_TERMS:
                chosen[term] = None
    return frozenset(chosen)


def _phrases(text: str) -> list[str]:
    """Return the longest pieces of a text: "Ann has HIV" has no word that tells it from others."""
    pieces = {it.strip() for it in _PHRASE.findall(text)}
    telling = [piece for piece in pieces if len(piece.encode(errors="replace")) >= _FEWEST_BYTES]
    return sorted(telling, key=lambda it: (-len(it), it))[:_PHRASES]


def kept_by_others(connection: Connection, mementos: Mementos) -> dict[str, str]:
    """Return terms held by other memory or used by the database itself, each with its place."""
    aside: dict[str, str] = {}
    for table in metadata.tables.values():
        for columns, where in _said_elsewhere(table, mementos.scopes):
            left = mementos.terms - aside.keys()
            aside |= dict.fromkeys(_found(connection, columns, left, *where), PLACES[table.name])
    for term in mementos.terms - aside.keys():
        if dialect_of(connection).says(connection, term):
            aside[term] = "a word of the database itself"
    return aside


def traces_in_tables(
    connection: Connection, terms: Sequence[str], keys: Mapping[int, str]
) -> list[Remains]:
    """Return terms left in derived data: states, traces, the audit, jobs, the index."""
    left = [
        in_table(term, table.name)
        for table in metadata.tables.values()
        if table not in _HELD
        for term in _found(connection, [it for it in _texts_of(table) if _is_content(it)], terms)
    ]
    left += [
        in_table(keys[key], "unit_tokens")
        for key in sorted(dialect_of(connection).used_keys(connection, keys))
    ]
    return left


def patterns(
    connection: Connection, terms: Sequence[str], keys: Mapping[int, str], mementos: Mementos
) -> dict[bytes, str]:
    """Return the patterns to search files for, each with its term."""
    wanted = {
        spelled: term
        for term in terms
        if not _BY_CHANCE.fullmatch(term)
        for spelled in spellings(term)
    }
    for key, term in keys.items():
        wanted |= dict.fromkeys(spellings_of_key(key), f"{term} (its key)")
    table = schema.vectors.c.vector
    for beginning in mementos.vectors:
        same = select(schema.vectors.c.unit_id).where(
            func.substr(table, 1, _VECTOR_BYTES) == beginning
        )
        if connection.scalar(same.limit(1)) is None:
            wanted[beginning] = "a vector"
    return wanted


def _said_elsewhere(
    table: Table, own: Collection[int]
) -> Iterator[tuple[list[Column[Any]], list[ColumnElement[bool]]]]:
    """What others say in a table: all of it that is nobody's or is still held, and what was made
    of it in other scopes."""
    columns = _texts_of(table)
    plain = [column for column in columns if table in _HELD or not _is_content(column)]
    yield plain, []
    if "scope_id" in table.c:
        yield (
            [column for column in columns if column not in plain],
            [table.c.scope_id.not_in(sorted(own))],
        )


def _found(
    connection: Connection,
    columns: Sequence[Column[Any]],
    terms: Iterable[str],
    *where: ColumnElement[bool],
) -> list[str]:
    """Return those of the terms that columns of a table have, read once for all of them."""
    wanted = {form.encode(): term for term in sorted(terms) for form in written_forms(term)}
    found: dict[str, None] = {}
    if not columns or not wanted:
        return []
    patterns = ManyPatterns(wanted)
    for rows in connection.execute(select(*columns).where(*where)).partitions(_ROWS):
        said = "\n".join(text for row in rows for text in row if text)
        seen = {wanted[it] for it in patterns.find(said.encode(errors="surrogatepass"))}
        if seen - found.keys():
            found |= dict.fromkeys(sorted(seen))
            # What everybody says is not looked for in every row.
            patterns = ManyPatterns(it for it, term in wanted.items() if term not in found)
    return list(found)


def unused_keys(connection: Connection, terms: Iterable[str]) -> dict[int, str]:
    """Return the keys of terms that no unit has, each with its term."""
    keys = {key: term for term in terms for key in keys_of(term)}
    wanted = np.array(sorted(keys), np.uint64)
    units, last = schema.units.c, -1
    page = select(units.id, units.terms).order_by(units.id).limit(_UNITS)
    while rows := connection.execute(page.where(units.id > last)).all():
        last = rows[-1].id
        used = np.frombuffer(b"".join(row.terms for row in rows), "<u8")
        for key in wanted[np.isin(wanted, used)].tolist():
            keys.pop(key, None)
    return keys


def _goes(table: Table, found: Found) -> ColumnElement[bool]:
    ids = [
        ident
        for part in found.parts.values()
        for ident in (*part.records, *part.turns, *part.archives, *part.documents, *part.proposals)
    ]
    if table is schema.sections:
        its = schema.documents.c
        goes = select(its.id).where(or_(its.scope_id.in_(found.whole), its.id.in_(ids)))
        return table.c.document_id.in_(goes)
    named = table.c.record_id if table is schema.versions else table.c.id
    return or_(table.c.scope_id.in_(found.whole), named.in_(ids))


def _told(table: Table, row: Any) -> Iterator[str]:
    """Yield the texts of a row, each in lines of its own, without what only describes them."""
    if table is schema.versions:
        body = json.loads(row.body)
        yield "\n".join(texts_in([_loaded(body[name]) for name in _SAID_IN_BODY]))
    else:
        yield "\n".join(texts_in([_loaded(it) for it in row]))


def _loaded(value: Any) -> object:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _texts_of(table: Table) -> list[Column[Any]]:
    return [it for it in table.c if isinstance(it.type, String)]


def _is_content(column: Column[Any]) -> bool:
    return bool(column.info.get("content"))


# --- What the places where something may be left are called, for people ---------------------------


_INDEX: Final = "the search index"
PLACES: Final[Mapping[str, str]] = {
    "agents": "the settings of agents",
    "archives": "archived tool results",
    "audit": "the audit",
    "audit_chain": "the seals of the audit",
    "blobs": "the list of archived contents",
    "changes": "the list of changes",
    "conflicts": "conflicts between memories",
    "documents": "documents",
    "editions": _INDEX,
    "embedding_models": "the list of models",
    "followers": "how far derived stores are",
    "idempotency": "answers kept for repeated requests",
    "items": "what frameworks keep",
    "jobs": "work that waits",
    "keys": "the keys of the server",
    "links": "how memories relate",
    "metric_hours": "what was counted each hour",
    "proposals": "proposals to shared memory",
    "record_tags": "tags of memories",
    "records": "memories",
    "scopes": "names of users and agents",
    "sections": "texts of documents",
    "sign_ins": "who is signed in",
    "state": "what sessions keep",
    "tombstones": "the list of what was forgotten",
    "turns": "conversations",
    "unit_tokens": _INDEX,
    "units": _INDEX,
    "vectors": "vectors",
    "versions": "earlier versions of memories",
    "watermarks": "how far conversations are read",
    "writes": "traces of how memories were written",
}


def in_table(term: str, table: str) -> Remains:
    """Something that is left in a table."""
    return Remains(term=term, place=PLACES[table], detail=table)


def in_file(term: str, path: Path, at: int, database: Path) -> Remains:
    """Something that is left in a file, from this byte on."""
    return Remains(term=term, place=file_words(path, database), detail=f"{path.name}:{at}")


def file_words(path: Path, database: Path) -> str:
    """Return the name of a kind of file, for people."""
    match path.name.removeprefix(database.name):
        case "":
            return "the database file"
        case "-wal" | "-shm":
            return "what the database has not put in its file yet"
        case _:
            return f"the file {path.name}"


# --- The proof itself -----------------------------------------------------------------------------

_MOST_CONTENTS = 10
_OUT_OF_REACH = "the files, logs and backups of the database server, which were not searched"
_OUT_OF_REACH_BESIDE = "the snapshots and logs on the disk of {}, which were not searched"


async def _search_store(store: Copies, wanted: Mapping[bytes, str]) -> list[Remains]:
    """Search everything that a derived store holds."""
    patterns = ManyPatterns(wanted)
    return [
        Remains(term=wanted[pattern], place=store.name, detail=place)
        async for place, content in store.contents()
        for pattern in patterns.find(content)
    ]


async def _strays(store: Copies) -> list[Remains]:
    """Return what a derived store has that the database does not have."""
    try:
        count = await store.strays()
    except StoreAway as problem:
        return [Remains(term="unknown: it could not be searched", place=str(problem))]
    its = f"{count:,} entries that the database does not have"
    return [Remains(term=its, place=store.name)] if count else []


@dataclass(eq=False)
class SqlProof:
    """Searches a SQL database, its files, the blob store and other files for what was forgotten."""

    _database: Database
    _blobs: Blobs
    _other_files: Callable[[], Sequence[Path]]
    _stores: Sequence[Copies] = ()

    async def remember(self, target: Target) -> Mementos:
        """Return what to search for, collected before it is erased; a sample if it is very much."""

        def read(connection: Connection) -> CollectedTerms:
            return collect_terms(connection, find(connection, target))

        taken = await self._database.read(read)
        texts = [*taken.texts]
        # A blob store that is away does not keep anybody from forgetting.
        with contextlib.suppress(StorageError):
            texts += [await self._content(key) for key in taken.contents[:_MOST_CONTENTS]]
        if target.person is not None:
            texts.append(target.person.name)
        return Mementos(
            terms=distinctive_terms(texts), vectors=taken.vectors, scopes=frozenset(taken.scopes)
        )

    async def verify(self, mementos: Mementos) -> Verification:
        """Return where any of it is still found."""
        aside = await self._database.read(lambda it: kept_by_others(it, mementos))
        traces, contents = await self._search_contents(mementos, aside)
        silent = sorted(mementos.terms - aside.keys())

        def search(connection: Connection) -> tuple[dict[bytes, str], list[Remains]]:
            keys = unused_keys(connection, silent)
            wanted = patterns(connection, silent, keys, mementos)
            return wanted, traces_in_tables(connection, silent, keys)

        database = self._database.path
        wanted, found = await self._database.read(search)
        traces += found
        where = f" in {self._blobs.name}" if "://" in self._blobs.name else ""
        searched = [*dict.fromkeys(PLACES.values()), f"{contents:,} archived contents{where}"]
        for store in self._stores:
            traces += await _search_store(store, wanted)
            traces += await _strays(store)
            searched.append(store.name)
        for path in self._places():
            search_in = raw_search.search_log if ".log" in path.name else raw_search.search_file
            places = await asyncio.to_thread(search_in, path, wanted)
            traces += [in_file(it, path, at, database) for it, at in places.items()]
            searched.append(file_words(path, database))
        for name, content in await asyncio.to_thread(lambda: [*self._database.ledger.contents()]):
            place = f"the file {name}"
            found_in = ManyPatterns(wanted).find(content)
            traces += [Remains(term=wanted[it], place=place, detail=name) for it in found_in]
            searched.append(place)
        copies = [it.name for it in database.parent.glob(f"{database.name}.before-restore*")]
        if not isinstance(self._database, SqliteDatabase):
            copies.append(_OUT_OF_REACH)
        copies += [_OUT_OF_REACH_BESIDE.format(store.name) for store in self._stores]
        return Verification(
            terms=len(silent),
            searched=tuple(dict.fromkeys(searched)),
            traces=tuple(traces),
            also_said=aside,
            copies=tuple(sorted(copies)),
        )

    async def _search_contents(
        self, mementos: Mementos, aside: dict[str, str]
    ) -> tuple[list[Remains], int]:
        """Search every content in the blob store. What an archive has is said by its owner."""
        keys = select(schema.blobs.c.key)
        needed = set(await self._database.read(lambda it: it.scalars(keys).all()))
        patterns = ManyPatterns(it.encode() for it in mementos.terms - aside.keys())
        traces: list[Remains] = []
        count = 0
        async for key, content in self._contents(needed):
            count += 1
            for pattern in patterns.find(content.encode()):
                term = pattern.decode()
                if key in needed:
                    aside.setdefault(term, PLACES["archives"])
                elif term not in aside:
                    traces.append(Remains(term=term, place="an archived content", detail=key))
        return traces, count

    async def _contents(self, needed: set[str]) -> AsyncIterator[tuple[str, str]]:
        for key in needed | {blob.key async for blob in self._blobs.stored()}:
            yield key, await self._content(key)

    async def _content(self, key: str) -> str:
        from recollect.domain.compression import ZstdError, pieces_of

        stored = await self._blobs.get(key) or b""
        # What is damaged, so that nobody can read it, is searched as it is.
        with contextlib.suppress(ZstdError):
            stored = b"".join(pieces_of(stored))
        return stored.decode(errors="replace")

    def _places(self) -> list[Path]:
        database = self._database.path
        own = [database, *(database.with_name(database.name + it) for it in ("-wal", "-shm"))]
        own.append(journal_of(database))
        return [it for it in (*own, *self._other_files()) if it.is_file()]
