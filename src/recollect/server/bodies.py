"""What requests may carry. Types are checked here; what values mean is checked by the library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from recollect.domain.context import Form, Tongue
from recollect.domain.fields import Draft, RecordFields
from recollect.domain.preview import TriedChange
from recollect.domain.record import Evidence, Kind, Status, Tier
from recollect.domain.unit import OwnerKind
from recollect.server.parameters import LIMITS

T = TypeVar("T")


def _without_defaults(schema: dict[str, Any]) -> None:
    # A field that is left out is left alone: the defaults below are never sent to the library.
    for field in schema["properties"].values():
        field.pop("default", None)


def described(example: Mapping[str, Any]) -> ConfigDict:
    """The configuration of a body whose description shows this example."""

    def complete(schema: dict[str, Any]) -> None:
        _without_defaults(schema)
        schema["examples"] = [dict(example)]

    return ConfigDict(extra="forbid", json_schema_extra=complete)


def _several(value: object) -> object:
    return [value] if isinstance(value, str) else value


Several = Annotated[list[T], BeforeValidator(_several)]


class Body(BaseModel):
    """A request body; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_without_defaults)

    def arguments(self, *without: str) -> dict[str, Any]:
        """The fields as the library takes them, where it has the same names."""
        names = type(self).model_fields.keys() - set(without)
        return {name: getattr(self, name) for name in names}


class RecordBody(Body):
    """The fields of a record that a caller may set, as the library has them."""

    kind: Kind = Kind.SEMANTIC
    category: str = ""
    facet: str | None = Field(default=None, description="which attribute it states")
    about: str = Field(default="", description="user, other, thing, or empty if unknown")
    title: str = Field(default="", description="of a procedure its name")
    name: str = Field(default="", description="another word for title")
    description: str = ""
    tags: list[str] = []
    confidence: float = 1.0
    importance: float = 0.5
    evidence_count: int = 1
    evidence: list[Evidence] = []
    source: str = ""
    related: list[str] = []
    session: str | None = None
    task: str | None = None
    created_at: datetime | None = Field(default=None, description="a past time, for backfilling")
    first_observed: datetime | None = None
    last_confirmed: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    tier: Tier = Tier.LONG
    metadata: dict[str, Any] = {}
    participants: list[str] = Field(default=[], description="episodic")
    outcome: str = Field(default="", description="episodic")
    artifacts: list[str] = Field(default=[], description="episodic")
    timestamp: datetime | None = Field(default=None, description="episodic")
    trigger: str = Field(default="", description="procedural")
    steps: list[str] = Field(default=[], description="procedural")
    success_rate: float | None = Field(default=None, description="procedural")
    usage_count: int = Field(default=0, description="procedural")

    reason: str = Field(default="", description="reason, kept in the history")

    def given(self) -> RecordFields:
        """The record's fields that the request named."""
        names = self.model_fields_set & RecordFields.__annotations__.keys()
        return cast("RecordFields", {name: getattr(self, name) for name in names})


class NewRecord(RecordBody):
    """A record to save."""

    model_config = described({"content": "Ann prefers window seats", "category": "preference"})

    content: str
    namespace: str | None = Field(default=None, description="among the caller's own")


class ChangedRecord(RecordBody):
    """Fields to change; omitted fields stay unchanged."""

    model_config = described({"content": "Ann prefers aisle seats", "reason": "she said so"})

    content: str | None = None
    expected_version: int | None = Field(
        default=None, description="reject if the record changed concurrently"
    )


class NewRecords(Body):
    """Records to save together; each names no namespace and no reason of its own."""

    model_config = described({"items": [{"content": "Ann likes tea"}, {"content": "Bo likes rye"}]})

    items: list[NewRecord]
    namespace: str | None = Field(default=None, description="among the caller's own")
    reason: str = Field(default="", description="reason, kept in the history")

    def drafts(self) -> list[Draft]:
        """The records as the library takes them."""
        return [cast("Draft", {**item.given(), "content": item.content}) for item in self.items]


class BulkEdit(RecordBody):
    """Fields that many records get; what is left out stays as it is."""

    model_config = described({"ids": ["mem_…"], "add_tags": ["travel"], "reason": "sorted"})

    ids: list[str]
    add_tags: list[str] = []
    remove_tags: list[str] = []


class BulkDelete(Body):
    """Records to hide."""

    model_config = described({"ids": ["mem_…"], "reason": "no longer true"})

    ids: list[str]
    reason: str = Field(default="", description="reason, kept in the history")


class Filters(Body):
    """Which records and turns are meant; one value or several."""

    kind: Several[Kind] = []
    category: Several[str] = []
    facet: Several[str] = []
    tags: Several[str] = []
    status: Several[Status] = []
    since: datetime | None = None
    until: datetime | None = None
    session: str | None = None
    task: str | None = None
    as_of: datetime | None = None
    valid_at: datetime | None = None
    owners: Several[OwnerKind] = []


class PagedFilters(Filters):
    """What to list; these come as query parameters, beside those of the scope."""

    model_config = ConfigDict(extra="ignore")

    limit: int = Field(default=50, json_schema_extra=LIMITS)
    cursor: str | None = None


class Listing(PagedFilters):
    """Which records or turns of a caller to list."""

    namespace: str | None = Field(default=None, description="among the caller's own")


class Question(Filters):
    """What to recall."""

    model_config = described({"query": "which seat does Ann prefer?", "limit": 3})

    query: str
    limit: int | None = None
    min_score: float | None = None
    namespace: str | None = Field(default=None, description="among the caller's own")
    asked_at: datetime | None = Field(default=None, description="if that is not now")


class Prompt(Filters):
    """A message that is about to be answered; `session` is the one it belongs to, no filter."""

    model_config = described({"message": "Book a seat for Ann", "max_tokens": 500})

    message: str
    limit: int | None = None
    min_score: float | None = None
    max_tokens: int | None = None
    form: Form | None = Field(default=None, description="default: from the settings")
    language: Tongue | None = Field(default=None, description="default: that of the message")
    window: list[str | dict[str, Any]] = Field(
        default=[], description="texts or messages that the prompt holds already"
    )
    run: str | None = Field(
        default=None, description="agents that name the same run get no item twice"
    )
    namespace: str | None = Field(default=None, description="among the caller's own")
    asked_at: datetime | None = Field(default=None, description="if that is not now")


class Tried(RecordBody):
    """A change to try: a new record, or with an id other words for a stored one, or its end."""

    id: str | None = Field(default=None, description="of the stored record that changes")
    content: str | None = None
    delete: bool = False

    def change(self) -> TriedChange:
        """The change as the library takes it."""
        own = {
            name: getattr(self, name)
            for name in self.model_fields_set & {"id", "content", "delete"}
        }
        named = {name: value for name, value in own.items() if value is not None}
        return cast("TriedChange", {**self.given(), **named})


class TriedPrompt(Prompt):
    """A message, and changes that are tried without saving them."""

    model_config = described(
        {"message": "Book a seat for Ann", "changes": [{"content": "Ann gets seasick"}]}
    )

    changes: list[Tried] = []


class Use(Body):
    """How using a record went."""

    model_config = described({"success": True})

    success: bool = True


class Showing(Body):
    """Whether the profile shows a record."""

    model_config = described({"shown": False})

    shown: bool


class Message(BaseModel):
    """A message as agents write it; further keys (tool calls …) are kept as they are."""

    model_config = ConfigDict(extra="allow", json_schema_extra=_without_defaults)

    role: str
    content: Any = None
    name: str | None = None
    at: datetime | None = None
    task: str | None = None


class Conversation(Body):
    """Messages to keep, in order."""

    model_config = described(
        {
            "session": "monday",
            "messages": [{"role": "user", "content": "Remember that I am vegetarian"}],
        }
    )

    messages: list[Message]
    session: str | None = None
    task: str | None = None


def said(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """The messages as the library takes them: what was not sent is not there."""
    return [message.model_dump(exclude_unset=True) for message in messages]
