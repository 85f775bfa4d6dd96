"""Which of several stores holds which scopes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from recollect.domain.scope import Scope
from recollect.errors import StorageError

T = TypeVar("T")
Holding = Callable[[Scope], T]
"""Returns the store that holds a scope; raises a `StorageError` when it cannot be opened."""


def split(scopes: Iterable[Scope], holding: Holding[T]) -> list[tuple[T, tuple[Scope, ...]]]:
    """Return every store that holds some of these scopes, with those that it holds."""
    places, problems = split_reachable(scopes, holding)
    if problems:
        raise problems[0]
    return places


def split_reachable(
    scopes: Iterable[Scope], holding: Holding[T]
) -> tuple[list[tuple[T, tuple[Scope, ...]]], list[StorageError]]:
    """Return the same of the stores that are open, and why the others are not."""
    places: dict[int, tuple[T, list[Scope]]] = {}
    problems: list[StorageError] = []
    for scope in scopes:
        try:
            store = holding(scope)
        except StorageError as problem:
            if problem not in problems:
                problems.append(problem)
            continue
        places.setdefault(id(store), (store, []))[1].append(scope)
    return [(store, tuple(some)) for store, some in places.values()], problems
