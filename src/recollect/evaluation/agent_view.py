"""Units of a recall set in the form that an agent sees: messages of a session, or records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from recollect.domain.fields import Draft
from recollect.domain.turn import MessageFields
from recollect.evaluation.recall_sets import SetUnit, parse_time

# Sets whose units are messages of one user, although the lines do not say so.
_SETS_OF_USER_MESSAGES: Final = frozenset({"memdaily_noise"})
_ONLY_SESSION: Final = "messages"
_BATCH: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Units that are saved in one call: messages of one session, or records."""

    session: str | None
    units: tuple[SetUnit, ...]


def batches(set_name: str, units: Iterable[SetUnit]) -> Iterator[Batch]:
    """Yield the units in order, split where the session changes and at a maximum size."""
    for session, group in groupby(units, lambda unit: session_of(set_name, unit)):
        rest = tuple(group)
        for start in range(0, len(rest), _BATCH):
            yield Batch(session=session, units=rest[start : start + _BATCH])


def session_of(set_name: str, unit: SetUnit) -> str | None:
    """Return the session of a unit; None if it is not a turn."""
    if set_name in _SETS_OF_USER_MESSAGES:
        return _ONLY_SESSION
    if "speaker" in unit.meta or "role" in unit.meta:
        return str(unit.meta.get("session", unit.meta.get("batch", _ONLY_SESSION)))
    return None


def text_of(unit: SetUnit) -> str:
    """Return the text of a unit without the name or role before it."""
    said_by = unit.meta.get("speaker") or unit.meta.get("role")
    return unit.text.removeprefix(f"{said_by}:").strip() if said_by else unit.text


def message_of(unit: SetUnit) -> MessageFields:
    """Return a unit as a message: role, content, speaker and time."""
    message = MessageFields(role=str(unit.meta.get("role", "user")), content=text_of(unit))
    if "speaker" in unit.meta:
        message["name"] = str(unit.meta["speaker"])
    at = parse_time(unit.time)
    if at is not None:
        message["at"] = at
    return message


def record_of(unit: SetUnit) -> Draft:
    """Return a unit as a record: its text, and its time if known."""
    draft = Draft(content=text_of(unit))
    at = parse_time(unit.time)
    if at is not None:
        draft["created_at"] = at
    return draft
