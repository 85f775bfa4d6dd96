"""What recall puts into a prompt: the block, what entered it, and what stayed out and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Literal, TypeAlias, TypeVar

from recollect.domain.filters import CommonFilters
from recollect.domain.message import Message
from recollect.errors import InvalidInput

Tongue = Literal["zh", "en"]
Form = Literal["structured", "flat"]
Place = Literal["system", "last_user"]
# What is in the window already: texts, or messages in whichever provider's form.
WindowItem: TypeAlias = str | Mapping[str, Any] | Message

TONGUES: Final[tuple[Tongue, ...]] = ("zh", "en")
FORMS: Final[tuple[Form, ...]] = ("structured", "flat")
_Choice = TypeVar("_Choice", Tongue, Form)


class Reason(StrEnum):
    """Why something that was recalled did not enter the prompt."""

    BUDGET = "budget"
    IN_WINDOW = "in_window"
    GIVEN = "given_to_another_agent"
    DUPLICATE = "duplicate"
    REPLACED = "replaced"
    TERSE = "says_next_to_nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A record or turn that was recalled and stayed out."""

    id: str
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOptions:
    """How the block looks, how large it may be, and where in the messages it goes."""

    form: Form = "structured"
    max_tokens: int = 1_500
    place: Place = "system"


class ContextFields(CommonFilters, total=False):
    """How a block is made. `session` is the one it is made for, not a filter."""

    limit: int | None
    min_score: float | None
    max_tokens: int | None
    form: Form | None
    language: Tongue | None
    window: Iterable[WindowItem]
    session: str | None
    run: str | None
    namespace: str | tuple[str, str] | None
    asked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryContext:
    """The block for one prompt (empty when there is nothing to say), and what it is made of.

    `place` is where in the messages the settings want it. Under `recall_id` the audit keeps which
    records and turns entered, unless none did; see `memory.audit.replay`.
    """

    text: str
    tokens: int
    ids: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    place: Place = "system"
    degraded: tuple[str, ...] = ()
    recall_id: str = ""


def checked_choice(value: _Choice, choices: tuple[_Choice, ...]) -> _Choice:
    """The value itself when it is one of those there are."""
    if value not in choices:
        raise InvalidInput(f"{value!r} is none of: {', '.join(choices)}", code="unknown_value")
    return value


def checked_tokens(value: int) -> int:
    """The number itself when a block can be held to it."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            f"max_tokens must be a whole number from 1 on, not {value!r}", code="out_of_range"
        )
    return value
