"""The way to a Redis server: short time limits, and pauses that grow while it is away.

Everything in Redis is derived, so a call that fails costs time and nothing else. That is why the
first failure opens the circuit: nobody asks again before a pause is over, and then only one call.
"""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar, cast

from recollect.backends.redis.keys import Keys
from recollect.domain.stats import RedisStats
from recollect.errors import NotAvailable, RecollectError, StoreAway

T = TypeVar("T")

_CONNECT_SECONDS: Final = 1.0
_COMMAND_SECONDS: Final = 0.5
# A connection, and one more when the server has closed the first one meanwhile.
_CALL_SECONDS: Final = 2.0
_FIRST_PAUSE_SECONDS: Final = 0.5
_LONGEST_PAUSE_SECONDS: Final = 10.0
_SCANNED_AT_ONCE: Final = 1_000

_log: Final = logging.getLogger(__name__)


class RedisAway(StoreAway):
    """Redis did not do what it was asked; the database has everything."""

    code = "redis_away"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisPlace:
    """Where a Redis server is, what its keys begin with, and what people call it."""

    url: str = field(repr=False)
    password: str = field(default="", repr=False)
    prefix: str = "memory"
    name: str


class _Pipeline(Protocol):
    def execute_command(self, *command: Any) -> Any: ...
    async def execute(self) -> list[Any]: ...


class Client(Protocol):
    """What is used of the library's client."""

    async def execute_command(self, *command: Any) -> Any: ...
    def pipeline(self, transaction: bool = ...) -> _Pipeline: ...
    def pubsub(self) -> Any: ...
    async def aclose(self) -> None: ...


class RedisLink:
    """The connections of this process to one server."""

    def __init__(self, place: RedisPlace) -> None:
        self.place = place
        self._client: Client | None = None
        self._failures = 0
        self._again_at = 0.0
        self._away_since: float | None = None
        self._problem = ""
        self._is_tried = False
        self._calls = 0
        self._failed = 0
        self._away_seconds = 0.0
        self._is_known = False
        self._losing: asyncio.Task[None] | None = None
        # Returns whose keys these are; a server that others use with the same keys is not used.
        self.owner: Callable[[], str] | None = None
        # Called when it answers again.
        self.on_return: list[Callable[[], None]] = []
        # Called when it has lost what was there, or came back with an older copy of it.
        self.on_loss: list[Callable[[], Awaitable[None]]] = []

    @property
    def name(self) -> str:
        return self.place.name

    @property
    def is_away(self) -> bool:
        """Return whether a call would not even be tried."""
        return self._away_since is not None and (
            self._is_tried or time.monotonic() < self._again_at
        )

    @property
    def problem(self) -> str:
        """Return why it is away; empty if it is not."""
        return self._problem

    async def ask(self, *command: Any) -> Any:
        """Run one command."""
        return await self._call(lambda client: client.execute_command(*command))

    async def ask_all(self, commands: Sequence[tuple[Any, ...]], *, together: bool = False) -> Any:
        """Run commands in one journey; `together` lets nobody see a part of them."""

        async def run(client: Client) -> list[Any]:
            pipeline = client.pipeline(transaction=together)
            for command in commands:
                pipeline.execute_command(*command)
            return await pipeline.execute()

        return await self._call(run) if commands else []

    async def keys(self, pattern: str) -> AsyncGenerator[list[str]]:
        """Yield the keys that match a pattern, in batches; one may come twice."""
        cursor = 0
        while True:
            cursor, found = await self.ask(
                "SCAN", cursor, "MATCH", pattern, "COUNT", _SCANNED_AT_ONCE
            )
            if found:
                yield [key.decode() for key in found]
            if not (cursor := int(cursor)):
                return

    async def remove(self, pattern: str, which: Callable[[str], bool] = lambda _: True) -> int:
        """Delete the keys that match a pattern and a condition; return how many."""
        count = 0
        async with aclosing(self.keys(pattern)) as batches:
            async for keys in batches:
                going = [key for key in keys if which(key)]
                # One by one, because in a cluster they lie on several servers.
                count += sum(await self.ask_all([("UNLINK", key) for key in going]))
        return count

    async def attempt(self, work: Awaitable[T], otherwise: T) -> T:
        """Return the result of some calls, or something else if it is away."""
        try:
            return await work
        except RedisAway:
            return otherwise

    def suspect(self) -> None:
        """Note that a connection broke: it may be another server, or one with older data, now."""
        self._is_known = False

    def client(self) -> Client:
        """Return the library's client, made on first use."""
        if self._client is None:
            self._client = _open(self.place)
        return self._client

    def stats(self) -> RedisStats:
        away = 0.0 if self._away_since is None else time.monotonic() - self._away_since
        return RedisStats(
            place=self.name,
            is_away=self._away_since is not None,
            problem=self._problem,
            calls=self._calls,
            failures=self._failed,
            away_seconds=round(self._away_seconds + away, 3),
        )

    async def close(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def _call(self, work: Callable[[Client], Awaitable[T]]) -> T:
        from redis.exceptions import RedisError

        if self.is_away:
            raise self._away()
        self._is_tried = self._away_since is not None
        self._calls += 1
        try:
            async with asyncio.timeout(_CALL_SECONDS):
                if not self._is_known:
                    await self._get_to_know(self.client())
                result = await work(self.client())
        except (RedisError, OSError, TimeoutError) as fault:
            self._failed += 1
            self._is_known = False
            self._fail(str(fault).partition("\n")[0] or "it did not answer in time")
            raise self._away() from None
        finally:
            self._is_tried = False
        if self._away_since is not None:
            self._return()
        return result

    async def _get_to_know(self, client: Client) -> None:
        """See that the keys are ours, and whether the server has what it had."""
        from redis.exceptions import RedisError, ResponseError

        if self.owner is None:
            return
        keys, owner = Keys(self.place.prefix), await asyncio.to_thread(self.owner)
        try:
            run = str((await client.execute_command("INFO", "server")).get("run_id", ""))
        except ResponseError:
            # Who may not ask for it builds everything anew each time.
            run = secrets.token_hex(16)
        await client.execute_command("SET", keys.owner, owner, "NX")
        found = (await client.execute_command("GET", keys.owner)).decode()
        if found != owner:
            raise RedisError(
                f"keys with {self.place.prefix} belong to another database ({found}); "
                "set storage.state_prefix"
            )
        known = await client.execute_command("GET", keys.run)
        self._is_known = True
        if known is None or known.decode() != run:
            # An older copy may have what was changed or forgotten since.
            await _wipe(client, keys)
            await client.execute_command("SET", keys.run, run)
            self._losing = asyncio.create_task(self._tell_loss(), name="recollect-redis-loss")

    async def _tell_loss(self) -> None:
        for tell in self.on_loss:
            try:
                await tell()
            except RecollectError as problem:
                _log.warning("%s is mirrored anew later: %s", self.name, problem)

    def _away(self) -> RedisAway:
        return RedisAway(
            f"{self.name} is away: {self._problem}",
            hint="The database has everything; `recollect doctor` says what is wrong.",
        )

    def _fail(self, problem: str) -> None:
        now = time.monotonic()
        if self._away_since is None:
            self._away_since = now
            _log.warning("%s is away, the database serves alone: %s", self.name, problem)
        self._problem = problem
        pause = min(_FIRST_PAUSE_SECONDS * 2.0**self._failures, _LONGEST_PAUSE_SECONDS)
        self._failures = min(self._failures + 1, 10)
        # Servers that lost it at the same moment do not come back at the same moment.
        self._again_at = now + pause * random.uniform(0.8, 1.2)

    def _return(self) -> None:
        assert self._away_since is not None
        away = time.monotonic() - self._away_since
        self._away_seconds += away
        self._away_since, self._problem, self._failures = None, "", 0
        _log.warning("%s is back after %.1f s", self.name, away)
        for tell in self.on_return:
            tell()


async def _wipe(client: Client, keys: Keys) -> None:
    """Delete everything of a memory except whose it is."""
    cursor = 0
    while True:
        cursor, found = await client.execute_command(
            "SCAN", cursor, "MATCH", keys.every(), "COUNT", _SCANNED_AT_ONCE
        )
        for key in found:
            if key.decode() != keys.owner:
                await client.execute_command("UNLINK", key)
        if not (cursor := int(cursor)):
            return


def _open(place: RedisPlace) -> Client:
    try:
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff
        from redis.exceptions import ConnectionError as Disconnected
    except ImportError:
        raise NotAvailable(
            f"{place.name} needs the package redis",
            code="not_installed",
            hint="Install it: pip install 'recollect[redis]'",
        ) from None
    # A server that was restarted has closed the connections that are kept, so it is asked twice.
    options: dict[str, Any] = {
        "retry": Retry(NoBackoff(), 1, (Disconnected,)),
        "socket_connect_timeout": _CONNECT_SECONDS,
        "socket_timeout": _COMMAND_SECONDS,
    }
    if place.password:
        options["password"] = place.password
    # The library leaves the types of its options open.
    opened = Redis.from_url(place.url, **options)  # pyright: ignore[reportUnknownMemberType]
    return cast("Client", opened)
