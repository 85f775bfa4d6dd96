"""BERT in plain numpy and exact numbers, to compare the 8-bit graph with."""

from __future__ import annotations

from collections.abc import Mapping
from math import erf

import numpy as np
from numpy.typing import NDArray

from training.graph import BertShape

Weights = Mapping[str, NDArray[np.float32]]
_erf = np.vectorize(erf)


def random_weights(shape: BertShape, *, words: int, positions: int, seed: int = 0) -> Weights:
    random = np.random.default_rng(seed)
    hidden, inner = shape.hidden, shape.hidden * 4

    def normal(*size: int) -> NDArray[np.float32]:
        return random.normal(0, 0.3 / np.sqrt(size[-1]) * 4, size).astype(np.float32)

    weights = {
        "embeddings.word_embeddings.weight": normal(words, hidden),
        "embeddings.position_embeddings.weight": normal(positions, hidden),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(shape.layers):
        name = f"encoder.layer.{layer}."
        norms += [name + "attention.output.LayerNorm", name + "output.LayerNorm"]
        dense = dict.fromkeys(
            [f"attention.self.{part}" for part in ("query", "key", "value")], (hidden, hidden)
        )
        dense["attention.output.dense"] = (hidden, hidden)
        dense["intermediate.dense"] = (inner, hidden)
        dense["output.dense"] = (hidden, inner)
        for part, size in dense.items():
            weights[f"{name}{part}.weight"] = normal(*size)
            weights[f"{name}{part}.bias"] = normal(size[0])
    for norm in norms:
        weights[norm + ".weight"] = 1 + normal(hidden) / 10
        weights[norm + ".bias"] = normal(hidden) / 10
    return weights


def float_bert(weights: Weights, shape: BertShape, ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """The last states of one text without padding."""

    def linear(x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        return x @ weights[name + ".weight"].T + weights[name + ".bias"]

    def normalised(x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt(centred.var(axis=-1, keepdims=True) + 1e-12)
        return scaled * weights[name + ".weight"] + weights[name + ".bias"]

    def heads(x: NDArray[np.float32]) -> NDArray[np.float32]:
        return x.reshape(len(ids), shape.heads, -1).transpose(1, 0, 2)

    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = normalised(x, "embeddings.LayerNorm")
    for layer in range(shape.layers):
        name = f"encoder.layer.{layer}."
        query, key, value = (
            heads(linear(x, f"{name}attention.self.{part}")) for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(shape.hidden / shape.heads)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (shares / shares.sum(axis=-1, keepdims=True)) @ value
        mixed = mixed.transpose(1, 0, 2).reshape(len(ids), shape.hidden)
        attended = linear(mixed, name + "attention.output.dense")
        x = normalised(x + attended, name + "attention.output.LayerNorm")
        inner = linear(x, name + "intermediate.dense")
        inner = inner / 2 * (1 + _erf(inner / np.sqrt(2)))
        x = normalised(x + linear(inner, name + "output.dense"), name + "output.LayerNorm")
    return x.astype(np.float32)
