"""Writes into tests/data/reconcile.tsv how near the default embedder finds the two texts of a pair.

    python tools/embed_reconcile_pairs.py

The tests read the last column instead of running the model, so they are fast and repeatable.
"""

import asyncio
from pathlib import Path

from recollect.assemble.embedding import wanted_embedder
from recollect.settings import Settings

_PAIRS = Path(__file__).parents[1] / "tests" / "data" / "reconcile.tsv"


async def main() -> None:
    """Fill the column `cosine` anew."""
    embedder = wanted_embedder(Settings.load())
    if embedder is None:
        raise SystemExit("the settings want no embedder")
    heading, *lines = _PAIRS.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    try:
        new = await embedder.embed([row[5] for row in rows], "passage")
        old = await embedder.embed([row[6] for row in rows], "passage")
    finally:
        await embedder.close()
    for row, cosine in zip(rows, (new * old).sum(axis=1), strict=True):
        row[7] = f"{cosine:.4f}"
    _PAIRS.write_text(
        "\n".join([heading, *("\t".join(row) for row in rows)]) + "\n", encoding="utf-8"
    )
    print(f"{len(rows)} pairs embedded with {embedder.model}")


if __name__ == "__main__":
    asyncio.run(main())
