"""A set's unit as an agent would have met it: a message of a session, or a record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from recollect.domain.fields import Draft
from recollect.domain.turn import MessageFields
from recollect.evaluation.recall_sets import SetUnit
from recollect.evaluation.source_times import parse_time

# Sets whose units are plain messages of one user, without saying so in each line.
_MESSAGES_OF_A_USER: Final = frozenset({"memdaily_noise"})
_ONLY_SESSION: Final = "messages"
_BATCH: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Units that are handed over in one call: messages of one session, or records."""

    session: str | None
    units: tuple[SetUnit, ...]


def batches(set_name: str, units: Iterable[SetUnit]) -> Iterator[Batch]:
    """The units in their order, cut where the session changes and at a handy size."""
    for session, group in groupby(units, lambda unit: session_of(set_name, unit)):
        rest = tuple(group)
        for start in range(0, len(rest), _BATCH):
            yield Batch(session=session, units=rest[start : start + _BATCH])


def session_of(set_name: str, unit: SetUnit) -> str | None:
    """The session in which the unit was said; None when it is no turn."""
    if set_name in _MESSAGES_OF_A_USER:
        return _ONLY_SESSION
    if "speaker" in unit.meta or "role" in unit.meta:
        return str(unit.meta.get("session", unit.meta.get("batch", _ONLY_SESSION)))
    return None


def text_of(unit: SetUnit) -> str:
    """What was said, without the name or role in front of it: that goes beside the text."""
    said_by = unit.meta.get("speaker") or unit.meta.get("role")
    return unit.text.removeprefix(f"{said_by}:").strip() if said_by else unit.text


def message_of(unit: SetUnit) -> MessageFields:
    """A turn: role, words, who said them and when."""
    message = MessageFields(role=str(unit.meta.get("role", "user")), content=text_of(unit))
    if "speaker" in unit.meta:
        message["name"] = str(unit.meta["speaker"])
    at = parse_time(unit.time)
    if at is not None:
        message["at"] = at
    return message


def record_of(unit: SetUnit) -> Draft:
    """A record: its text, and when it came to be if that is known."""
    draft = Draft(content=text_of(unit))
    at = parse_time(unit.time)
    if at is not None:
        draft["created_at"] = at
    return draft
