"""Remove what SQLite leaves behind in its files after rows are deleted.

With `secure_delete` SQLite overwrites what it deletes. But when it moves rows from page to page to
keep its trees in balance, copies stay in the unused room of the old pages, and these outlive the
rows. There are two ways to remove them:

- `rewrite`, the default: `VACUUM` writes the database anew, and the log is emptied into it. Others
  cannot write meanwhile.
- `overwrite`, opt-in: every byte of the live file that belongs to no row is set to zero, in the
  gaps between rows and in free pages. Others go on writing. The whole file is read, and once more
  if others wrote meanwhile: SQLite may have moved a page that was not read yet to a place that was.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from recollect.erasure.raw_search import RawFile
from recollect.ports.erasure import Cleaning

# How long somebody else may be waited for, and how often.
_PATIENCE: Final = 0.2
_ATTEMPTS: Final = 8
_PAGES_AT_ONCE: Final = 1_000
_PASSES: Final = 2
_HEADER: Final = 100
# Up to this size VACUUM needs no file beside the database, only memory.
_MAX_BYTES_IN_MEMORY: Final = 64 << 20
_INNER, _LEAVES = frozenset({2, 5}), frozenset({10, 13})
# With fewer pages, the first byte of a page that is not part of a tree is never one of those.
_MOST_PAGES: Final = 1 << 25

# Changed and changed back: nothing is different afterwards, and it was written all the same.
_TOUCHES: Final = (
    "UPDATE alembic_version SET version_num = '-' || version_num",
    "UPDATE alembic_version SET version_num = substr(version_num, 2)",
)

Range = tuple[int, int]

_log = logging.getLogger(__name__)


def rewrite(database: Path) -> Cleaning:
    """Write the database anew without remains and empty the log, unless others are in the way.

    A disk too full for it counts as being in the way: it is tried again later.
    """
    with closing(sqlite3.connect(database, timeout=_PATIENCE, isolation_level=None)) as connection:
        if database.stat().st_size <= _MAX_BYTES_IN_MEMORY:
            connection.execute("PRAGMA temp_store = MEMORY")
        is_rewritten = False
        for _ in range(_ATTEMPTS):
            is_rewritten = is_rewritten or _vacuum(connection)
            if is_rewritten and empty_log(connection):
                return "done"
            time.sleep(_PATIENCE / 2)
    return "waits"


def _vacuum(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("VACUUM")
    except sqlite3.OperationalError as problem:
        _log.info("the database is not rewritten yet: %s", problem)
        return False
    return True


def overwrite(database: Path) -> Cleaning:
    """Empty the log and overwrite all unused room, unless others are in the way all the time."""
    with closing(sqlite3.connect(database, timeout=_PATIENCE, isolation_level=None)) as connection:
        passes = 0
        for _ in range(_ATTEMPTS):
            if empty_log(connection):
                pages = Pages(database)
                if pages.are_too_many:
                    return "too_large"
                if passes >= _PASSES:
                    return "done"
                before = _data_version(connection)
                if _overwrite_all(connection, database, _dirty_pages(pages)):
                    passes += 1 if _data_version(connection) != before else _PASSES
                    continue
            time.sleep(_PATIENCE / 2)
    return "waits"


def empty_log(connection: sqlite3.Connection) -> bool:
    """Bring the log into the database and cut it off; False while somebody reads from it."""
    try:
        is_busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError:
        return False
    return not is_busy


def _data_version(connection: sqlite3.Connection) -> int:
    """Another number after every commit of somebody else."""
    return connection.execute("PRAGMA data_version").fetchone()[0]


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a database file, numbered from 1."""

    path: Path

    @property
    def file(self) -> RawFile:
        return RawFile(self.path)

    @property
    def are_too_many(self) -> bool:
        """Whether pages of trees can no longer be told from others by their first byte."""
        return self.file.size > _MOST_PAGES * page_size(self.file)

    def free(self, file: RawFile, size: int) -> tuple[dict[int, int], set[int]]:
        """Return the free pages: those that list others, each with how many, and those listed."""
        lists: dict[int, int] = {}
        listed: set[int] = set()
        page = _number(file.read(32, 4), 0)
        while page and page not in lists:
            content = file.read((page - 1) * size, size)
            count = min(_number(content, 4), size // 4 - 2)
            lists[page] = count
            listed |= {_number(content, 8 + 4 * place) for place in range(count)}
            page = _number(content, 0)
        return lists, listed


def _dirty_pages(pages: Pages) -> list[int]:
    """Return the pages with something in their unused room."""
    file = pages.file
    size = page_size(file)
    lists, listed = pages.free(file, size)
    dirty: list[int] = []
    timer = time.perf_counter
    began = timer()
    for start, chunk in file.chunks():
        # Other threads get as much time as this one.
        time.sleep(timer() - began)
        began = timer()
        first = start // size + 1
        for offset in range(0, len(chunk), size):
            number = first + offset // size
            page = chunk[offset : offset + size]
            if any(_has_content(page, it) for it in _unused(page, number, lists, listed)):
                dirty.append(number)
    return dirty


def _overwrite_all(connection: sqlite3.Connection, database: Path, dirty: Sequence[int]) -> bool:
    """Overwrite in pieces, so that writers wait only for a moment; False if one was in the way."""
    for start in range(0, len(dirty), _PAGES_AT_ONCE):
        some = dirty[start : start + _PAGES_AT_ONCE]
        if not (_overwrite(connection, database, some) or _again(connection, database, some)):
            return False
    return True


def _again(connection: sqlite3.Connection, database: Path, pages: Sequence[int]) -> bool:
    return empty_log(connection) and _overwrite(connection, database, pages)


def _overwrite(connection: sqlite3.Connection, database: Path, numbers: Sequence[int]) -> bool:
    """Overwrite the unused room of these pages while nobody else can write.

    The log must be empty: only then the pages are the newest there are. In the end something is
    written the usual way, so that no other connection goes on with an old copy of a page; but not
    to the first page, of which this connection has an old copy itself.
    """
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return False
    try:
        if database.with_name(f"{database.name}-wal").stat().st_size:
            return False
        pages = Pages(database)
        file = pages.file
        size = page_size(file)
        lists, listed = pages.free(file, size)
        for number in numbers:
            place = (number - 1) * size
            page = file.read(place, size)
            for start, end in _unused(page, number, lists, listed):
                if _has_content(page, (start, end)):
                    file.write(place + start, bytes(end - start))
        file.sync()
        for touch in _TOUCHES:
            connection.execute(touch)
        connection.execute("COMMIT")
        return True
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def page_size(file: RawFile) -> int:
    """Return how large the pages are; 1 stands for the largest there can be."""
    size = int.from_bytes(file.read(16, 2))
    return 1 << 16 if size == 1 else size


def _unused(page: bytes, number: int, lists: dict[int, int], listed: set[int]) -> Iterator[Range]:
    """Yield the ranges of a page that belong to nothing."""
    if number in listed:
        yield 0, len(page)
    elif number in lists:
        yield 8 + 4 * lists[number], len(page)
    else:
        yield from _unused_in_tree(page, _HEADER if number == 1 else 0)


def _unused_in_tree(page: bytes, header: int) -> list[Range]:
    """Between the list of cells and the first cell, and where cells were; else it is no tree."""
    kind = page[header] if len(page) > header else 0
    if kind not in _INNER and kind not in _LEAVES:
        return []
    hole, cells, content = (_short(page, header + at) for at in (1, 3, 5))
    content = content or 1 << 16
    end_of_list = header + (12 if kind in _INNER else 8) + 2 * cells
    if not end_of_list <= content <= len(page):
        return []
    ranges = [(end_of_list, content)]
    while hole:
        following, length = _short(page, hole), _short(page, hole + 2)
        if hole < content or hole + length > len(page) or 0 < following <= hole:
            return []
        ranges.append((hole + 4, hole + length))
        hole = following
    return ranges


def _has_content(page: bytes, where: Range) -> bool:
    start, end = where
    return page.count(0, start, end) < end - start


def _short(page: bytes, at: int) -> int:
    return int.from_bytes(page[at : at + 2])


def _number(page: bytes, at: int) -> int:
    return int.from_bytes(page[at : at + 4])
