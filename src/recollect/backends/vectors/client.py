"""What the clients of vector stores have in common: threads, time limits, names and errors."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Generic, TypeVar
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from recollect.errors import NotAvailable, RecollectError, StoreAway

_SEARCH_SECONDS: Final = 2.0
_WRITE_SECONDS: Final = 60.0
_OPEN_SECONDS: Final = 10.0
_THREADS: Final = 8
_PREFIX: Final = "recollect"
_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9]+")

C = TypeVar("C")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The parts of the URL of a vector store."""

    parts: SplitResult
    options: dict[str, str]

    @classmethod
    def of(cls, url: str) -> Address:
        parts = urlsplit(url)
        options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        return cls(parts=parts, options=options)

    @property
    def name(self) -> str:
        """Return the URL without the key and the options."""
        place = self.parts.netloc.rpartition("@")[2]
        return f"{self.parts.scheme}://{place}{self.parts.path}"

    @property
    def is_encrypted(self) -> bool:
        return self.parts.scheme in ("qdrants", "milvuss")

    @property
    def key(self) -> str:
        return unquote(self.parts.password or "")

    @property
    def user(self) -> str:
        return unquote(self.parts.username or "")

    @property
    def search_seconds(self) -> float:
        return float(self.options.get("timeout", _SEARCH_SECONDS))


def own_names(owner: str) -> str:
    """Return what the names of everything begin with that a database has in a store."""
    return f"{_PREFIX}_{_NOT_IN_A_NAME.sub('_', owner)}_"


class Client(Generic[C]):
    """Calls a blocking client in threads, and says what its errors mean.

    The client is made on first use, so a memory opens while its store is away.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[], C],
        *,
        extra: str,
        faults: Callable[[], tuple[type[Exception], ...]],
        alone: AbstractContextManager[Any] | None = None,
    ) -> None:
        """`alone` is held during each call of a client that only one thread may use at a time."""
        self._name = name
        self._make = make
        self._extra = extra
        # Returns what the client raises; importing it may take long.
        self._faults = faults
        self._alone = alone or nullcontext()
        self._client: C | None = None

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_THREADS, thread_name_prefix="recollect-store")

    async def call(self, work: Callable[[C], T], within: float = _WRITE_SECONDS) -> T:
        """Run `work` with the client in a thread."""
        if self._client is None:
            # The library is imported and a connection made, which is not the store's time.
            await self._within(_OPEN_SECONDS, lambda client: None)
        return await self._within(within, work)

    async def _within(self, seconds: float, work: Callable[[C], T]) -> T:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds):
                return await loop.run_in_executor(self._threads, self._run, work)
        except TimeoutError:
            raise self.away(f"no answer within {seconds:g} seconds") from None

    def away(self, problem: object) -> StoreAway:
        """Return the error of a store that does not answer."""
        said = " ".join(str(problem).split())[:300] or type(problem).__name__
        return StoreAway(f"{self._name} does not answer: {said}")

    async def close(self, end: Callable[[C], Any]) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await asyncio.get_running_loop().run_in_executor(self._threads, end, client)
        if "_threads" in vars(self):
            self._threads.shutdown(wait=False, cancel_futures=True)

    def _run(self, work: Callable[[C], T]) -> T:
        try:
            faults = self._faults()
        except ImportError as missing:
            raise NotAvailable(
                f"{self._name} needs a library that is not installed: {missing.name}",
                code="extra_missing",
                hint=f"pip install 'recollect[{self._extra}]'",
            ) from None
        try:
            with self._alone:
                client = self._client
                if client is None:
                    client = self._client = self._make()
                return work(client)
        except RecollectError:
            raise
        except (*faults, OSError) as problem:
            raise self.away(problem) from problem
