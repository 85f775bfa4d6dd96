"""The graph that multiplies bytes is the one that the onnx package writes."""

from recollect.models.byte_products import GRAPH
from training.onnx_graph import INT8, INT32, UINT8, Graph


def test_the_graph_in_the_package_is_one_product():
    graph = Graph()
    rows = graph.input("rows", UINT8, ("count", "size"))
    columns = graph.input("columns", INT8, ("size", "parts"))
    graph.output(graph.node("MatMulInteger", rows, columns), "products", INT32, ("count", "parts"))
    assert graph.model() == GRAPH
