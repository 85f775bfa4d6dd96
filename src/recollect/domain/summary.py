"""What stands for messages that are no longer sent: points of a few words, and where they are from.

Nothing is lost by it: a summary knows the positions and the turns of the messages it stands for.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Self

from recollect.domain.context import Tongue


class PointKind(StrEnum):
    """What a point is to whoever reads on; in the order in which points are told."""

    TOPIC = "topic"
    DECISION = "decision"
    CONCLUSION = "conclusion"
    TODO = "todo"
    AGREEMENT = "agreement"
    QUESTION = "question"
    FACT = "fact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One thing worth keeping, how much it is worth, and the message it is from, where known."""

    kind: PointKind
    text: str
    weight: float
    position: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Points in place of the messages from `start` up to, not including, `end`."""

    # What tells a summary's id from a turn's.
    ID_PREFIX: ClassVar[str] = "sum_"

    # Hash of the messages it stands for: equal keys, equal messages.
    key: str
    start: int
    end: int
    turn_ids: tuple[str, ...] = ()
    language: Tongue
    points: tuple[Point, ...]
    # The code of the error for which no model could be used; empty if none was needed.
    degraded: str = ""

    @property
    def id(self) -> str:
        return f"{self.ID_PREFIX}{self.key}"

    @property
    def positions(self) -> range:
        return range(self.start, self.end)

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
    def open_questions(self) -> tuple[str, ...]:
        return self.told(PointKind.QUESTION)

    @property
    def facts(self) -> tuple[str, ...]:
        return self.told(PointKind.FACT)

    def told(self, kind: PointKind) -> tuple[str, ...]:
        """The points of one kind."""
        return tuple(point.text for point in self.points if point.kind is kind)

    def as_json(self) -> dict[str, Any]:
        """What `from_json` reads again, for keeping it beyond this process."""
        return {
            "key": self.key,
            "start": self.start,
            "end": self.end,
            "turn_ids": list(self.turn_ids),
            "language": self.language,
            "points": [[it.kind.value, it.text, it.weight, it.position] for it in self.points],
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
    """A few messages in a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDigest(Summary):
    """Everything up to a point of a session, in one structured text."""

    ID_PREFIX: ClassVar[str] = "digest_"
