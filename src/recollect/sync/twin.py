"""Blocking twins: the methods of an async object, made on the loop of its memory.

A twin names each method once; parameters, result and docstring are those of the async method,
for type checkers too:

    class SharedMemory(Twin[AsyncSharedMemory]):
        approve = blocking(AsyncSharedMemory.approve)
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from recollect.sync.loop import Loop

P = ParamSpec("P")
R = TypeVar("R")
Inner = TypeVar("Inner")


class Twin(Generic[Inner]):
    """An async object for blocking code."""

    def __init__(self, inner: Inner, loop: Loop) -> None:
        self._inner = inner
        self._loop = loop


def blocking(
    method: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Any, P], R]:
    """Return the method of a twin that runs this async method and waits for its result."""
    name = method.__name__

    @wraps(method)
    def call(twin: Any, *arguments: P.args, **named: P.kwargs) -> R:
        return twin._loop.run(lambda: getattr(twin._inner, name)(*arguments, **named))

    return call


def wrapped(
    method: Callable[Concatenate[Any, P], Inner], twin_of: Callable[[Inner, Loop], R]
) -> Callable[Concatenate[Any, P], R]:
    """Return the method of a twin that gives the twin of what this plain method returns."""
    name = method.__name__

    @wraps(method)
    def call(twin: Any, *arguments: P.args, **named: P.kwargs) -> R:
        return twin_of(getattr(twin._inner, name)(*arguments, **named), twin._loop)

    return call
