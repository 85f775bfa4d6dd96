"""The weights of a shipped graph that reads two texts, to go on training from.

What comes back was rounded to seven bits when it was shipped; nothing else keeps these weights.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, numpy_helper

from training.graph import BertShape

Array = NDArray[np.float32]


def shipped_weights(file: bytes, shape: BertShape) -> dict[str, Array]:
    """Return the weights of what `training.graph.build_pairs` wrote, under the same names."""
    graph = _Nodes(onnx.load_model_from_string(file))
    kinds, positions = graph.of("Gather")[0].input[0], graph.of("Slice")[0].input[0]
    found = {
        "kind.weight": graph.constant(kinds),
        "embeddings.position_embeddings.weight": graph.constant(positions),
    }
    layers = [f"encoder.layer.{layer}." for layer in range(shape.layers)]
    norms = ["embeddings.LayerNorm"]
    norms += [f"{it}{part}.LayerNorm" for it in layers for part in ("attention.output", "output")]
    for name, node in zip(norms, graph.of("LayerNormalization"), strict=True):
        found[f"{name}.weight"], found[f"{name}.bias"] = map(graph.constant, node.input[1:])
    parts = ("attention.self", "attention.output.dense", "intermediate.dense", "output.dense")
    products = [*(it + part for it in layers for part in parts), "pool"]
    for name, (weight, bias) in zip(products, graph.products(), strict=True):
        if not name.endswith("attention.self"):
            found[f"{name}.weight"], found[f"{name}.bias"] = weight, bias
            continue
        # All three came out of one multiplication, and queries were made smaller before it.
        scale = np.float32(np.sqrt(shape.hidden // shape.heads))
        sides = zip(("query", "key", "value"), np.split(weight, 3), np.split(bias, 3), strict=True)
        for side, rows, added in sides:
            larger = scale if side == "query" else np.float32(1)
            found[f"{name}.{side}.weight"] = rows * larger
            found[f"{name}.{side}.bias"] = added * larger
    for output in graph.outputs:
        added = graph.maker(graph.maker(output).input[0])
        product = graph.maker(added.input[0])
        found[f"{output}.weight"] = np.ascontiguousarray(graph.constant(product.input[1]).T)
        found[f"{output}.bias"] = graph.constant(added.input[1])
    return found


class _Nodes:
    """The operators of a graph in the order in which they were added."""

    def __init__(self, model: ModelProto) -> None:
        self._nodes = list(model.graph.node)
        self._constants = {it.name: it for it in model.graph.initializer}
        self._makers = {node.output[0]: node for node in self._nodes}
        self._takers = {name: node for node in self._nodes for name in node.input}
        self.outputs = [it.name for it in model.graph.output]

    def of(self, operator: str) -> list[NodeProto]:
        return [node for node in self._nodes if node.op_type == operator]

    def maker(self, value: str) -> NodeProto:
        return self._makers[value]

    def constant(self, name: str) -> Array:
        return numpy_helper.to_array(self._constants[name]).astype(np.float32)

    def products(self) -> Iterator[tuple[Array, Array]]:
        """Yield weight and bias of each product in 8-bit integers."""
        for node in self.of("MatMulInteger"):
            exact = self._takers[self._takers[node.output[0]].output[0]]
            scaled = self._takers[exact.output[0]]
            added = self._takers[scaled.output[0]]
            scales = self.constant(scaled.input[1])
            yield self.constant(node.input[1]).T * scales[:, None], self.constant(added.input[1])
