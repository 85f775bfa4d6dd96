"""ONNX graphs, built operator by operator with the `onnx` package."""

from __future__ import annotations

from typing import Any, Final

from numpy.typing import NDArray
from onnx import GraphProto, TensorProto, helper, numpy_helper

FLOAT: Final = int(TensorProto.FLOAT)
UINT8: Final = int(TensorProto.UINT8)
INT8: Final = int(TensorProto.INT8)
INT32: Final = int(TensorProto.INT32)
INT64: Final = int(TensorProto.INT64)

_IR_VERSION: Final = 9
_OPSET: Final = 20


class Graph:
    """A graph under construction; every method returns the name of the value that it added."""

    def __init__(self) -> None:
        self._graph = GraphProto(name="graph")

    def input(self, name: str, element: int, shape: tuple[str | int, ...]) -> str:
        self._graph.input.append(helper.make_tensor_value_info(name, element, shape))
        return name

    def output(self, value: str, name: str, element: int, shape: tuple[str | int, ...]) -> None:
        """Publish a value under a name."""
        self._graph.node.append(helper.make_node("Identity", [value], [name]))
        self._graph.output.append(helper.make_tensor_value_info(name, element, shape))

    def constant(self, value: NDArray[Any]) -> str:
        name = f"constant_{len(self._graph.initializer)}"
        self._graph.initializer.append(numpy_helper.from_array(value, name))
        return name

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator with one result."""
        name = f"value_{len(self._graph.node)}"
        node = self._graph.node.add(op_type=operator, input=inputs, output=[name])
        # In the order given: `make_node` sorts them, and a model is known by the hash of its file.
        node.attribute.extend(helper.make_attribute(*it) for it in attributes.items())
        return name

    def model(self) -> bytes:
        """Return the finished file."""
        model = helper.make_model(
            self._graph,
            producer_name="recollect",
            ir_version=_IR_VERSION,
            opset_imports=[helper.make_opsetid("", _OPSET)],
        )
        return model.SerializeToString(deterministic=True)
