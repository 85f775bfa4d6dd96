"""What is found in another memory, before anybody decides what becomes of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias, cast

from recollect.domain.fields import MAX_LABEL, MAX_METADATA, RecordFields
from recollect.errors import InvalidInput

Json: TypeAlias = Mapping[str, Any]

# A larger number is in milliseconds, not seconds.
_MIN_MILLISECONDS: Final = 100_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whose it is; what is not said belongs to whoever imports it."""

    agent: str | None = None
    user: str | None = None


NOBODY: Final = Owner()


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a memory said from some time on; without a time, when is not known."""

    content: str
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMemory:
    """A memory with all that it said, oldest first; `key` names it in its own system."""

    key: str
    said: Sequence[Said]
    owner: Owner = NOBODY
    fields: RecordFields = field(default_factory=RecordFields, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundItem:
    """A JSON value under a namespace and a key."""

    namespace: tuple[str, ...]
    key: str
    value: Json = field(hash=False)
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMessage:
    """A message of a conversation; its fields are those that `observe` takes."""

    session: str
    id: str
    at: datetime | None
    message: Json = field(hash=False)
    owner: Owner = NOBODY


@dataclass(slots=True, kw_only=True)
class Found:
    """Everything that a source holds, and what of it cannot be carried over."""

    memories: list[FoundMemory] = field(default_factory=list[FoundMemory])
    messages: list[FoundMessage] = field(default_factory=list[FoundMessage])
    items: list[FoundItem] = field(default_factory=list[FoundItem])
    left_out: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def leave_out(self, reason: str, example: str = "") -> None:
        self.left_out.setdefault(reason, []).append(example)


def moment(time: object) -> datetime | None:
    """Return a time written as ISO text (in UTC unless it has a zone) or as a number of seconds."""
    try:
        if isinstance(time, datetime):
            return time if time.tzinfo else time.replace(tzinfo=UTC)
        if isinstance(time, int | float) and not isinstance(time, bool):
            return datetime.fromtimestamp(time / (1_000 if time > _MIN_MILLISECONDS else 1), UTC)
        if isinstance(time, str) and time.strip():
            read = datetime.fromisoformat(time.strip())
            return read if read.tzinfo else read.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def label(value: object) -> str | None:
    """Return a name that can be a category, a session or an owner, or None."""
    text = str(value).strip() if isinstance(value, str | int) else ""
    return text[:MAX_LABEL] or None


def labels(values: object) -> list[str]:
    """Return the names in a list."""
    listed = cast("Iterable[object]", values) if isinstance(values, list | tuple) else ()
    return [name for value in listed if (name := label(value))]


def mapping(value: object) -> Json:
    """Return the value if it is an object, else an empty one."""
    return cast("Json", value) if isinstance(value, Mapping) else {}


def objects(value: object) -> list[Json]:
    """Return the objects in a list."""
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Json", it) for it in listed if isinstance(it, Mapping)]


def metadata_of(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what JSON can hold of some fields, without those that say nothing."""
    kept = {name: value for name, value in found.items() if value not in (None, "", [], {})}
    written = json.dumps(kept, ensure_ascii=False, default=str)
    if len(written) > MAX_METADATA:
        raise InvalidInput("its metadata is too long", code="text_too_large")
    return json.loads(written)


def not_readable(origin: str, problem: object, hint: str) -> InvalidInput:
    """Return the problem of a source that is not of this origin; nothing was changed."""
    return InvalidInput(
        f"This is not what {origin} stores or exports: {problem}. Nothing was changed",
        code="not_readable",
        hint=hint,
    )
