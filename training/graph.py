"""The embedder and the reader of pairs as 8-bit ONNX graphs, built straight from their weights.

Both share one table of word rows, which therefore is no part of either graph: they take the rows
of their tokens (`words`) instead of numbers of tokens. Weights are rounded per output channel,
activations per token while the graph runs. Rounding per token, not over the whole batch as ONNX's
own dynamic quantisation does, keeps a text's vector independent of the texts beside it and closer
to the exact one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from training.onnx_graph import FLOAT, INT64, UINT8, Graph
from training.rounding import EPSILON, LARGEST_WEIGHT, rounded

Weights = Mapping[str, NDArray[np.float32]]

_LARGEST_ACTIVATION: Final = 127
_ZERO: Final = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class BertShape:
    """How large a BERT is."""

    layers: int
    heads: int
    hidden: int


SHAPE: Final = BertShape(layers=6, heads=12, hidden=384)
"""The shape of all models that are shipped."""


def build_embedder(weights: Weights, shape: BertShape) -> bytes:
    """Return the graph: words and attention_mask in, last_hidden_state out."""
    bert = _Bert(weights, shape)
    states = bert.states(bert.words())
    bert.graph.output(states, "last_hidden_state", FLOAT, ("batch", "tokens", shape.hidden))
    return bert.graph.model()


def build_pairs(weights: Weights, shape: BertShape, heads: Sequence[str]) -> bytes:
    """Return the graph that reads two texts: words, kinds and attention_mask in, one output a head.

    A token's kind is 0 or 1 in the first text and 2 or 3 in the second one, odd where the token
    stands on the other side, too, and 4 more for each way of reading.
    """
    bert = _Bert(weights, shape)
    node, constant = bert.graph.node, bert.graph.constant
    words = bert.words()
    kinds = bert.graph.input("kinds", INT64, ("batch", "tokens"))
    words = node("Add", words, node("Gather", constant(weights["kind.weight"]), kinds))
    states = bert.states(words)
    mask = node("Cast", bert.mask, to=FLOAT)

    def mean(side: str) -> str:
        share = node("Mul", node("Cast", side, to=FLOAT), mask)
        share = node("Unsqueeze", share, constant(np.array([-1])))
        total = node("ReduceSum", node("Mul", states, share), constant(np.array([1])), keepdims=0)
        return node("Div", total, node("ReduceSum", share, constant(np.array([1])), keepdims=0))

    side = node("Mod", kinds, constant(np.array(4)))
    old = mean(node("Less", side, constant(np.array(2))))
    new = mean(node("Greater", side, constant(np.array(1))))
    first = node("Gather", states, constant(np.array(0)), axis=1)
    pooled = node("Concat", first, old, new, node("Abs", node("Sub", old, new)), axis=-1)
    pooled = node("Tanh", bert.linear(pooled, weights["pool.weight"], weights["pool.bias"]))
    for name in heads:
        weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
        product = node("MatMul", pooled, constant(np.ascontiguousarray(weight.T)))
        bert.graph.output(node("Add", product, constant(bias)), name, FLOAT, ("batch", len(bias)))
    return bert.graph.model()


class _Bert:
    def __init__(self, weights: Weights, shape: BertShape) -> None:
        self.weights = weights
        self.shape = shape
        self.graph = Graph()
        self.mask = self.graph.input("attention_mask", INT64, ("batch", "tokens"))

    def words(self) -> str:
        return self.graph.input("words", FLOAT, ("batch", "tokens", self.shape.hidden))

    def states(self, words: str) -> str:
        """Return what the layers make of the words, which know nothing of their places yet."""
        node, constant = self.graph.node, self.graph.constant
        start = constant(np.array([0]))
        end = node("Shape", words, start=1, end=2)
        positions = constant(self.weights["embeddings.position_embeddings.weight"])
        placed = node("Add", words, node("Slice", positions, start, end, start))
        states = self._normalised("embeddings.LayerNorm", placed)
        unseen = self._penalty_of_padding(self.mask)
        for layer in range(self.shape.layers):
            states = self._layer(f"encoder.layer.{layer}.", states, unseen)
        return states

    def _penalty_of_padding(self, mask: str) -> str:
        node, constant = self.graph.node, self.graph.constant
        mask = node("Unsqueeze", node("Cast", mask, to=FLOAT), constant(np.array([1, 2])))
        return node("Mul", node("Sub", mask, self._number(1.0)), self._number(1e9))

    def _layer(self, name: str, states: str, unseen: str) -> str:
        node = self.graph.node
        attended = self._attention(name + "attention.self.", states, unseen)
        attended = self.linear(attended, *self._dense(name + "attention.output.dense"))
        states = self._normalised(
            name + "attention.output.LayerNorm", node("Add", states, attended)
        )
        inner = self.linear(states, *self._dense(name + "intermediate.dense"))
        # The approximation errs less than the rounding does, and takes half the time.
        inner = node("Gelu", inner, approximate="tanh")
        outer = self.linear(inner, *self._dense(name + "output.dense"))
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
        parts = node("Reshape", self.linear(states, weight, bias), split)
        parts = node("Transpose", parts, perm=(2, 0, 3, 1, 4))
        queries, keys, values = (
            node("Gather", parts, constant(np.array(part)), axis=0) for part in range(3)
        )
        scores = node("MatMul", queries, node("Transpose", keys, perm=(0, 1, 3, 2)))
        shares = node("Softmax", node("Add", scores, unseen), axis=-1)
        mixed = node("Transpose", node("MatMul", shares, values), perm=(0, 2, 1, 3))
        return node("Reshape", mixed, constant(np.array([0, 0, self.shape.hidden])))

    def linear(self, states: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        """states · weightᵀ + bias, in 8-bit integers."""
        node, constant = self.graph.node, self.graph.constant
        rows, scales = rounded(weight, LARGEST_WEIGHT)
        largest = node("ReduceMax", node("Abs", states), constant(np.array([-1])), keepdims=1)
        largest = node("Max", largest, self._number(EPSILON))
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
            epsilon=EPSILON,
        )

    def _dense(self, name: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return self.weights[name + ".weight"], self.weights[name + ".bias"]

    def _number(self, value: float) -> str:
        return self.graph.constant(np.array(value, np.float32))
