"""Redaction: personal data is masked or refused in records and messages before they are stored.

The data itself is never kept or logged, only how much of each kind there was.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from recollect.domain.fields import MAX_DESCRIPTION, MAX_LABEL, MAX_TITLE
from recollect.domain.record import Episode, Procedure, Record
from recollect.errors import InvalidInput
from recollect.language.characters import language
from recollect.language.privacy.personal_data import redact

if TYPE_CHECKING:
    from recollect.domain.scope import Scope
    from recollect.domain.write import RedactMode
    from recollect.ports.state import State, StateEntry, StateKey

T = TypeVar("T")
Counts = Mapping[str, int]

# The placeholder for a text that may not be kept but whose place must stay.
_REMOVED: Final = {"zh": "[内容已移除：含个人信息]", "en": "[removed: held personal data]"}
# Fields by which messages refer to each other: identifiers, not text.
_IDENTIFIER_FIELDS: Final = frozenset(
    {
        "id",
        "tool_call_id",
        "tool_use_id",
        "call_id",
        "answers",
        "type",
        "role",
        "at",
        "timestamp",
        "task",
    }
)
# Binary data such as pictures.
_BINARY_FIELDS: Final = frozenset({"data", "signature", "encrypted_content"})
_CALLS: Final = "calls"
# Tools may return lone surrogates.
_ENCODING_ERRORS: Final = "surrogatepass"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned(Generic[T]):
    """A value without personal data; None if it may not be kept at all."""

    value: T | None
    counts: Counts


class Redactor:
    """One redaction mode, applied to everything that is about to be stored."""

    def __init__(self, mode: RedactMode = "off") -> None:
        self._mode: RedactMode = mode

    @property
    def mode(self) -> RedactMode:
        return self._mode

    def text(self, text: str) -> Cleaned[str]:
        """Redact a text to be stored."""
        counting = self.counting()
        cleaned = counting.text(text)
        return Cleaned(value=None if counting.drops else cleaned, counts=counting.counts)

    def note(self, text: str) -> str:
        """Redact a comment, such as the reason for a change."""
        return self.counting().text(text)

    def record(self, record: Record) -> Cleaned[Record]:
        """Redact every text of a record; in mode `drop` the value is None if anything was found."""
        if self._mode == "off":
            return Cleaned(value=record, counts={})
        counting = self.counting()
        cleaned = counting.record(record)
        return Cleaned(value=None if counting.drops else cleaned, counts=counting.counts)

    def kept(self, record: Record, before: Record | None = None) -> tuple[Record, Counts]:
        """Redact a record, or raise an error if it is refused.

        A record with the same texts as `before` is left as it is, so that it can always be deleted.
        """
        if self._mode == "off" or (before is not None and _texts(before) == _texts(record)):
            return record, {}
        cleaned = self.record(record)
        if cleaned.value is None:
            raise InvalidInput(
                f"Not kept: it holds personal data ({', '.join(sorted(cleaned.counts))})",
                code="personal_data",
                hint="Leave it out, or set writing.redact to mask.",
            )
        return cleaned.value, cleaned.counts

    def message(self, message: Mapping[str, Any]) -> tuple[Mapping[str, Any], Counts]:
        """Redact a message; its place in the conversation stays even if its text is removed."""
        if self._mode == "off" or not isinstance(message, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            return message, {}
        return self.value(dict(message))

    def value(self, value: Any) -> tuple[Any, Counts]:
        """Redact a JSON value, or text given as bytes; in mode `drop` texts are removed."""
        if self._mode == "off":
            return value, {}
        counting = self.counting()
        if not isinstance(value, bytes):
            return counting.inside(value), counting.counts
        try:
            text = value.decode("utf-8", _ENCODING_ERRORS)
        except UnicodeDecodeError:
            return value, {}
        return counting.said(text).encode("utf-8", _ENCODING_ERRORS), counting.counts

    def counting(self) -> Counting:
        """Return a redactor for something that is redacted piece by piece."""
        return Counting(self._mode)


class Counting:
    """A redactor for the pieces of one thing, which counts what was found."""

    def __init__(self, mode: RedactMode) -> None:
        self._mode = mode
        self.counts: Counter[str] = Counter()

    @property
    def drops(self) -> bool:
        return self._mode == "drop" and bool(self.counts)

    def text(self, text: str, limit: int | None = None) -> str:
        if self._mode == "off" or not text:
            return text
        found = redact(text, "mask")
        if not found.counts:
            return text
        self.counts.update(found.counts)
        is_chinese = language(text) == "zh"
        kept = _REMOVED["zh" if is_chinese else "en"] if self._mode == "drop" else found.text
        return kept[:limit]

    def record(self, record: Record) -> Record:
        return _cleaned_record(record, self)

    def texts(self, texts: tuple[str, ...], limit: int | None = None) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.text(text, limit) for text in texts))

    def inside(self, value: object) -> Any:
        """Redact a JSON value."""
        match value:
            case str():
                return self.said(value)
            case dict():
                named = cast("dict[str, object]", value)
                return {name: self._redact_field(name, inner) for name, inner in named.items()}
            case list() | tuple():
                return [self.inside(inner) for inner in cast("list[object]", value)]
            case _:
                return value

    def _redact_field(self, name: str, value: object) -> Any:
        if name in _IDENTIFIER_FIELDS or name in _BINARY_FIELDS:
            return value
        if name == _CALLS and isinstance(value, list):
            # The stored form of a call: its id, its tool and its arguments.
            calls = cast("list[list[Any]]", value)
            return [[*call[:-1], self.inside(call[-1])] if call else call for call in calls]
        return self.inside(value)

    def said(self, text: str) -> str:
        """Redact a text that may be JSON."""
        if text.startswith("data:"):
            return text
        # In JSON a mask must not swallow a quotation mark, or it can no longer be parsed.
        if text[:1] in {"{", "["}:
            try:
                read = json.loads(text)
            except (ValueError, RecursionError):
                return self.text(text)
            cleaned = self.inside(read)
            return text if cleaned == read else json.dumps(cleaned, ensure_ascii=False)
        return self.text(text)


def _texts(record: Record) -> tuple[object, ...]:
    return (
        *(record.content, record.title, record.description, record.source),
        *(record.tags, record.metadata, record.details),
    )


def _cleaned_record(record: Record, counting: Counting) -> Record:
    return record.evolve(
        content=counting.text(record.content),
        title=counting.text(record.title, MAX_TITLE),
        description=counting.text(record.description, MAX_DESCRIPTION),
        source=counting.text(record.source, MAX_TITLE),
        tags=counting.texts(record.tags, MAX_LABEL),
        metadata=counting.inside(dict(record.metadata)),
        details=_cleaned_details(record.details, counting),
        facet=record.facet,
    )


def _cleaned_details(
    details: Episode | Procedure | None, counting: Counting
) -> Episode | Procedure | None:
    match details:
        case Episode():
            return replace(
                details,
                participants=counting.texts(details.participants, MAX_LABEL),
                outcome=counting.text(details.outcome),
                artifacts=counting.texts(details.artifacts),
            )
        case Procedure():
            return replace(
                details,
                trigger=counting.text(details.trigger),
                steps=tuple(map(counting.text, details.steps)),
            )
        case None:
            return None


# --- Session state without personal data: notes, scratchpads and windows -----------------------


class RedactedState:
    """A state store that redacts values before it writes them.

    An open session continues with the original text; only what is stored is redacted.
    """

    def __init__(self, state: State, redactor: Redactor) -> None:
        self._state = state
        self._redactor = redactor

    async def get(self, key: StateKey) -> StateEntry | None:
        return await self._state.get(key)

    async def put(
        self,
        key: StateKey,
        value: str,
        *,
        ttl: timedelta | None = None,
        expected: int | None = None,
        known_since: datetime | None = None,
    ) -> int:
        cleaned, counts = self._redactor.value(json.loads(value))
        written = json.dumps(cleaned, ensure_ascii=False) if counts else value
        return await self._state.put(
            key, written, ttl=ttl, expected=expected, known_since=known_since
        )

    async def touch(self, key: StateKey, ttl: timedelta) -> bool:
        return await self._state.touch(key, ttl)

    async def delete(self, key: StateKey) -> None:
        await self._state.delete(key)

    async def names(self, scope: Scope, session: str) -> list[str]:
        return await self._state.names(scope, session)

    async def clear(self, scope: Scope, session: str) -> None:
        await self._state.clear(scope, session)

    async def sweep(self) -> int:
        return await self._state.sweep()
