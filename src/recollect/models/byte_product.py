"""Products of one-byte integers by onnxruntime, which uses processor instructions for them."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recollect.errors import NotAvailable
from recollect.models.onnx_file import INT8, INT32, UINT8, Graph
from recollect.models.onnx_session import Session, open_session

Product = Callable[[NDArray[np.uint8], NDArray[np.int8]], NDArray[Any]]

# For fewer rows, loading onnxruntime takes longer than computing without it.
_MIN_ROWS: Final = 5_000
_MAX_THREADS: Final = 4


def quick_product(otherwise: Product) -> Product:
    """Multiply rows three times as fast as numpy; use `otherwise` for few, or without onnxruntime.

    Both return the same numbers.
    """

    def product(rows: NDArray[np.uint8], columns: NDArray[np.int8]) -> NDArray[Any]:
        session = _session() if len(rows) >= _MIN_ROWS else None
        if session is None:
            return otherwise(rows, columns)
        return session.run(None, {"rows": rows, "columns": columns})[0]

    return product


@cache
def _session() -> Session | None:
    graph = Graph()
    rows = graph.input("rows", UINT8, ("count", "size"))
    columns = graph.input("columns", INT8, ("size", "parts"))
    graph.output(graph.node("MatMulInteger", rows, columns), "products", INT32, ("count", "parts"))
    try:
        return open_session(graph.model(), threads=min(os.cpu_count() or 1, _MAX_THREADS))
    except NotAvailable:
        return None
