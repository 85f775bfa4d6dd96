"""Answers of recall that all servers on one memory share.

The versions of the scopes are a part of the key, so an answer is found only as long as nothing was
written to them; no message between servers is needed for that.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Final, cast

from recollect import wire
from recollect.domain.hit import Recalled
from recollect.domain.scope import Scope
from recollect.ports.runtime import Clock
from recollect.ports.shared_cache import SharedCache
from recollect.ports.store import Store

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAnswer:
    """An answer, and until when it holds if nothing is written."""

    recalled: Recalled
    until: datetime


class SharedAnswers:
    """The answers of one store and one set of settings, which are its `fingerprint`.

    Nothing is shared of a question that may not be stored.
    """

    def __init__(
        self,
        cache: SharedCache,
        store: Store,
        clock: Clock,
        fingerprint: Callable[[], str],
        may_share: Callable[[str], bool],
    ) -> None:
        self._cache = cache
        self._store = store
        self._clock = clock
        self._fingerprint = fingerprint
        self._may_share = may_share
        self._mark: str | None = None
        self._keeping: set[asyncio.Task[None]] = set()

    async def find(
        self, text: str, key: Hashable, scopes: tuple[Scope, ...], versions: tuple[int, ...]
    ) -> SharedAnswer | None:
        """Return the answer that a server has given since the scopes have these versions."""
        if not self._may_share(text):
            return None
        (found,) = await self._cache.get([await self._place(key, scopes, versions)])
        if found is None:
            return None
        try:
            answer = wire.decoded_json(SharedAnswer, found)
        except ValueError as unreadable:
            _log.debug("a shared answer cannot be read: %s", unreadable)
            return None
        return answer if self._clock.now() < answer.until else None

    def keep(
        self,
        text: str,
        key: Hashable,
        scopes: tuple[Scope, ...],
        versions: tuple[int, ...],
        recalled: Recalled,
        until: datetime,
    ) -> None:
        """Keep an answer for all servers; nobody waits for it."""
        if self._may_share(text):
            answer = SharedAnswer(recalled=recalled, until=until)
            task = asyncio.create_task(self._keep(key, scopes, versions, answer))
            self._keeping.add(task)
            task.add_done_callback(self._keeping.discard)

    async def close(self) -> None:
        """Finish what is being kept."""
        if self._keeping:
            await asyncio.wait(self._keeping)

    async def _keep(
        self,
        key: Hashable,
        scopes: tuple[Scope, ...],
        versions: tuple[int, ...],
        answer: SharedAnswer,
    ) -> None:
        place = await self._place(key, scopes, versions)
        content = wire.encoded_json(SharedAnswer, answer)
        await self._cache.put({place: content}, answer.until - self._clock.now())
        # It may hold what was forgotten since, and be kept after that was erased.
        if await self._store.versions(scopes) != versions:
            await self._cache.delete(place)

    async def _place(
        self, key: Hashable, scopes: tuple[Scope, ...], versions: tuple[int, ...]
    ) -> str:
        if self._mark is None:
            self._mark = await asyncio.to_thread(self._fingerprint)
        told = (self._mark, [scope.key for scope in scopes], versions, key)
        return blake2b(_told(told).encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


def _told(value: object) -> str:
    """Return a text that is the same for equal values in every process."""
    if isinstance(value, frozenset):
        members = cast("frozenset[object]", value)
        return f"{{{','.join(sorted(map(_told, members)))}}}"
    if isinstance(value, tuple | list):
        parts = cast("Sequence[object]", value)
        return f"({','.join(map(_told, parts))})"
    names = getattr(type(value), "__dataclass_fields__", None)
    if names is not None:
        return _told([(name, getattr(value, name)) for name in names])
    return repr(value)
