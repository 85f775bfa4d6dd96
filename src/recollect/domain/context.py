"""The context block for a prompt: what entered it, and what was left out and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Literal, TypeAlias, TypeVar

from recollect.domain.filters import CommonFilters
from recollect.domain.message import Message
from recollect.errors import InvalidInput

Tongue = Literal["zh", "en"]
Form = Literal["structured", "flat"]
Place = Literal["system", "last_user"]
# What the window already holds: texts, or messages in the format of any provider.
WindowItem: TypeAlias = str | Mapping[str, Any] | Message

TONGUES: Final[tuple[Tongue, ...]] = ("zh", "en")
FORMS: Final[tuple[Form, ...]] = ("structured", "flat")
BETWEEN_BLOCKS: Final = "\n\n"
_Choice = TypeVar("_Choice", Tongue, Form)


class Reason(StrEnum):
    """Why a recalled record or turn did not enter the prompt."""

    BUDGET = "budget"
    IN_WINDOW = "in_window"
    GIVEN = "given_to_another_agent"
    DUPLICATE = "duplicate"
    REPLACED = "replaced"
    TERSE = "says_next_to_nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A record or turn that was recalled and left out, and why."""

    id: str
    reason: Reason


class ContextFields(CommonFilters, total=False):
    """Options for building a block. `session` is the one it is built for, not a filter."""

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
    """The text for one prompt, and what it consists of: the profile, and what was recalled.

    The profile stands in every prompt; `ids` and `left_out` are about what was recalled. An item
    that the profile shows is not shown a second time, but is among the `ids`. `place` is where the
    settings put what was recalled in the messages. The audit stores under `recall_id` which records
    and turns entered, if any did; see `memory.audit.replay`.
    """

    text: str
    tokens: int
    ids: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    profile: str = ""
    place: Place = "system"
    degraded: tuple[str, ...] = ()
    recall_id: str = ""

    @property
    def recalled(self) -> str:
        """Return the text without the profile; empty if nothing was recalled."""
        return self.text.removeprefix(self.profile).removeprefix(BETWEEN_BLOCKS)


def checked_choice(value: _Choice, choices: tuple[_Choice, ...]) -> _Choice:
    """Return the value if it is one of the choices, otherwise raise `InvalidInput`."""
    if value not in choices:
        raise InvalidInput(f"{value!r} is not one of: {', '.join(choices)}", code="unknown_value")
    return value


def checked_tokens(value: int) -> int:
    """Return the number if it is a valid token limit, otherwise raise `InvalidInput`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            f"max_tokens must be a whole number from 1 on, not {value!r}", code="out_of_range"
        )
    return value


# --- Usage figures of a session's window ----------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionUsage:
    """How full a session's window was when it was last prepared, and what is outside of it."""

    messages: int
    window_messages: int
    window_tokens: int
    budget_tokens: int
    # The tokens that compression keeps out of the window, of the messages read since the session
    # was opened: a resumed session does not read what its summaries cover.
    saved_tokens: int = field(compare=False)
    # The level of compression, from none (0) to a single digest (3).
    level: int
    # Whether a smaller window is being prepared in the background.
    pending: bool
    archived: int
    # What was degraded in the last prompt, each reason once.
    degraded: tuple[str, ...]
