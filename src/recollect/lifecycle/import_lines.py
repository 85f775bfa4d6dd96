"""The lines of a file that is imported, read and checked a batch at a time."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from recollect.domain.category import is_user_profile
from recollect.domain.scope import Caller
from recollect.domain.transfer import Item
from recollect.domain.turn import Turn
from recollect.errors import InvalidInput, NotFound, RecollectError, StorageError
from recollect.lifecycle.export_format import read_header, read_item
from recollect.ports.transfer import Arrival
from recollect.text.searchable import record_units, turn_units

_BATCH: Final = 500
_BATCH_BYTES: Final = 4_000_000
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What is to be imported from a line, or why it cannot be."""

    number: int
    bytes: int
    content: Arrival | RecollectError


class ImportLines:
    """A file whose header is read; its lines come in batches that fit in memory."""

    def __init__(
        self, source: str | Path | BinaryIO, caller: Caller | None, *, skip_bad: bool
    ) -> None:
        raw = _raw_lines(source)
        header = next(raw, b"").removeprefix(_BYTE_ORDER_MARK)
        self.promised: Final = read_header(header).lines
        self._lines = _lines(raw, self.promised, caller)
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


def _lines(raw: Iterator[bytes], promised: int | None, caller: Caller | None) -> Iterator[Line]:
    number, seen = 1, 0
    try:
        for line in raw:
            number += 1
            if line.strip():
                seen += 1
                yield Line(number=number, bytes=len(line), content=_checked(line, caller))
    except RecollectError as damage:
        yield Line(number=number + 1, bytes=0, content=damage)
        return
    if promised is not None and seen < promised:
        ending = _cut_off(f"the file ends after {seen:,} of {promised:,} records and turns")
        yield Line(number=number + 1, bytes=0, content=ending)


def _checked(line: bytes, caller: Caller | None) -> Arrival | RecollectError:
    try:
        item = read_item(line)
        if caller is not None:
            _require_write(caller, item)
    except RecollectError as problem:
        if problem.code == "not_json" and not line.endswith(b"\n"):
            return _cut_off("the file ends in the middle of this line")
        return problem
    if isinstance(item, Turn):
        return Arrival(item=item, units=turn_units(item))
    return Arrival(item=item, units=record_units(item.current))


def _require_write(caller: Caller, item: Item) -> None:
    if isinstance(item, Turn):
        caller.require_write(item.scope, is_profile=False)
    else:
        for version in item.versions:
            is_profile = is_user_profile(version.record.category)
            caller.require_write(version.record.scope, is_profile=is_profile)


def _cut_off(what: str) -> InvalidInput:
    return InvalidInput(what, code="file_truncated", hint="Get a whole copy of the file.")
