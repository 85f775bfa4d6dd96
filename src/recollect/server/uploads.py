"""Files in a multipart body, one after the other as they arrive; none is held in memory."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import BinaryIO, Final, cast

from fastapi import Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from recollect.errors import InvalidInput

MOST_FILES: Final = 1_000
# What is shorter never touches the disk.
IN_MEMORY: Final = 1 << 20


@dataclass(slots=True)
class Upload:
    """A file of a multipart body; `content` is empty where it was longer than allowed."""

    name: str
    content: BinaryIO
    size: int = 0
    is_too_large: bool = False


async def uploads(request: Request, most_bytes: int) -> AsyncGenerator[Upload]:
    """Return the files of a body in their order, each when its last byte is there."""
    parts = _Parts(most_bytes)
    taken = 0
    try:
        parser = MultipartParser(
            _boundary(request),
            {
                "on_part_begin": parts.begin,
                "on_header_field": parts.add_header_name,
                "on_header_value": parts.add_header_value,
                "on_header_end": parts.end_header,
                "on_headers_finished": parts.open,
                "on_part_data": parts.add,
                "on_part_end": parts.close,
                "on_end": parts.end,
            },
        )
        async for piece in request.stream():
            parser.write(piece)
            for upload in parts.take():
                with upload.content:
                    _require_few(taken + 1)
                    yield upload
                taken += 1
        parser.finalize()
    except FormParserError as problem:
        raise _broken(taken, str(problem)) from problem
    finally:
        parts.discard()
    if not parts.is_whole:
        raise _broken(taken, "it ends in the middle")
    if not taken:
        raise InvalidInput(
            "There is no file in the body; nothing was stored",
            code="no_file",
            hint="Send each file as a part with a file name: curl -F file=@FILE.",
        )


@dataclass
class _Parts:
    """Collects what the parser finds; the loop takes it."""

    most_bytes: int
    is_whole: bool = False
    _headers: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    _name: bytes = b""
    _value: bytes = b""
    _open: Upload | None = None
    _done: list[Upload] = field(default_factory=list[Upload])

    def begin(self) -> None:
        self._headers = {}

    def add_header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def add_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def end_header(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name = self._value = b""

    def open(self) -> None:
        _, told = parse_options_header(self._headers.get(b"content-disposition"))
        name = told.get(b"filename", b"")
        if name:
            content = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - closed when taken
            self._open = Upload(name.decode(errors="backslashreplace"), cast("BinaryIO", content))

    def add(self, data: bytes, start: int, end: int) -> None:
        upload = self._open
        if upload is None:
            return
        upload.size += end - start
        if upload.size <= self.most_bytes:
            upload.content.write(data[start:end])
        elif not upload.is_too_large:
            upload.is_too_large = True
            upload.content.seek(0)
            upload.content.truncate()

    def close(self) -> None:
        if self._open is not None:
            self._open.content.seek(0)
            self._done.append(self._open)
            self._open = None

    def end(self) -> None:
        self.is_whole = True

    def take(self) -> list[Upload]:
        """Return the files that are there since the last time."""
        done, self._done = self._done, []
        return done

    def discard(self) -> None:
        """Let go of what nobody took."""
        for upload in [*self._done, *filter(None, [self._open])]:
            upload.content.close()


def _boundary(request: Request) -> bytes:
    kind, told = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data" or not told.get(b"boundary"):
        raise InvalidInput(
            "The body is not a multipart form; nothing was stored",
            code="multipart_needed",
            hint="Send it as multipart/form-data with a boundary: curl -F file=@FILE.",
        )
    return told[b"boundary"]


def _require_few(taken: int) -> None:
    if taken > MOST_FILES:
        raise InvalidInput(
            f"The body has more than {MOST_FILES:,} files; the first {MOST_FILES:,} were stored",
            code="too_many_files",
            hint="Send the rest in another request.",
        )


def _broken(taken: int, why: str) -> InvalidInput:
    kept = f"the {taken} files before that were taken" if taken else "nothing was stored"
    return InvalidInput(
        f"The multipart body cannot be read: {why}; {kept}",
        code="bad_multipart",
        hint="Send the files again; what is stored already is not stored twice.",
    )
