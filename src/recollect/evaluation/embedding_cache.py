"""A cache of vectors on disk, so that benchmarks embed the same texts only once."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from recollect.domain.default_paths import cache_folder
from recollect.ports.embedder import Embedder, EmbedderAround, Progress, Purpose


class DiskCachedEmbedder(EmbedderAround):
    """An embedder with a cache file, by model, purpose and text."""

    def __init__(self, embedder: Embedder, path: Path | None = None) -> None:
        super().__init__(embedder)
        path = path or cache_folder() / "bench" / "vectors.db"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(path, isolation_level=None)
        self._file.execute("PRAGMA journal_mode=WAL")
        self._file.execute("PRAGMA synchronous=OFF")
        self._file.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")

    def __enter__(self) -> DiskCachedEmbedder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        keys = [self._key(text, purpose) for text in texts]
        known = {key: vector for key in keys if (vector := self._find(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            made = await self._embedder.embed(list(missing.values()), purpose, progress)
            fresh = dict(zip(missing, (row.tobytes() for row in made), strict=True))
            self._file.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", fresh.items())
            known |= fresh
        joined = b"".join(known[key] for key in keys)
        return np.frombuffer(joined, np.float32).reshape(len(texts), self.dimension)

    async def close(self) -> None:
        """Do nothing: the embedder is closed by its owner, since several memories may share it."""

    def _find(self, key: bytes) -> bytes | None:
        row = self._file.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return None if row is None else row[0]

    def _key(self, text: str, purpose: Purpose) -> bytes:
        named = f"{self.model}\0{purpose}\0{text}".encode()
        return blake2b(named, digest_size=16).digest()
