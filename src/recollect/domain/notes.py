"""The notes of a session: what its tools found, and the progress of a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, TypeVar, get_args

from recollect.domain.fields import (
    MAX_CONTENT,
    MAX_METADATA,
    MAX_TITLE,
    checked_json,
    checked_share,
    checked_text,
)
from recollect.errors import InvalidInput

Feeds = Literal["structure", "search_results", "page"]
ChunkType = Literal["search_result", "page_content", "table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentChunk:
    """A piece of content, its source, and its relevance (0–1)."""

    content: str
    source: str
    relevance_score: float
    chunk_type: ChunkType = "search_result"
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    def __post_init__(self) -> None:
        checked_text(self.content, "content", MAX_CONTENT)
        checked_text(self.source, "source", MAX_TITLE)
        checked_share(self.relevance_score, "relevance_score")
        checked_json(self.metadata, "metadata", MAX_METADATA)
        if self.chunk_type not in get_args(ChunkType):
            raise InvalidInput(
                f"chunk_type {self.chunk_type!r} is not one of: {', '.join(get_args(ChunkType))}",
                code="unknown_chunk_type",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """A note for the model that a structure is already known; the call may still be made."""

    document: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cached:
    """The result of an earlier, identical call, to use instead of a new call."""

    document: str
    result: Any


# --- The scratchpad: the progress of an agent in a task of several steps --------------------------


MAX_LINE: Final = 2_000
MAX_LINES: Final = 100

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision and its reason."""

    what: str
    why: str = ""

    def __post_init__(self) -> None:
        checked_text(self.what, "what", MAX_LINE)
        checked_text(self.why, "why", MAX_LINE, blank=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchpadUpdate:
    """Changes to a scratchpad; what is left out stays as it is.

    Steps and blockers are identified by their text. Applying the same update twice changes nothing.
    """

    current_goal: str | None = None
    sub_goals: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    current_step: str | None = None
    decisions: tuple[Decision, ...] = ()
    blockers: tuple[str, ...] = ()
    unblocked: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("current_goal", "current_step"):
            if (text := getattr(self, name)) is not None:
                checked_text(text, name, MAX_LINE, blank=True)
        for name in ("sub_goals", "completed", "blockers", "unblocked"):
            for text in getattr(self, name):
                checked_text(text, name, MAX_LINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratchpad:
    """A goal, the steps towards it, decisions and blockers."""

    current_goal: str = ""
    sub_goals: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    current_step: str = ""
    decisions: tuple[Decision, ...] = ()
    blockers: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return self == Scratchpad()

    def updated(self, update: ScratchpadUpdate) -> Scratchpad:
        """Return the scratchpad with an update applied."""
        sub_goals = _join_lines("sub_goals", self.sub_goals, update.sub_goals)
        done = _join_lines("completed", self.completed, update.completed)
        # Returning to a step reopens it.
        completed = tuple(step for step in done if step != update.current_step)
        # A repeated decision gets a new reason, not a second entry.
        decisions = {decision.what: decision for decision in (*self.decisions, *update.decisions)}
        blockers = tuple(text for text in self.blockers if text not in update.unblocked)
        current_step = self.current_step if update.current_step is None else update.current_step
        if update.current_step is None and current_step in update.completed:
            current_step = next((step for step in sub_goals if step not in completed), "")
        return Scratchpad(
            current_goal=self.current_goal if update.current_goal is None else update.current_goal,
            sub_goals=sub_goals,
            completed=completed,
            current_step=current_step,
            decisions=_require_few("decisions", tuple(decisions.values())),
            blockers=_join_lines("blockers", blockers, update.blockers),
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Scratchpad:
        return cls(
            current_goal=value["current_goal"],
            sub_goals=tuple(value["sub_goals"]),
            completed=tuple(value["completed"]),
            current_step=value["current_step"],
            decisions=tuple(Decision(**decision) for decision in value["decisions"]),
            blockers=tuple(value["blockers"]),
        )


def _join_lines(name: str, old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return _require_few(name, tuple(dict.fromkeys((*old, *new))))


def _require_few(name: str, items: tuple[T, ...]) -> tuple[T, ...]:
    if len(items) > MAX_LINES:
        raise InvalidInput(
            f"The scratchpad's {name} would come to {len(items)}; it holds {MAX_LINES}",
            code="too_many_items",
            hint="Clear the scratchpad and start the next task afresh.",
        )
    return items
