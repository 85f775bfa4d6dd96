"""Contents that wait on this machine for a bucket that is away, and follow it when it is back.

Archiving a result never waits long for the bucket: what it does not take at once is stored durably
in a private folder beside the database, under the key that it will have there.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import random
import time
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from recollect.backends.file_lock import try_lock
from recollect.backends.objects import ObjectBlobs, open_blobs
from recollect.errors import StorageError
from recollect.ports.archives import StoredBlob

_PATIENCE_SECONDS: Final = 2.0
# A slow line takes longer for much.
_BYTES_PER_SECOND: Final = 2_000_000
_FIRST_PAUSE_SECONDS: Final = 1.0
_LONGEST_PAUSE_SECONDS: Final = 15.0
# Who reads has nothing else, so it is tried again soon.
_FRESH_SECONDS: Final = 2.0
_INTERVAL_SECONDS: Final = 2.0
# No content has this key.
_NOTHING: Final = "nothing"

_log: Final = logging.getLogger(__name__)


class OutboxBlobs:
    """A `Blobs` in a bucket, with an outbox for the time that it is away."""

    def __init__(self, bucket: ObjectBlobs, folder: Path) -> None:
        self._bucket = bucket
        self._folder = folder
        self._outbox = open_blobs(folder)
        self._failures = 0
        self._again_at = 0.0
        self._failed_at = -math.inf
        self._problem = ""
        self._sending: asyncio.Task[None] | None = None
        # Called when the bucket answers again.
        self.on_return: list[Callable[[], None]] = []

    @property
    def name(self) -> str:
        return self._bucket.name

    @property
    def problem(self) -> str:
        """Return why the bucket is away; empty if it is not."""
        return self._problem

    async def new_key(self, name: str) -> str:
        return await self._bucket.new_key(name)

    def new_key_here(self, name: str) -> str:
        """Return a key for new contents, in the calling thread."""
        return self._bucket.new_key_here(name)

    def put_here(self, key: str, content: bytes) -> None:
        """Store a content in the bucket, in the calling thread."""
        self._bucket.put_here(key, content)

    def get_here(self, key: str) -> bytes | None:
        """Return a content, or None, in the calling thread."""
        kept = self._outbox.get_here(key) if self._has_folder else None
        return self._bucket.get_here(key) if kept is None else kept

    def delete_here(self, keys: Sequence[str]) -> None:
        """Delete these keys, in the calling thread; missing ones are ignored."""
        if self._has_folder:
            self._outbox.delete_here(keys)
        self._bucket.delete_here(keys)

    async def put(self, key: str, content: bytes | BinaryIO) -> None:
        if time.monotonic() >= self._again_at and await self._put_in_time(key, content):
            return
        if not isinstance(content, bytes):
            content.seek(0)
        await self._outbox.put(key, content)

    async def get(self, key: str) -> bytes | None:
        kept = await self._outbox.get(key) if self._has_folder else None
        if kept is not None:
            return kept
        self._require_there()
        with self._noticing():
            return await self._bucket.get(key)

    async def get_range(self, key: str, start: int, end: int) -> bytes | None:
        kept = await self._outbox.get_range(key, start, end) if self._has_folder else None
        if kept is not None:
            return kept
        self._require_there()
        with self._noticing():
            return await self._bucket.get_range(key, start, end)

    async def delete(self, keys: Sequence[str]) -> None:
        # First here, so that nobody sends it after it was deleted there.
        if self._has_folder:
            await self._outbox.delete(keys)
        with self._noticing():
            await self._bucket.delete(keys)

    async def stored(self) -> AsyncIterator[StoredBlob]:
        async for found in self._outbox.stored():
            yield found
        async for found in self._bucket.stored():
            yield found

    async def waiting(self) -> int:
        """Return how many contents wait to be sent from this machine."""
        return len([it async for it in self._outbox.stored()])

    def start(self) -> None:
        """Send in the background what waits here."""
        self._sending = asyncio.create_task(self._send_forever(), name="recollect-outbox")

    async def close(self) -> None:
        """Stop sending; whoever opens the memory next goes on."""
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.wait([self._sending])
            self._sending = None

    async def send(self) -> int:
        """Send what waits, unless another process is at it; return how many were sent."""
        if not self._has_folder:
            return 0
        sent = 0
        lock = try_lock(self._folder.with_name(f"{self._folder.name}.lock"))
        if lock is None:
            return 0
        with contextlib.closing(lock):
            async for found in self._outbox.stored():
                content = await self._outbox.get(found.key)
                if content is not None:
                    await self._send(found.key, content)
                    sent += 1
        return sent

    async def _send(self, key: str, content: bytes) -> None:
        with self._noticing():
            await self._bucket.put(key, content)
        if await self._outbox.get_range(key, 0, 1) is None:
            # It was deleted meanwhile, perhaps forgotten, so it may be nowhere.
            await self._bucket.delete([key])
        else:
            await self._outbox.delete([key])

    def _require_there(self) -> None:
        """Raise at once what was found a moment ago, so that not everybody waits for it."""
        if time.monotonic() < self._failed_at + _FRESH_SECONDS:
            raise StorageError(
                self._problem,
                code="blobs_unreachable",
                hint="It is read again as soon as the bucket answers; `recollect doctor` tells.",
            )

    async def _put_in_time(self, key: str, content: bytes | BinaryIO) -> bool:
        patience = _PATIENCE_SECONDS + _size(content) / _BYTES_PER_SECOND
        try:
            with self._noticing():
                try:
                    async with asyncio.timeout(patience):
                        await self._bucket.put(key, content)
                except TimeoutError:
                    raise StorageError(
                        f"{self.name} did not take a content within {patience:.0f} seconds",
                        code="blobs_unreachable",
                    ) from None
        except StorageError:
            return False
        return True

    @contextlib.contextmanager
    def _noticing(self) -> Generator[None]:
        """Notice whether the bucket is away, and leave it alone for a while if it is."""
        try:
            yield
        except StorageError as problem:
            if not self._problem:
                _log.warning(
                    "%s is away, contents are kept on this machine: %s", self.name, problem.message
                )
            self._problem = problem.message
            pause = min(_FIRST_PAUSE_SECONDS * 2.0**self._failures, _LONGEST_PAUSE_SECONDS)
            self._failures = min(self._failures + 1, 10)
            self._failed_at = time.monotonic()
            self._again_at = self._failed_at + pause * random.uniform(0.8, 1.2)
            raise
        was_away = bool(self._problem)
        self._problem, self._failures, self._again_at, self._failed_at = "", 0, 0.0, -math.inf
        if was_away:
            _log.warning("%s is back", self.name)
            for tell in self.on_return:
                tell()

    async def _send_forever(self) -> None:
        while True:
            try:
                if sent := await self.send():
                    _log.info("%d contents were sent to %s", sent, self.name)
                elif self._problem:
                    await self._ask()
            except StorageError as problem:
                _log.debug("contents are sent later: %s", problem)
            await asyncio.sleep(max(_INTERVAL_SECONDS, self._again_at - time.monotonic()))

    async def _ask(self) -> None:
        """See whether the bucket is back: what is to be deleted there waits for that."""
        with self._noticing():
            await self._bucket.get_range(_NOTHING, 0, 1)

    @property
    def _has_folder(self) -> bool:
        return self._folder.is_dir()


def outbox_beside(database: Path) -> Path:
    """Return the folder of what a database has yet to send."""
    return database.with_name(f"{database.name}-outbox")


def _size(content: bytes | BinaryIO) -> int:
    if isinstance(content, bytes):
        return len(content)
    size = content.seek(0, 2)
    content.seek(0)
    return size
