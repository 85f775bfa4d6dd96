"""A small interface to onnxruntime, with its errors translated into ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

from numpy.typing import NDArray

from recollect.models.faults import ModelDamaged, missing_library
from recollect.models.quiet_libraries import import_quietly

_PLAIN_ERRORS: Final = (RuntimeError, ValueError, MemoryError, OSError)


class Port(Protocol):
    """An input or output of a graph."""

    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> Sequence[str | int | None]: ...


class Session(Protocol):
    """The part of an onnxruntime session that we use."""

    def get_inputs(self) -> Sequence[Port]: ...
    def get_outputs(self) -> Sequence[Port]: ...
    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, NDArray[Any]]
    ) -> Sequence[Any]: ...


def open_session(graph: bytes | Path, threads: int = 1) -> Session:
    """Open a session that computes on the calling thread, unless it gets more threads.

    Batches run in parallel instead of splitting each over threads, which would wait for each other
    as soon as another program takes a core.
    """
    try:
        onnxruntime: Any = import_quietly("onnxruntime")
    except ImportError:
        raise missing_library("onnxruntime", "local") from None
    options: Any = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Spinning threads would keep a core busy that others could use.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors come as exceptions; warnings would go to stderr
    source = graph if isinstance(graph, bytes) else str(graph)
    try:
        session: Any = onnxruntime.InferenceSession(
            source, options, providers=["CPUExecutionProvider"]
        )
    except session_errors() as problem:
        raise ModelDamaged(f"The model cannot be opened: {first_line(problem)}") from None
    return session


@cache
def session_errors() -> tuple[type[Exception], ...]:
    """Return the errors that a session raises; their only common base is Exception."""
    try:
        runtime = import_quietly("onnxruntime.capi.onnxruntime_pybind11_state")
    except ImportError:
        return _PLAIN_ERRORS
    things: Iterable[object] = vars(runtime).values()
    own = (kind for kind in things if isinstance(kind, type) and issubclass(kind, Exception))
    return (*_PLAIN_ERRORS, *own)


def first_line(problem: Exception) -> str:
    return str(problem).partition("\n")[0][:300] or type(problem).__name__
