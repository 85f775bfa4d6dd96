"""Reading of files of any type, risky ones in a child process.

A hostile file may take all memory, never finish, or crash the library. The child process has
limits; if it dies or is too slow, only that file is not read.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from recollect.domain.document import DocumentType
from recollect.domain.sections import KnowledgeSettings
from recollect.errors import InvalidInput, NotAvailable, RecollectError
from recollect.knowledge.parsing import BINARY_TYPES, Heading, ParsedText, parse_text

# What is longer, or takes longer, is read where the time limit can end it.
_MAX_INLINE_BYTES: Final = 2**16
_MAX_INLINE_SECONDS: Final = 2.0
# A thread cannot be ended: one that hangs holds up nobody but these.
_INLINE_THREADS: Final = 2


class Parser:
    """The extraction of text from the bytes of a file."""

    def __init__(self, settings: KnowledgeSettings | None = None) -> None:
        self._settings = settings or KnowledgeSettings()
        self._child: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._threads = ThreadPoolExecutor(_INLINE_THREADS, "recollect-documents")

    async def parse(self, data: bytes, kind: DocumentType, name: str) -> ParsedText:
        """Return the text of a file; raise an error that says why it cannot be read."""
        if kind not in BINARY_TYPES and len(data) <= _MAX_INLINE_BYTES:
            with contextlib.suppress(TimeoutError):
                return await asyncio.wait_for(
                    asyncio.wrap_future(self._threads.submit(_read_here, data, kind, name)),
                    _MAX_INLINE_SECONDS,
                )
        async with self._turn:
            answer = await self._ask(data, kind, name)
        if "error" in answer:
            raise _problem(answer["error"])
        parsed = answer["parsed"]
        return ParsedText(
            text=parsed["text"],
            headings=tuple(Heading(**heading) for heading in parsed["headings"]),
            pages=tuple((start, page) for start, page in parsed["pages"]),
            title=parsed["title"],
        )

    async def close(self) -> None:
        """Stop the threads and the child process, if there is one."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        await self._stop()

    async def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None and child.returncode is None:
            child.kill()
            await child.wait()

    async def _ask(self, data: bytes, kind: DocumentType, name: str) -> dict[str, Any]:
        try:
            async with asyncio.timeout(self._settings.parse_seconds):
                return await self._answer(data, kind)
        except TimeoutError:
            await self._stop()
            raise InvalidInput(
                f"{name} took more than {self._settings.parse_seconds:g} seconds to be read",
                code="document_too_slow",
                hint="Split the file, or save it as another type.",
            ) from None
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            await self._stop()
            raise InvalidInput(
                f"{name} made its reader crash; it was not added",
                code="unreadable_document",
                hint="Save it as another type.",
            ) from None
        except asyncio.CancelledError:
            await self._stop()
            raise

    async def _answer(self, data: bytes, kind: DocumentType) -> dict[str, Any]:
        child = await self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        request = json.dumps({"type": kind, "size": len(data)})
        child.stdin.write(request.encode() + b"\n" + data)
        await child.stdin.drain()
        size = int(await child.stdout.readuntil(b"\n"))
        return json.loads(await child.stdout.readexactly(size))

    async def _start(self) -> asyncio.subprocess.Process:
        if self._child is None or self._child.returncode is not None:
            self._child = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "recollect.knowledge.parser_process",
                str(self._settings.parse_memory_mb),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
        return self._child


def _read_here(data: bytes, kind: DocumentType, name: str) -> ParsedText:
    try:
        return parse_text(data, kind)
    except RecollectError:
        raise
    except Exception as problem:
        # A file that nobody thought of must not wait forever to be read.
        raise InvalidInput(
            f"{name} cannot be read: {type(problem).__name__}: {problem}",
            code="unreadable_document",
            hint="Save it as another type.",
        ) from problem


def _problem(error: dict[str, str]) -> RecollectError:
    kind = NotAvailable if error["class"] == "NotAvailable" else InvalidInput
    return kind(error["message"], code=error["code"], hint=error["hint"])
