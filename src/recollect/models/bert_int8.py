"""A BERT encoder as an 8-bit ONNX graph, built straight from its weights.

Weights are rounded per output channel, activations per token while the graph runs. Rounding per
token, not over the whole batch as ONNX's own dynamic quantisation does, keeps a text's vector
independent of the texts beside it and closer to the exact one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.models.onnx_file import FLOAT, INT64, UINT8, Graph

Weights = Mapping[str, NDArray[np.float32]]

# Seven bits for weights: with eight, processors that have AVX2 but no VNNI overflow when they add
# two products in 16 bits, and give other vectors than everybody else.
_LARGEST_WEIGHT: Final = 63
_LARGEST_ACTIVATION: Final = 127
_ZERO: Final = 128
_EPSILON: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class BertShape:
    """How large a BERT is."""

    layers: int
    heads: int
    hidden: int


def build(weights: Weights, shape: BertShape) -> bytes:
    """The ONNX file: input_ids and attention_mask in, last_hidden_state out."""
    return _Bert(weights, shape).file()


class _Bert:
    def __init__(self, weights: Weights, shape: BertShape) -> None:
        self.weights = weights
        self.shape = shape
        self.graph = Graph()

    def file(self) -> bytes:
        graph = self.graph
        tokens = graph.input("input_ids", INT64, ("batch", "tokens"))
        mask = graph.input("attention_mask", INT64, ("batch", "tokens"))
        states = self._embedded(tokens)
        unseen = self._penalty_of_padding(mask)
        for layer in range(self.shape.layers):
            states = self._layer(f"encoder.layer.{layer}.", states, unseen)
        graph.output(states, "last_hidden_state", FLOAT, ("batch", "tokens", self.shape.hidden))
        return graph.model()

    def _embedded(self, tokens: str) -> str:
        node, constant = self.graph.node, self.graph.constant
        rows, scales = _rounded(self.weights["embeddings.word_embeddings.weight"], 127)
        words = node(
            "Mul",
            node("Cast", node("Gather", constant(rows), tokens), to=FLOAT),
            node("Gather", constant(scales), tokens),
        )
        # Every token is of type 0, so its type embedding is a constant.
        positions = (
            self.weights["embeddings.position_embeddings.weight"]
            + self.weights["embeddings.token_type_embeddings.weight"][0]
        )
        start = constant(np.array([0]))
        end = node("Shape", tokens, start=1, end=2)
        here = node("Slice", constant(positions), start, end, start)
        return self._normalised("embeddings.LayerNorm", node("Add", words, here))

    def _penalty_of_padding(self, mask: str) -> str:
        node, constant = self.graph.node, self.graph.constant
        mask = node("Unsqueeze", node("Cast", mask, to=FLOAT), constant(np.array([1, 2])))
        return node("Mul", node("Sub", mask, self._number(1.0)), self._number(1e9))

    def _layer(self, name: str, states: str, unseen: str) -> str:
        node = self.graph.node
        attended = self._attention(name + "attention.self.", states, unseen)
        attended = self._linear(attended, *self._dense(name + "attention.output.dense"))
        states = self._normalised(
            name + "attention.output.LayerNorm", node("Add", states, attended)
        )
        inner = self._linear(states, *self._dense(name + "intermediate.dense"))
        # The approximation errs less than the rounding does, and takes half the time.
        inner = node("Gelu", inner, approximate="tanh")
        outer = self._linear(inner, *self._dense(name + "output.dense"))
        return self._normalised(name + "output.LayerNorm", node("Add", states, outer))

    def _attention(self, name: str, states: str, unseen: str) -> str:
        """All heads at once; query, key and value come out of one multiplication."""
        node, constant = self.graph.node, self.graph.constant
        width = self.shape.hidden // self.shape.heads
        query, key, value = (self._dense(name + part) for part in ("query", "key", "value"))
        scale = np.float32(1 / np.sqrt(width))
        weight = np.concatenate([query[0] * scale, key[0], value[0]])
        bias = np.concatenate([query[1] * scale, key[1], value[1]])
        split = constant(np.array([0, 0, 3, self.shape.heads, width]))
        parts = node("Reshape", self._linear(states, weight, bias), split)
        parts = node("Transpose", parts, perm=(2, 0, 3, 1, 4))
        queries, keys, values = (
            node("Gather", parts, constant(np.array(part)), axis=0) for part in range(3)
        )
        scores = node("MatMul", queries, node("Transpose", keys, perm=(0, 1, 3, 2)))
        shares = node("Softmax", node("Add", scores, unseen), axis=-1)
        mixed = node("Transpose", node("MatMul", shares, values), perm=(0, 2, 1, 3))
        return node("Reshape", mixed, constant(np.array([0, 0, self.shape.hidden])))

    def _linear(self, states: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        """states · weightᵀ + bias, in 8-bit integers."""
        node, constant = self.graph.node, self.graph.constant
        rows, scales = _rounded(weight, _LARGEST_WEIGHT)
        largest = node("ReduceMax", node("Abs", states), constant(np.array([-1])), keepdims=1)
        largest = node("Max", largest, self._number(_EPSILON))
        enlarged = node("Mul", states, node("Div", self._number(_LARGEST_ACTIVATION), largest))
        # Cast cuts towards zero; half a step more makes that a rounding.
        shifted = node("Cast", node("Add", enlarged, self._number(_ZERO + 0.5)), to=UINT8)
        product = node(
            "MatMulInteger",
            shifted,
            constant(np.ascontiguousarray(rows.T)),
            constant(np.array(_ZERO, np.uint8)),
        )
        step = node("Mul", largest, self._number(1 / _LARGEST_ACTIVATION))
        exact = node("Mul", node("Cast", product, to=FLOAT), step)
        return node("Add", node("Mul", exact, constant(scales[:, 0])), constant(bias))

    def _normalised(self, name: str, states: str) -> str:
        return self.graph.node(
            "LayerNormalization",
            states,
            self.graph.constant(self.weights[name + ".weight"]),
            self.graph.constant(self.weights[name + ".bias"]),
            axis=-1,
            epsilon=_EPSILON,
        )

    def _dense(self, name: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return self.weights[name + ".weight"], self.weights[name + ".bias"]

    def _number(self, value: float) -> str:
        return self.graph.constant(np.array(value, np.float32))


def _rounded(
    rows: NDArray[np.float32], largest: int
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """The rows as small integers, and what to multiply each row with to get it back."""
    scales = np.abs(rows).max(axis=1, keepdims=True) / np.float32(largest)
    scales = np.maximum(scales, np.float32(_EPSILON))
    return np.rint(rows / scales).astype(np.int8), scales
