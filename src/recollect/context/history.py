"""A framework's own history compared with the stored one: what is new, and what was retracted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from recollect.context.edits import Drop, Edit, Insert, Keep, Replace
from recollect.domain.message import Message, TextPart
from recollect.domain.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """The result of a sync: the new turns, the ids of retracted ones, and how many stayed."""

    added: tuple[Turn, ...] = ()
    retracted: tuple[str, ...] = ()
    unchanged: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlan:
    """The changes to a framework's messages before a model call, by index.

    `system` is appended to the system prompt for this one call and never stored. `degraded` says
    what is missing.
    """

    edits: tuple[Edit, ...]
    system: str = ""
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Where a given history begins in the known one, and how many messages they share there."""

    start: int
    shared: int


def fingerprint(message: Message) -> str:
    """Return a hash of what a message says; ids and a provider's own marks do not count."""
    parts = [
        part.text if isinstance(part, TextPart) else [part.description, dict(part.source)]
        for part in message.parts
    ]
    calls = [[call.id, call.name, call.arguments] for call in message.tool_calls]
    said = json.dumps([message.role, message.name, message.answers, parts, calls], default=str)
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def align(known: Sequence[str], given: Sequence[str]) -> Alignment:
    """Compare a given history with the known one by the fingerprints of their messages.

    A framework that has cut off the beginning gives the rest of what is known; any other difference
    retracts everything after the last message that both share.
    """
    shared = _common_length(known, given)
    if shared or not known or not given:
        return Alignment(start=0, shared=shared)
    for start in range(1, len(known)):
        rest = known[start:]
        if len(given) >= len(rest) and _common_length(rest, given) == len(rest):
            return Alignment(start=start, shared=len(rest))
    return Alignment(start=0, shared=0)


def _common_length(one: Sequence[str], other: Sequence[str]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )


def edits_between(before: Sequence[Message], after: Sequence[Message]) -> Iterable[Edit]:
    """Return the edits that make one list of messages the other.

    Messages are the same if their ids are; those without an id are new. What was kept stays in its
    order.
    """
    place = 0
    for message in after:
        found = _place_of(message, before, place)
        if found is None:
            yield Insert(place, message)
            continue
        yield from map(Drop, range(place, found))
        yield Keep(found) if before[found] == message else Replace(found, message)
        place = found + 1
    yield from map(Drop, range(place, len(before)))


def _place_of(message: Message, before: Sequence[Message], start: int) -> int | None:
    if message.id is None:
        return None
    places = (at for at in range(start, len(before)) if before[at].id == message.id)
    return next(places, None)
