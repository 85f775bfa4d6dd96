"""Which store holds a scope, and one service over several stores.

A memory has a common store, and agents may have stores of their own. The router says which store
holds a scope. A `Routed` service sends each call to the stores that hold the scopes it names; the
few verbs that have to merge answers are in `several_stores` and `directories`. With one store, the
methods of its own service are handed out, and nothing stands between.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from recollect.domain.scope import Scope
from recollect.errors import AgentMoved, StorageError

if TYPE_CHECKING:
    from recollect.settings import Settings

T = TypeVar("T")
Parts = TypeVar("Parts")
Verb = Callable[..., Any]
"""Answers a call for several stores: takes `Stores`, then the arguments of the call."""

# Writes that are refused where an agent has moved away by another process.
_FOLLOWING: Final = frozenset({"commit", "put"})


class Router(Generic[Parts]):
    """The open stores of a memory, each with its services, and which of them holds what.

    `follow` learns where other processes have moved agents.
    """

    def __init__(
        self, common: Parts, settings: Settings, follow: Callable[[], Awaitable[None]]
    ) -> None:
        self.common = common
        self.settings = settings
        self.follow = follow
        # The stores of agents that have one of their own, by kind and place.
        self.stores: dict[tuple[str, str], Parts] = {}
        # Why some of them could not be opened: the memory of all others is there all the same.
        self.unopened: dict[tuple[str, str], StorageError] = {}

    @property
    def has_one_store(self) -> bool:
        return not (self.stores or self.unopened)

    @property
    def opened(self) -> tuple[Parts, ...]:
        """The services on every open store, those on the common one first."""
        return self.common, *self.stores.values()

    def every(self) -> tuple[Parts, ...]:
        """Return the same when all stores are open; refuse otherwise."""
        for problem in self.unopened.values():
            raise StorageError(
                f"An agent's store cannot be opened, so nothing was done: {problem.message}",
                code="store_unopened",
                hint=problem.hint,
            )
        return self.opened

    def of_agent(self, agent: str | None) -> Parts:
        """Return the services on the store that holds the memory of an agent."""
        if not (self.stores or self.unopened):
            return self.common
        key = self.settings.store_of(agent)
        if key in self.unopened:
            raise self.unopened[key]
        return self.stores.get(key, self.common)

    def holding(self, scope: Scope) -> Parts:
        """Return the services on the store that holds a scope."""
        return self.of_agent(scope.agent)

    def agents_unopened(self) -> dict[str, StorageError]:
        """Return why the stores of some agents are not open."""
        of_agents = {name: self.settings.store_of(name) for name in self.settings.agents}
        return {name: self.unopened[key] for name, key in of_agents.items() if key in self.unopened}

    def route(
        self, here: Parts, service: Callable[[Parts], T], verbs: Mapping[str, Verb] | None = None
    ) -> T:
        """Return one service over all stores; `here` is the store of what names no scope."""
        return cast("T", _Routed(Stores(self, here, service), verbs or {}))


@dataclass(frozen=True, slots=True)
class Stores(Generic[T]):
    """The same service of every store."""

    router: Router[Any]
    here: Any
    service: Callable[[Any], T]

    @property
    def home(self) -> T:
        return self.service(self.here)

    @property
    def common(self) -> T:
        return self.service(self.router.common)

    def holding(self, scope: Scope) -> T:
        return self.service(self.router.holding(scope))

    def of_agent(self, agent: str | None) -> T:
        return self.service(self.router.of_agent(agent))

    def opened(self) -> list[T]:
        return [self.service(parts) for parts in self.router.opened]

    def every(self) -> list[T]:
        return [self.service(parts) for parts in self.router.every()]


class _Routed:
    def __init__(self, stores: Stores[Any], verbs: Mapping[str, Verb]) -> None:
        self._stores = stores
        self._verbs = verbs

    def __getattr__(self, name: str) -> Any:
        return partial(self._followed, name) if name in _FOLLOWING else self._method(name)

    def _method(self, name: str) -> Any:
        if self._stores.router.has_one_store:
            return getattr(self._stores.home, name)
        if name in self._verbs:
            return partial(self._verbs[name], self._stores)
        return partial(self._one, name)

    def _one(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Call the store of the scope that the first argument is or has; else that at home."""
        scope = arguments[0] if arguments else None
        if not isinstance(scope, Scope):
            scope = getattr(scope, "scope", None)
        store = self._stores.home if scope is None else self._stores.holding(scope)
        return getattr(store, name)(*arguments, **options)

    async def _followed(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Write; if the agent has moved, learn where to and write there."""
        try:
            return await cast("Awaitable[Any]", self._method(name)(*arguments, **options))
        except AgentMoved:
            await self._stores.router.follow()
            return await self._method(name)(*arguments, **options)
