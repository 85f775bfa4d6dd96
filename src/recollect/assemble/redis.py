"""Settings → the Redis server beside the database: its mirror, its caches and its messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from secrets import token_hex
from typing import TYPE_CHECKING, Final

from recollect.backends.redis.keys import ANSWERS, VECTORS, Keys
from recollect.backends.redis.link import RedisLink, RedisPlace
from recollect.backends.redis.messages import Message, Messages
from recollect.domain.caches import CacheStats
from recollect.settings.place import told_url
from recollect.writing.redaction import Redactor

if TYPE_CHECKING:
    from recollect.backends.redis.cache import RedisCache
    from recollect.backends.redis.examination import RedisCondition
    from recollect.backends.redis.mirror import RedisMirror
    from recollect.backends.redis.state import MirroredState
    from recollect.backends.sql.database import Database
    from recollect.backends.sql.state import SqlState
    from recollect.domain.scope import Scope
    from recollect.domain.stats import RedisStats
    from recollect.followers.following import Following
    from recollect.ports.jobs import Jobs
    from recollect.ports.runtime import Clock
    from recollect.ports.store import Store
    from recollect.recall.shared_answers import SharedAnswers
    from recollect.settings import Settings

# Writes that follow each other are told together.
_GATHERING_SECONDS: Final = 0.02


def place_of(settings: Settings) -> RedisPlace:
    """Return where the Redis server of the settings is."""
    storage = settings.storage
    return RedisPlace(
        url=storage.state,
        password=storage.state_password,
        prefix=storage.state_prefix,
        name=told_url(storage.state),
    )


def redis_of(settings: Settings, clock: Clock) -> Redis | None:
    """Return the Redis server that the settings name, without connecting to it."""
    return Redis(settings, clock) if settings.storage.state else None


async def examine_redis(settings: Settings) -> RedisCondition:
    """Connect to the Redis server of the settings and try what is needed."""
    from recollect.backends.redis.examination import examine

    link = RedisLink(place_of(settings))
    try:
        return await examine(link)
    finally:
        await link.close()


class Redis:
    """What all stores of a memory use of one Redis server."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._clock = clock
        self._redactor = Redactor(settings.writing.redact)
        place = place_of(settings)
        self.link = RedisLink(place)
        self.keys = Keys(place.prefix)
        self._messages = Messages(self.link, self.keys, token_hex(8))
        self._states: list[MirroredState] = []
        self._written: set[Scope] = set()
        self._telling: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None

    def belong_to(self, database: Database) -> None:
        """Let its keys belong to a database: no other one may use them."""
        self.link.owner = lambda: database.identity

    @cached_property
    def vectors(self) -> RedisCache:
        """Return the cache of embeddings."""
        from recollect.backends.redis.cache import RedisCache

        return RedisCache(self.link, self.keys, VECTORS)

    @cached_property
    def _answers(self) -> RedisCache:
        from recollect.backends.redis.cache import RedisCache

        return RedisCache(self.link, self.keys, ANSWERS)

    def may_share(self, text: str) -> bool:
        """Return whether a text may be stored as it is, and so what is made of it."""
        return self._redactor.mode == "off" or self._redactor.note(text) == text

    def state_over(self, stored: SqlState) -> MirroredState:
        """Return a session state with a mirror."""
        from recollect.backends.redis.state import MirroredState

        state = MirroredState(stored, self.link, self.keys, self._clock)
        self._states.append(state)
        return state

    def answers(self, store: Store, fingerprint: Callable[[], str]) -> SharedAnswers:
        """Return the answers of a store that all servers share."""
        from recollect.recall.shared_answers import SharedAnswers

        return SharedAnswers(self._answers, store, self._clock, fingerprint, self.may_share)

    def mirror(self, database: Database, holds: Callable[[Scope], bool]) -> RedisMirror:
        """Return the mirror of what a database holds."""
        from recollect.backends.redis.mirror import RedisMirror

        return RedisMirror(database, self.link, self.keys, self._clock, holds)

    def following(self, mirror: RedisMirror, database: Database, jobs: Jobs) -> Following:
        """Return what keeps a mirror equal to its database."""
        from recollect.followers.following import Following
        from recollect.followers.rows import SqlFollowers

        rows = SqlFollowers(database, mirror.name, mirror.fewest_units)
        # What it has lost is mirrored anew, also when it comes back with an old copy.
        self.link.on_loss.append(rows.reset)
        return Following(mirror, rows, jobs, self._clock)

    def tell_written(self, scopes: Iterable[Scope]) -> None:
        """Tell the other servers that scopes were written to; nobody waits for it."""
        self._written.update(scopes)
        if self._written and not self.link.is_away and (not self._telling or self._telling.done()):
            self._telling = asyncio.create_task(self._tell(), name="recollect-tell")

    async def tell_forgotten(self) -> None:
        """Tell the other servers to drop everything that they keep beside the database."""
        await self._messages.send(Message(forgot=True))

    def listen(self, hear: Callable[[Message], None]) -> None:
        """Hear in the background what other servers tell."""
        self._listening = asyncio.create_task(self._messages.listen(hear), name="recollect-hear")

    def stats(self) -> RedisStats:
        states = [state.stats() for state in self._states]
        return replace(
            self.link.stats(),
            recall_cache=self._answers.stats(),
            embedding_cache=self.vectors.stats(),
            state=CacheStats(
                hits=sum(it.hits for it in states), misses=sum(it.misses for it in states)
            ),
        )

    async def close(self) -> None:
        for task in filter(None, (self._telling, self._listening)):
            task.cancel()
            await asyncio.wait([task])
        await self.link.close()

    async def _tell(self) -> None:
        while self._written:
            await asyncio.sleep(_GATHERING_SECONDS)
            scopes, self._written = tuple(self._written), set()
            await self._messages.send(Message(scopes=scopes))
