"""What servers tell each other through Redis: that scopes were written to, or something forgotten.

Nothing depends on a message: whoever misses one finds out by the versions in the database. It only
lets others drop what they keep for nothing, and forget at once what may be kept nowhere.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from recollect.backends.redis.keys import Keys, scope_in, tag
from recollect.backends.redis.link import RedisAway, RedisLink
from recollect.domain.scope import Scope

# How often a quiet connection is asked whether it is one still.
_QUIET_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.5

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """The scopes that were written to; `forgot` means that nothing kept elsewhere may stay."""

    scopes: tuple[Scope, ...] = ()
    forgot: bool = False


class Messages:
    """The channel of one memory."""

    def __init__(self, link: RedisLink, keys: Keys, sender: str) -> None:
        self._link = link
        self._keys = keys
        self._sender = sender

    async def send(self, message: Message) -> None:
        """Tell the other servers; if Redis is away, they find out by themselves."""
        told = {"from": self._sender, "scopes": [tag(it) for it in message.scopes]}
        told |= {"forgot": message.forgot}
        content = json.dumps(told, ensure_ascii=False)
        await self._link.attempt(self._link.ask("PUBLISH", self._keys.channel, content), None)

    async def listen(self, hear: Callable[[Message], None]) -> None:
        """Listen for ever; this is also who notices that Redis is away, and that it is back."""
        while True:
            try:
                await self._link.ask("PING")
                await self._listen(hear)
            except RedisAway:
                pass
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _listen(self, hear: Callable[[Message], None]) -> None:
        from redis.exceptions import RedisError

        channel = self._link.client().pubsub()
        try:
            await channel.subscribe(self._keys.channel)
            # What was told while nobody listened is unknown.
            hear(Message(forgot=True))
            while True:
                told = await channel.get_message(
                    ignore_subscribe_messages=True, timeout=_QUIET_SECONDS
                )
                if told is None:
                    await self._link.ask("PING")
                elif (message := self._read(told["data"])) is not None:
                    hear(message)
        except (RedisError, OSError) as fault:
            _log.debug("messages from %s end: %s", self._link.name, fault)
            self._link.suspect()
        finally:
            await channel.aclose()

    def _read(self, content: Any) -> Message | None:
        """Return a message of another server; None for our own, and for what is none."""
        try:
            told = json.loads(content)
            if told["from"] == self._sender:
                return None
            scopes = tuple(filter(None, map(scope_in, told["scopes"])))
            return Message(scopes=scopes, forgot=bool(told["forgot"]))
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
