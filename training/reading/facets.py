"""Which attribute a part of a message states: what the network learns, and how well it did.

WORK holds what `training.extract.rows` wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from training.reading import parts
from training.reading.network import (
    FACETS,
    PairNetwork,
    Pairs,
    Task,
    Tokens,
    agreement,
    half_precision,
    read_scores,
)

HEAD = "facet"
SMOOTHING = 0.1
TEMPERATURES = np.arange(0.5, 2.0, 0.05)

Row = dict[str, Any]


class Facets(Task):
    """Parts of messages with and without what stands before them, records, plain statements."""

    name = HEAD

    def __init__(
        self, tokens: Tokens, work: Path, share: float, size: int, seed: int, device: str
    ) -> None:
        self.share = share
        rows = [*_learnt(work)]
        texts = [(before, text) for before, text, _ in rows]
        labels = [FACETS.index(facet) for _, _, facet in rows]
        self.pairs = Pairs(tokens, texts, labels, None, device)
        self.chosen = self.pairs.batches(size, seed)

    def loss(self, network: PairNetwork) -> Tensor:
        chosen = next(self.chosen)
        labels = self.pairs.labels[torch.as_tensor(chosen, device=self.pairs.device)]
        inputs = self.pairs.batch(chosen)
        with half_precision(self.pairs.device):
            (first,) = network([HEAD], *inputs)
            (second,) = network([HEAD], *inputs)
        loss = F.cross_entropy(first, labels, label_smoothing=SMOOTHING)
        loss = 0.5 * (loss + F.cross_entropy(second, labels, label_smoothing=SMOOTHING))
        return loss + 0.5 * agreement(first.log_softmax(-1), second.log_softmax(-1))


def _learnt(work: Path) -> Iterator[tuple[str, str, str]]:
    """Yield what is read, and the attribute that it states."""
    for row in _labelled(work, "parts", "train"):
        yield row["before"], row["text"], row["facet"]
        yield "", row["text"], row["facet"]
    for row in _labelled(work, "records", "train"):
        yield "", row["text"], row["facet"]


def _labelled(work: Path, kind: str, held: str) -> list[Row]:
    return [row for row in parts.read_rows(work, kind, held) if row["facet"] is not None]


def report(network: PairNetwork, tokens: Tokens, work: Path, device: str) -> dict[str, Any]:
    """Choose a temperature on some talks, and tell how often the right facet is named first."""
    found: dict[str, Any] = {}
    temperature = 1.0
    for held in ("choose", "measure"):
        for kind in ("talks", "facets", "records"):
            rows = _labelled(work, "records" if kind == "records" else "parts", held)
            rows = [row for row in rows if kind == "records" or row["talk"].startswith(kind)]
            texts = [(row["before"], row["text"]) for row in rows]
            labels = np.array([FACETS.index(row["facet"]) for row in rows])
            (scores,) = read_scores(
                network, Pairs(tokens, texts, [0] * len(rows), None, device), HEAD
            )
            if (held, kind) == ("choose", "talks"):
                temperature = min(TEMPERATURES, key=lambda it: _surprise(scores / it, labels))
            languages = np.array(["zh" if "_zh" in row["talk"] else "en" for row in rows])
            for language in ("en", "zh"):
                some = languages == language
                name = f"{held} {kind} {language}"
                found[name] = _right(scores[some] / temperature, labels[some])
    return {"names": FACETS, "temperature": round(float(temperature), 2), **found}


def _surprise(scores: NDArray[np.float32], labels: NDArray[np.int64]) -> float:
    logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    return -float(logs[np.arange(len(labels)), labels].mean())


def _right(scores: NDArray[np.float32], labels: NDArray[np.int64]) -> dict[str, Any]:
    order = np.argsort(-scores, axis=1)
    odds = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    best, right = odds.max(1), order[:, 0] == labels
    return {
        "of": len(labels),
        "first": round(float(right.mean()), 3),
        "among three": round(float((order[:, :3] == labels[:, None]).any(1).mean()), 3),
        "named, right": {
            str(limit): [
                round(float((best >= limit).mean()), 3),
                round(float(right[best >= limit].mean()), 3),
            ]
            for limit in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
        },
    }
