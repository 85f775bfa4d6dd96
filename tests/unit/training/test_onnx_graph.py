"""Graphs that we write are graphs that onnxruntime runs."""

from __future__ import annotations

import numpy as np

from recollect.models.onnx_model import open_session
from training.onnx_graph import FLOAT, INT64, Graph


def test_constants_attributes_and_named_values_reach_onnxruntime():
    graph = Graph()
    x = graph.input("x", FLOAT, ("rows", 3))
    weight = np.arange(6, dtype=np.float32).reshape(3, 2)
    product = graph.node("MatMul", x, graph.constant(weight))
    turned = graph.node("Transpose", product, perm=(1, 0))
    curved = graph.node("Gelu", turned, approximate="tanh")
    graph.output(graph.node("Softmax", curved, axis=-1), "y", FLOAT, (2, "rows"))
    given = np.array([[1, -1, 0.5], [0, 2, 1]], np.float32)

    (result,) = open_session(graph.model()).run(["y"], {"x": given})

    expected = (given @ weight).T
    expected = (
        expected / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (expected + 0.044715 * expected**3)))
    )
    expected = np.exp(expected) / np.exp(expected).sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(result, expected, atol=1e-5)


def test_negative_and_large_integers_are_written_right():
    graph = Graph()
    x = graph.input("x", INT64, ("n",))
    numbers = np.array([-1, -(2**40), 300, 2**62])
    graph.output(graph.node("Add", x, graph.constant(numbers)), "y", INT64, ("n",))

    (result,) = open_session(graph.model()).run(None, {"x": np.zeros(4, np.int64)})

    assert result.tolist() == numbers.tolist()
