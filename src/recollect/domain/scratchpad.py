"""The scratchpad: where an agent stands in a task of several steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeVar

from recollect.domain.fields import checked_text
from recollect.errors import InvalidInput

MAX_LINE: Final = 2_000
MAX_LINES: Final = 100

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was decided, and why."""

    what: str
    why: str = ""

    def __post_init__(self) -> None:
        checked_text(self.what, "what", MAX_LINE)
        checked_text(self.why, "why", MAX_LINE, blank=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchpadUpdate:
    """What is new in a task; whatever is left out stays as it is.

    Steps and blockers are named by their text. Saying the same twice changes nothing.
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
    """A goal, the steps towards it, and what was decided or stands in the way."""

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
        """The scratchpad with the news in it."""
        sub_goals = _joined("sub_goals", self.sub_goals, update.sub_goals)
        done = _joined("completed", self.completed, update.completed)
        # Going back to a step opens it again.
        completed = tuple(step for step in done if step != update.current_step)
        # A decision taken again has new reasons, not a second entry.
        decisions = {it.what: it for it in (*self.decisions, *update.decisions)}
        blockers = tuple(it for it in self.blockers if it not in update.unblocked)
        current_step = self.current_step if update.current_step is None else update.current_step
        if update.current_step is None and current_step in update.completed:
            current_step = next((step for step in sub_goals if step not in completed), "")
        return Scratchpad(
            current_goal=self.current_goal if update.current_goal is None else update.current_goal,
            sub_goals=sub_goals,
            completed=completed,
            current_step=current_step,
            decisions=_few("decisions", tuple(decisions.values())),
            blockers=_joined("blockers", blockers, update.blockers),
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


def _joined(name: str, old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return _few(name, tuple(dict.fromkeys((*old, *new))))


def _few(name: str, items: tuple[T, ...]) -> tuple[T, ...]:
    if len(items) > MAX_LINES:
        raise InvalidInput(
            f"The scratchpad's {name} would come to {len(items)}; it holds {MAX_LINES}",
            code="too_many_items",
            hint="Clear the scratchpad and start the next task afresh.",
        )
    return items
