"""Fit the reader: `python -m training.extract.fit WORK SHIPPED`.

WORK is what `rows` wrote; SHIPPED is the folder with the embedder, which gets `reader.npz`. The
heads are ridge regressions on the embedder's vectors of a part and of what stands before it, and
on the part's form. They need no GPU: a few minutes of one core, and the same rows give the same
weights. The limit is chosen on readers that have not seen the talks.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from recollect.language.extraction.features import GRAMS
from recollect.models.local_model import DIMENSION, LocalModel
from recollect.models.local_reader import READER, features
from training.export import seal

FOLDS = 5
RIDGE = 200.0
SCALES = {"vectors": 6.0, "form": 1.0, "grams": 6.0, "constant": 1.0}
UNSURE = 0.4
STATEMENT = 0.3
PRECISION = 0.87
LASTS = ("days", "weeks", "long")

Array = NDArray[np.float32]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("shipped", type=Path)
    given = parser.parse_args()
    rows = [json.loads(line) for line in (given.work / "extract_rows.jsonl").open(encoding="utf-8")]
    known = asyncio.run(known_of(rows, given.shipped))
    scales = column_scales(known.shape[1])
    known *= scales
    kept = np.array([row["worth"] != "not" for row in rows])
    weight = np.array([worth_weight(row) for row in rows])
    fold = np.array([crc32(row["talk"].encode()) % FOLDS for row in rows])
    seen = [sums(known, kept[:, None], np.where(fold == it, weight, 0.0)) for it in range(FOLDS)]
    unseen = np.empty(len(rows))
    for number in range(FOLDS):
        others = [it for place, it in enumerate(seen) if place != number]
        mine = fold == number
        unseen[mine] = (
            known[mine] @ solve(sum(it[0] for it in others), sum(it[1] for it in others))[:, 0]
        )
    talk = np.array([row["talk"].startswith("talks") for row in rows])
    held = np.array([row["held"] for row in rows])
    sure = talk & ~held & np.array([row["sure"] for row in rows])
    limit = limit_at(unseen[sure], kept[sure], PRECISION)
    train = np.where(held, 0.0, 1.0)
    worth = solve(*sums(known, kept[:, None], weight * train))
    lasts = solve(*sums(known, one_hot(rows, LASTS), train * of(rows, LASTS)))
    weights = np.concatenate([worth, lasts], 1)
    report(rows, known @ weights, unseen, limit)
    weights *= scales[:, None]
    files = {
        file.name: file.read_bytes()
        for file in sorted(given.shipped.iterdir())
        if file.name in json.loads((given.shipped / "sha256.json").read_text())
        and file.name != READER
    }
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        weights=weights.astype(np.float16),
        limit=np.float32(limit),
        lasts=np.array(LASTS),
    )
    files[READER] = buffer.getvalue()
    (given.shipped / READER).write_bytes(files[READER])
    seal(given.shipped, files)


async def known_of(rows: Sequence[dict[str, Any]], shipped: Path) -> Array:
    """Return the features of all rows."""
    embedder = LocalModel(shipped).open()
    texts = sorted({text for row in rows for text in (row["before"], row["text"]) if text})
    vectors = dict(zip(texts, await embedder.embed(texts, "passage"), strict=True))
    return np.array(
        [
            features(vectors.get(row["before"]), vectors[row["text"]], (row["before"], row["text"]))
            for row in rows
        ],
        np.float32,
    )


def column_scales(width: int) -> Array:
    """Return how much each feature may matter before it costs something."""
    forms = width - 2 * DIMENSION - GRAMS - 1
    sizes = {"vectors": 2 * DIMENSION, "form": forms, "grams": GRAMS, "constant": 1}
    return np.concatenate([np.full(size, SCALES[name], np.float32) for name, size in sizes.items()])


def worth_weight(row: dict[str, Any]) -> float:
    if row["worth"] is None:
        return STATEMENT
    return 1.0 if row["sure"] else UNSURE


def sums(known: Array, wanted: NDArray[np.bool_], weight: Array) -> tuple[Array, Array]:
    """Return the products that a regression on 1 for yes and -1 for no needs."""
    rows = weight > 0
    root = np.sqrt(weight[rows])[:, None].astype(np.float32)
    scaled, targets = known[rows] * root, np.where(wanted[rows], 1, -1).astype(np.float32) * root
    return scaled.T @ scaled, scaled.T @ targets


def solve(squares: Array, products: Array) -> Array:
    """Return the weights of a ridge regression."""
    return np.linalg.solve(squares + RIDGE * np.eye(len(squares), dtype=np.float32), products)


def one_hot(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([[row["worth"] == name for name in names] for row in rows])


def of(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> Array:
    return np.array([float(row["worth"] in names) for row in rows], np.float32)


def limit_at(scores: Array, wanted: NDArray[np.bool_], precision: float) -> float:
    """Return the lowest score from which so many of the parts are rightly kept."""
    order = np.argsort(-scores)
    right = np.cumsum(wanted[order]) / np.arange(1, len(order) + 1)
    return float(scores[order][np.flatnonzero(right >= precision)[-1]])


def report(rows: Sequence[dict[str, Any]], scores: Array, unseen: Array, limit: float) -> None:
    """Print how many parts are rightly kept, and how often it is known for how long."""
    talk = np.array([row["talk"].startswith("talks") and row["sure"] for row in rows])
    held = np.array([row["held"] for row in rows])
    kept = np.array([row["worth"] != "not" for row in rows])
    for name, some, by in (("folds", talk, unseen), ("held back", talk & held, scores[:, 0])):
        said = by > limit
        right = (some & said & kept).sum()
        print(
            f"{name}: limit {limit:.2f}, {some.sum()} parts, "
            f"recall {right / (some & kept).sum():.3f}, precision {right / (some & said).sum():.3f}"
        )
    known = np.flatnonzero(held & talk & kept)
    lasts = [LASTS[scores[it, 1:].argmax()] == rows[it]["worth"] for it in known]
    print(f"how long, of {len(known)} held-back parts: {np.mean(lasts):.3f}")


if __name__ == "__main__":
    main()
