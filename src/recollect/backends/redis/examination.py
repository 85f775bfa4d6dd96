"""A look at a Redis server for `doctor`: whether it answers, what it is, and what we may do."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Final

from recollect.backends.redis.keys import Keys
from recollect.backends.redis.link import Client, RedisLink
from recollect.errors import StoreAway

_OLDEST: Final = (6, 0)
_MINUTE: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisCondition:
    """What was found; `denied` are commands that this user may not run."""

    name: str
    problem: str = ""
    version: str = ""
    milliseconds: float = 0.0
    memory_bytes: int = 0
    eviction: str = ""
    denied: tuple[str, ...] = ()
    owner: str = ""
    """The database whose keys are there; empty if there are none, or they may not be read."""
    is_encrypted: bool = False

    @property
    def is_too_old(self) -> bool:
        parts = self.version.rpartition(" ")[2].split(".")[:2]
        return all(map(str.isdecimal, parts)) and tuple(map(int, parts)) < _OLDEST


async def examine(link: RedisLink) -> RedisCondition:
    """Connect and try everything that is needed, with a key that goes by itself."""
    try:
        began = time.perf_counter()
        await link.ask("PING")
        milliseconds = (time.perf_counter() - began) * 1_000
    except StoreAway:
        return RedisCondition(name=link.name, problem=link.problem)
    client, keys = link.client(), Keys(link.place.prefix)
    denied = await _denied(client, keys)
    server, memory = await _info(client, "server"), await _info(client, "memory")
    # Valkey says that it is a Redis of the version that it descends from, too.
    product = "Valkey " if server.get("server_name") == "valkey" else ""
    version = str(server.get("valkey_version") or server.get("redis_version", ""))
    return RedisCondition(
        name=link.name,
        version=product + version,
        milliseconds=milliseconds,
        memory_bytes=int(memory.get("used_memory", 0)),
        eviction=str(memory.get("maxmemory_policy", "")),
        denied=denied,
        owner=await _owner(client, keys),
        is_encrypted=link.place.url.startswith("rediss"),
    )


async def _denied(client: Client, keys: Keys) -> tuple[str, ...]:
    """Return the commands that are refused, each tried on a key of our own."""
    from redis.exceptions import RedisError

    probe = keys.cached("probe", token_hex(8))
    tried: list[tuple[Any, ...]] = [
        ("SET", probe, "1", "PX", _MINUTE * 1_000),
        ("GET", probe),
        ("UNLINK", probe),
        ("HSET", probe, "field", "1"),
        ("HMGET", probe, "field"),
        ("HGETALL", probe),
        ("PEXPIRE", probe, _MINUTE * 1_000),
        ("PERSIST", probe),
        ("TYPE", probe),
        ("UNLINK", probe),
        ("ZADD", probe, 1, "member"),
        ("ZRANGE", probe, 0, -1),
        ("UNLINK", probe),
        ("SCAN", 0, "MATCH", probe, "COUNT", 1),
        ("PUBLISH", keys.channel, ""),
    ]
    denied: list[str] = []
    for command in tried:
        try:
            await client.execute_command(*command)
        except RedisError as refusal:
            denied.append(f"{command[0]} ({str(refusal).partition(chr(10))[0]})")
    return tuple(dict.fromkeys(denied))


async def _owner(client: Client, keys: Keys) -> str:
    from redis.exceptions import RedisError

    try:
        found = await client.execute_command("GET", keys.owner)
    except RedisError:
        return ""
    return "" if found is None else found.decode()


async def _info(client: Client, section: str) -> Mapping[str, Any]:
    from redis.exceptions import RedisError

    try:
        return await client.execute_command("INFO", section)
    except RedisError:
        # Not everybody may ask; nothing depends on it.
        return {}
