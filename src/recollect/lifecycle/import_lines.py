"""The lines of a file that is imported, read and checked a batch at a time."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from recollect.context.archive_index import index_job
from recollect.domain.archive import Archive
from recollect.domain.category import is_user_profile
from recollect.domain.scope import Caller
from recollect.domain.transfer import Item, RecordHistory
from recollect.domain.turn import Turn
from recollect.errors import InvalidInput, NotFound, RecollectError, StorageError
from recollect.lifecycle.export_archives import ContentPart, ContentReader, WholeContent
from recollect.lifecycle.export_format import read_header, read_item
from recollect.lifecycle.import_redacted import cleaned_item
from recollect.ports.transfer import Arrival
from recollect.text.searchable import record_units, turn_units
from recollect.writing.redaction import Redactor

_BATCH: Final = 500
_BATCH_BYTES: Final = 4_000_000
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Lost:
    """That something is left out and the rest goes on: an archive without its content, or what
    holds personal data that may not be kept."""

    problem: RecollectError


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What is to be imported from a line, or why it cannot be.

    A content stands for all the lines it was read from.
    """

    number: int
    bytes: int
    content: Arrival | WholeContent | Lost | RecollectError


class ImportLines:
    """A file whose header is read; its lines come in batches that fit in memory."""

    def __init__(
        self,
        source: str | Path | BinaryIO,
        caller: Caller | None,
        *,
        skip_bad: bool,
        redactor: Redactor,
    ) -> None:
        raw = _raw_lines(source)
        header = next(raw, b"").removeprefix(_BYTE_ORDER_MARK)
        self.promised: Final = read_header(header).lines
        self._lines = _lines(raw, self.promised, caller, redactor)
        self._skip_bad = skip_bad

    def batch(self) -> list[Line]:
        """The next lines, none at the end; a bad one is the last unless those are skipped."""
        batch: list[Line] = []
        size = 0
        for line in self._lines:
            batch.append(line)
            size += line.bytes
            is_over = isinstance(line.content, RecollectError) and not self._skip_bad
            if is_over or len(batch) == _BATCH or size >= _BATCH_BYTES:
                break
        return batch


def _raw_lines(source: str | Path | BinaryIO) -> Iterator[bytes]:
    """The bytes of each line. What ends it is there unless the file ends in its middle."""
    if not isinstance(source, str | Path):
        yield from source
        return
    path = Path(source)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield from file
    except EOFError:
        raise _cut_off("the compressed file ends in the middle") from None
    except (gzip.BadGzipFile, zlib.error) as damage:
        raise InvalidInput(
            f"the compressed file is damaged: {damage}",
            code="file_damaged",
            hint="Get a whole copy; one that is not compressed must not end with .gz.",
        ) from None
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}", code="file_missing") from None
    except OSError as problem:
        raise StorageError(
            f"{path} cannot be read: {problem.strerror}", code="file_unreadable"
        ) from problem


def _lines(
    raw: Iterator[bytes], promised: int | None, caller: Caller | None, redactor: Redactor
) -> Iterator[Line]:
    number, seen = 1, 0
    contents = ContentReader()
    try:
        for line in raw:
            number += 1
            if not line.strip():
                continue
            read = _read(line)
            if isinstance(read, ContentPart):
                whole = contents.take(read) if _may_hold(caller, read) else None
                if whole is not None:
                    yield Line(number=number, bytes=len(whole.stored), content=whole)
                continue
            seen += 1
            checked = (
                read
                if isinstance(read, RecollectError)
                else _checked(read, caller, contents, redactor)
            )
            yield Line(number=number, bytes=len(line), content=checked)
    except RecollectError as damage:
        yield Line(number=number + 1, bytes=0, content=damage)
        return
    if promised is not None and seen < promised:
        ending = _cut_off(f"the file ends after {seen:,} of its {promised:,} entries")
        yield Line(number=number + 1, bytes=0, content=ending)


def _read(line: bytes) -> Item | ContentPart | RecollectError:
    try:
        return read_item(line)
    except RecollectError as problem:
        if problem.code == "not_json" and not line.endswith(b"\n"):
            return _cut_off("the file ends in the middle of this line")
        return problem


def _may_hold(caller: Caller | None, part: ContentPart) -> bool:
    """Whether a content is one of the caller's workspace; archives of others are refused anyway."""
    scope = None if caller is None else caller.scope
    return scope is None or (scope.org, scope.workspace) == (part.org, part.workspace)


def _checked(
    item: Item, caller: Caller | None, contents: ContentReader, redactor: Redactor
) -> Arrival | Lost | RecollectError:
    """The item with what is found of it here, if this caller may write it."""
    try:
        if caller is not None:
            _require_write(caller, item)
    except RecollectError as problem:
        return problem
    try:
        if isinstance(item, Archive):
            contents.require_content(item)
        item, audit = cleaned_item(item, redactor)
    except RecollectError as problem:
        return Lost(problem)
    match item:
        case RecordHistory():
            return Arrival(item=item, units=record_units(item.current), audit=audit)
        case Turn():
            return Arrival(item=item, units=turn_units(item), audit=audit)
        case Archive():
            job = index_job(item) if item.indexed_chars else None
            return Arrival(item=item, job=job, audit=audit)
        case _:
            return Arrival(item=item)


def _require_write(caller: Caller, item: Item) -> None:
    if not isinstance(item, RecordHistory):
        caller.require_write(item.scope, is_profile=False)
        return
    for version in item.versions:
        is_profile = is_user_profile(version.record.category)
        caller.require_write(version.record.scope, is_profile=is_profile)


def _cut_off(what: str) -> InvalidInput:
    return InvalidInput(what, code="file_truncated", hint="Get a whole copy of the file.")
