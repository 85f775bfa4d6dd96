"""Summaries, which replace messages that are no longer sent: short points with their sources.

Nothing is lost: a summary knows the positions and the turns of the messages that it replaces.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Self

from recollect.domain.context import Tongue


class PointKind(StrEnum):
    """The kind of a point, in the order in which points are listed."""

    TOPIC = "topic"
    DECISION = "decision"
    CONCLUSION = "conclusion"
    TODO = "todo"
    AGREEMENT = "agreement"
    CORRECTION = "correction"
    QUESTION = "question"
    FACT = "fact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A point of a summary, its weight, and the message that it is from, if known."""

    kind: PointKind
    text: str
    weight: float
    position: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Points that replace the messages from `start` up to, not including, `end`."""

    DERIVED: ClassVar = ("id",)
    # Distinguishes the id of a summary from that of a turn.
    ID_PREFIX: ClassVar[str] = "sum_"

    # The hash of the messages that it replaces: equal keys mean equal messages.
    key: str
    start: int
    end: int
    turn_ids: tuple[str, ...] = ()
    language: Tongue
    points: tuple[Point, ...]
    # The code of the error that prevented using a model; empty if none did.
    degraded: str = ""

    @property
    def id(self) -> str:
        return f"{self.ID_PREFIX}{self.key}"

    @property
    def topics(self) -> tuple[str, ...]:
        return self.told(PointKind.TOPIC)

    @property
    def decisions(self) -> tuple[str, ...]:
        return self.told(PointKind.DECISION)

    @property
    def conclusions(self) -> tuple[str, ...]:
        return self.told(PointKind.CONCLUSION)

    @property
    def todos(self) -> tuple[str, ...]:
        return self.told(PointKind.TODO)

    @property
    def agreements(self) -> tuple[str, ...]:
        return self.told(PointKind.AGREEMENT)

    @property
    def corrections(self) -> tuple[str, ...]:
        return self.told(PointKind.CORRECTION)

    @property
    def open_questions(self) -> tuple[str, ...]:
        return self.told(PointKind.QUESTION)

    @property
    def facts(self) -> tuple[str, ...]:
        return self.told(PointKind.FACT)

    def told(self, kind: PointKind) -> tuple[str, ...]:
        """Return the points of one kind."""
        return tuple(point.text for point in self.points if point.kind is kind)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON form that `from_json` reads."""
        return {
            "key": self.key,
            "start": self.start,
            "end": self.end,
            "turn_ids": list(self.turn_ids),
            "language": self.language,
            "points": [
                [point.kind.value, point.text, point.weight, point.position]
                for point in self.points
            ],
            "degraded": self.degraded,
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        points = (
            Point(kind=PointKind(kind), text=text, weight=weight, position=position)
            for kind, text, weight, position in stored["points"]
        )
        return cls(
            key=stored["key"],
            start=stored["start"],
            end=stored["end"],
            turn_ids=tuple(stored["turn_ids"]),
            language=stored["language"],
            points=tuple(points),
            degraded=stored["degraded"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentSummary(Summary):
    """The summary of a few messages in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDigest(Summary):
    """The summary of everything up to a point of a session, as one structured text."""

    ID_PREFIX: ClassVar[str] = "digest_"
