"""Ids: sortable by time, prefixed by what they name, never made by a back-end."""

from __future__ import annotations

import hashlib
import os
import threading
import time
import uuid
from typing import Final, Literal

Stored = Literal["mem", "ep", "proc", "turn", "sess", "arc", "doc", "unit", "job", "item"]
Prefix = Stored | Literal["anon", "write", "recall", "conflict", "prop", "forget", "key", "spool"]

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS: Final = [first + second for first in _ALPHABET for second in _ALPHABET]
_RANDOM_BITS: Final = 80
_TEXT_LENGTH: Final = 26

_lock = threading.Lock()
_last = 0


def new_id(prefix: Prefix) -> str:
    """Return a new id such as `mem_01j…`: time, then random bits, increasing within a process."""
    return f"{prefix}_{_base32(_next(), _TEXT_LENGTH)}"


def anonymous_id(conversation: str) -> str:
    """Return the id of whoever speaks in a conversation whose user was not named.

    It is the same whenever the conversation goes on, and safe in any place that takes an id.
    """
    return _derived("anon", conversation)


def derived_id(prefix: Stored, *parts: str) -> str:
    """Return the id of something that another system named: the same whenever it is met again."""
    return _derived(prefix, "\x1f".join(parts))


def _derived(prefix: Prefix, text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return f"{prefix}_{_base32(int.from_bytes(digest[:16]), _TEXT_LENGTH)}"


def is_id(text: str, *prefixes: Prefix) -> bool:
    """Return whether the text looks like one of our ids or is a bare UUID."""
    prefix, separator, body = text.partition("_")
    if separator and prefix in prefixes:
        return bool(body)
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True


def _next() -> int:
    global _last
    fresh = (time.time_ns() // 1_000_000) << _RANDOM_BITS | int.from_bytes(os.urandom(10))
    with _lock:
        # Two ids of the same millisecond still increase: the later one is the earlier plus one.
        _last = fresh if fresh > _last else _last + 1
        return _last


def _base32(number: int, length: int) -> str:
    """Return the last `length` digits of a number, computed two at a time."""
    digits = ""
    for _ in range(0, length, 2):
        digits = _PAIRS[number & 1023] + digits
        number >>= 10
    return digits[-length:]
