"""Blobs whose folder is made when the first content comes: most memories never need one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import cached_property
from pathlib import Path

from recollect.backends.objects import ObjectBlobs, open_blobs
from recollect.ports.blobs import StoredBlob


class LazyBlobs:
    """A `Blobs` that is opened when it is needed; a folder that is not there holds nothing."""

    def __init__(self, where: str | Path) -> None:
        self._where = where

    async def put(self, key: str, content: bytes) -> None:
        await self._opened.put(key, content)

    async def get(self, key: str) -> bytes | None:
        return None if self._is_unused else await self._opened.get(key)

    async def delete(self, keys: Sequence[str]) -> None:
        if not self._is_unused:
            await self._opened.delete(keys)

    async def stored(self) -> AsyncIterator[StoredBlob]:
        if not self._is_unused:
            async for blob in self._opened.stored():
                yield blob

    @property
    def _is_unused(self) -> bool:
        return "://" not in str(self._where) and not Path(self._where).exists()

    @cached_property
    def _opened(self) -> ObjectBlobs:
        return open_blobs(self._where)
