"""Read the judge's weights back from the graph that is shipped, to train it further.

They come back as they were rounded: the graph built from them gives the same scores again.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from training.graph import BertShape

Array = NDArray[np.float32]

_GRAPH, _CONSTANT, _SIZE, _ELEMENT, _DATA = 7, 5, 1, 2, 9
_ELEMENTS = {1: np.dtype("<f4"), 2: np.dtype("u1"), 3: np.dtype("i1"), 7: np.dtype("<i8")}
_INT8 = 3


def read_judge(data: bytes, shape: BertShape, heads: tuple[str, ...]) -> dict[str, Array]:
    """Return the weights of a graph that `build_judge` made, under their names in safetensors."""
    tables = _tables(data)
    found = {"kind.weight": next(tables)}
    found["embeddings.position_embeddings.weight"] = next(tables)

    def read(name: str) -> None:
        found[f"{name}.weight"], found[f"{name}.bias"] = next(tables), next(tables)

    read("embeddings.LayerNorm")
    for number in range(shape.layers):
        layer = f"encoder.layer.{number}."
        weights, biases = (np.split(next(tables), 3) for _ in range(2))
        for part, weight, bias in zip(("query", "key", "value"), weights, biases, strict=True):
            # The graph has the attention's scale in the query.
            scale = np.float32(np.sqrt(shape.hidden // shape.heads)) if part == "query" else 1
            found[f"{layer}attention.self.{part}.weight"] = weight * scale
            found[f"{layer}attention.self.{part}.bias"] = bias * scale
        read(f"{layer}attention.output.dense")
        read(f"{layer}attention.output.LayerNorm")
        read(f"{layer}intermediate.dense")
        read(f"{layer}output.dense")
        read(f"{layer}output.LayerNorm")
    read("pool")
    for head in heads:
        found[f"{head}.weight"] = np.ascontiguousarray(next(tables).T)
        found[f"{head}.bias"] = next(tables)
    return found


def _tables(data: bytes) -> Iterator[Array]:
    """Yield the weights in the order of the graph, those in bytes as what they stand for."""
    (graph,) = (value for field, value in _fields(data) if field == _GRAPH)
    assert isinstance(graph, bytes)
    constants = [value for field, value in _fields(graph) if field == _CONSTANT]
    tables = [_table(value) for value in constants if isinstance(value, bytes)]
    weights = iter([it for it in tables if it.ndim and it.dtype in (np.float32, np.int8)])
    for table in weights:
        yield (table.T * next(weights)[:, None]) if table.dtype == np.int8 else table


def _table(message: bytes) -> NDArray[np.float32] | NDArray[np.int8]:
    sizes: list[int] = []
    element, data = 0, b""
    for field, value in _fields(message):
        if field == _SIZE and isinstance(value, int):
            sizes.append(value)
        elif field == _ELEMENT and isinstance(value, int):
            element = value
        elif field == _DATA and isinstance(value, bytes):
            data = value
    return np.frombuffer(data, _ELEMENTS[element]).reshape(sizes)


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the numbers and values of a protobuf message's fields."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        value, at = _varint(message, at)
        if tag & 7 == 2:
            yield tag >> 3, message[at : at + value]
            at += value
        else:
            yield tag >> 3, value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
