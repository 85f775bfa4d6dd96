"""Reading from several stores, and putting together what they answer."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Protocol, TypeVar

from recollect.domain.scope import Holding, Scope, split_reachable

Store = TypeVar("Store")


class _Named(Protocol):
    @property
    def id(self) -> str: ...


Named = TypeVar("Named", bound=_Named)


async def read_each(
    scopes: Sequence[Scope],
    ids: Sequence[str] | None,
    holding: Holding[Store],
    read: Callable[[Store, tuple[Scope, ...]], Awaitable[list[Named]]],
) -> list[list[Named]]:
    """Return what each store answers.

    A store that cannot be opened is an error, unless everything that the ids name is found.
    """
    places, problems = split_reachable(scopes, holding)
    if problems and ids is None:
        raise problems[0]
    found = list(await asyncio.gather(*(read(store, some) for store, some in places)))
    if problems and ids is not None and {it.id for it in chain(*found)} < set(ids):
        raise problems[0]
    return found


def summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the counts of several stores as one, the largest first."""
    total: Counter[str] = Counter()
    for some in counts:
        total.update(some)
    return dict(total.most_common())
