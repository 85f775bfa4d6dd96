"""A value of an object that is computed when it is first asked for.

In Python 3.11 `functools.cached_property` holds one lock for all objects of a class while it
computes: a long question in one thread would make every other question wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class lazy_value(Generic[T_co]):  # noqa: N801 - used as a decorator, like `property`
    """Compute an attribute once an object; two threads at the same time may both compute it."""

    def __init__(self, compute: Callable[[Any], T_co]) -> None:
        self._compute = compute
        self._name = ""
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T_co: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T_co:
        if instance is None:
            return self
        value = self._compute(instance)
        # Found there from now on, before this is asked.
        vars(instance)[self._name] = value
        return value
