"""Writes tests/data/schemas/{revision}.db.gz: a small database of the current schema.

Run it once when a schema version is finished; from then on a test opens that file for ever.
"""

import asyncio
import gzip
import tempfile
from pathlib import Path

from recollect import Memory
from recollect.backends.sql.schema import HEAD_REVISION


async def fill(path: Path) -> None:
    async with Memory.open(path) as memory:
        keys = await memory.remember("The spare keys are in the kitchen", tags=["home"])
        await memory.update(keys.id, "The spare keys are in the blue drawer", reason="moved")
        await memory.remember("备用钥匙在蓝色抽屉里", category="user-profile")
        await memory.remember(
            "Moved the keys", kind="episodic", participants=["Ann"], outcome="keys moved"
        )
        await memory.remember("Opening the desk", kind="procedural", steps=["turn", "pull"])
        gone = await memory.remember("This was deleted")
        await memory.delete(gone.id)
        await memory.observe(
            [
                {"role": "user", "content": "Where is the blue drawer?", "name": "Ann"},
                {"role": "assistant", "content": "The blue drawer is in the desk."},
            ],
            session="keys",
            idempotency_key="sample",
        )


def main() -> None:
    target = Path(__file__).parent.parent / "tests/data/schemas" / f"{HEAD_REVISION}.db.gz"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.db"
        asyncio.run(fill(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    print(f"{target.name}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
