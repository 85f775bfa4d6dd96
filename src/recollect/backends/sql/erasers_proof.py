"""The proof that something is forgotten: no store and no file says it any more.

Terms of it are taken before it goes. Afterwards, those that other memory says too are put aside,
since they prove nothing; of the rest no trace may be left anywhere, in whatever form.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from sqlalchemy import Connection, select

from recollect.backends.sql import raw_search, schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.erasers_find import find
from recollect.backends.sql.erasers_terms import (
    PLACES,
    Taken,
    distinctive,
    file_words,
    in_file,
    kept_by_others,
    patterns,
    take,
    unused_keys,
)
from recollect.backends.sql.erasers_terms import traces as traces_in_tables
from recollect.backends.sql.journaled_database import journal_of
from recollect.backends.sql.raw_search import ManyPatterns
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.domain.forgetting import Remains, Target, Verification
from recollect.ports.archives import Blobs
from recollect.ports.erasure import Mementos

_MOST_CONTENTS = 10
_OUT_OF_REACH = "the files, logs and backups of the database server, which were not searched"


class SqlProof:
    """A `Proof` over a SQL database, its files, the blob store and other files, such as a log."""

    def __init__(
        self, database: Database, blobs: Blobs, other_files: Callable[[], Sequence[Path]]
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._other_files = other_files

    async def remember(self, target: Target) -> Mementos:
        def read(connection: Connection) -> Taken:
            return take(connection, find(connection, target))

        taken = await self._database.read(read)
        contents = [await self._content(key) for key in taken.contents[:_MOST_CONTENTS]]
        texts = [*taken.texts, *contents]
        if target.person is not None:
            texts.append(target.person.name)
        return Mementos(
            terms=distinctive(texts), vectors=taken.vectors, scopes=frozenset(taken.scopes)
        )

    async def verify(self, mementos: Mementos) -> Verification:
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
        searched = [*dict.fromkeys(PLACES.values()), f"{contents:,} archived contents"]
        for path in self._places():
            places = await asyncio.to_thread(raw_search.search_file, path, wanted)
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
        async for key, content in self._contents():
            count += 1
            for pattern in patterns.find(content.encode()):
                term = pattern.decode()
                if key in needed:
                    aside.setdefault(term, PLACES["archives"])
                elif term not in aside:
                    traces.append(Remains(term=term, place="an archived content", detail=key))
        return traces, count

    async def _contents(self) -> AsyncIterator[tuple[str, str]]:
        async for blob in self._blobs.stored():
            yield blob.key, await self._content(blob.key)

    async def _content(self, key: str) -> str:
        import zstandard

        stored = await self._blobs.get(key) or b""
        # What is damaged, so that nobody can read it, is searched as it is.
        with contextlib.suppress(zstandard.ZstdError):
            stored = zstandard.ZstdDecompressor().decompressobj().decompress(stored)
        return stored.decode(errors="replace")

    def _places(self) -> list[Path]:
        database = self._database.path
        own = [database, *(database.with_name(database.name + it) for it in ("-wal", "-shm"))]
        own.append(journal_of(database))
        return [it for it in (*own, *self._other_files()) if it.is_file()]
