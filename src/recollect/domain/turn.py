"""Turns: the messages of a session, stored as they were said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any, Final, Literal, TypedDict, cast

from recollect.domain.fields import MAX_CONTENT, MAX_LABEL, checked_json, checked_text
from recollect.domain.ids import new_id
from recollect.domain.scope import Scope
from recollect.domain.times import aware, in_zone, minutes_from_utc, moment_of
from recollect.errors import InvalidInput

# Large enough for an image that is embedded in the message.
MAX_PAYLOAD: Final = 5_000_000
_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_COLUMN_KEYS: Final = frozenset({"role", "content", "name", "at", "timestamp", "task"})

UTC_OFFSET: Final = "utc_offset"
"""What a message says beside its time: how many minutes the clocks of its speaker are ahead."""
_DAY_MINUTES: Final = 24 * 60

Act = Literal["statement", "question", "request", "tool_output", "memory_output", "retracted"]
"""What a turn does. Only a statement can become a fact.

The owner of the conversation took a `retracted` turn back: it is kept, but not found."""


class MessageFields(TypedDict, total=False):
    """A message as agents write it; other keys (tool calls …) are kept as they are."""

    role: str
    content: Any
    name: str
    at: datetime | str | float
    timestamp: datetime | str | float
    task: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of a session: who said what, when, and its position."""

    id: str
    scope: Scope
    session: str
    ordinal: int
    role: str
    speaker: str
    content: str
    at: datetime
    task: str | None
    recorded_at: datetime
    payload: Mapping[str, Any] = field(hash=False)
    act: Act | None = field(default=None, compare=False)
    """Decided once, when the turn is stored; None for an older turn that is not classified yet."""
    spooled: bool = field(default=False, compare=False)
    """Whether it waits on this machine, durable, until the database server is back; its place in
    the session is then not known yet."""

    def said_at(self, zone: tzinfo | None) -> datetime:
        """Return when it was said on the clocks of who said it, else on those of a time zone."""
        minutes = self.payload.get(UTC_OFFSET)
        if isinstance(minutes, int) and abs(minutes) < _DAY_MINUTES:
            zone = timezone(timedelta(minutes=minutes))
        return in_zone(self.at, zone)


def new_turn(
    message: Mapping[str, Any], scope: Scope, session: str, now: datetime, task: str | None
) -> Turn:
    """Return a turn from a message; the store sets its ordinal when it is written."""
    if not isinstance(message, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            f"A message must be a mapping, not {type(message).__name__}",
            code="wrong_type",
            hint='Give a list of messages such as {"role": "user", "content": "…"}.',
        )
    role = message.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise InvalidInput(
            f"A message's role {role!r} is not one of: {', '.join(sorted(_ROLES))}",
            code="unknown_role",
        )
    content = message.get("content")
    at = time_of(message)
    payload = _payload(message, content, at)
    text = _text_of(content)
    speaker = message.get("name")
    task = message.get("task", task)
    return Turn(
        id=new_id("turn"),
        scope=scope,
        session=checked_text(session, "session", MAX_LABEL),
        ordinal=0,
        role=role,
        speaker="" if speaker is None else checked_text(speaker, "name", MAX_LABEL),
        content=checked_text(text, "content", MAX_CONTENT, blank=bool(payload)),
        at=now if at is None else aware(at, "at"),
        task=None if task is None else checked_text(task, "task", MAX_LABEL),
        recorded_at=now,
        payload=payload,
    )


def time_of(message: Mapping[str, Any]) -> datetime | None:
    """Return the time of a message in its own time zone: its `at`, else its `timestamp`."""
    for name in ("at", "timestamp"):
        if (given := message.get(name)) is not None:
            moment = moment_of(given, name)
            own = datetime.fromisoformat(given) if isinstance(given, str) else given
            return own if isinstance(own, datetime) else moment
    return None


def _payload(message: Mapping[str, Any], content: object, at: datetime | None) -> Mapping[str, Any]:
    """Return the parts of the message that have no columns of their own."""
    rest = {name: value for name, value in message.items() if name not in _COLUMN_KEYS}
    if content is not None and not isinstance(content, str):
        rest["content"] = content
    # Programs give their times in UTC wherever they run, so that says nothing.
    if at is not None and (minutes := minutes_from_utc(at)):
        rest.setdefault(UTC_OFFSET, minutes)
    # Most messages are plain.
    return rest and checked_json(rest, "a message", MAX_PAYLOAD)


def _text_of(content: object) -> str:
    """Return the text of a message's content, which is text or a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise InvalidInput("A message's content must be text or a list of parts", code="wrong_type")
    parts = cast("list[Any]", content)
    texts = (part if isinstance(part, str) else _text_of_part(part) for part in parts)
    return "\n".join(text for text in texts if text)


def _text_of_part(part: object) -> str:
    text = cast("Mapping[str, object]", part).get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else ""
