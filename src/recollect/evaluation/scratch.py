"""A memory to measure in, which is thrown away."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from recollect.memory import Memory
from recollect.settings import Settings


@asynccontextmanager
async def empty_memory(settings: Settings, **parts: Any) -> AsyncGenerator[Memory]:
    """Open an empty memory with these settings, and with `parts` as for `Memory.open`."""
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        # A file, not a folder, because the settings of this machine may name another database.
        storage = settings.storage.model_copy(update={"path": Path(folder) / "bench.db"})
        async with Memory.open(settings.model_copy(update={"storage": storage}), **parts) as memory:
            yield memory
