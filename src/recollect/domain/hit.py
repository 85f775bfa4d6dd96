"""What a recall returns: hits in order, each able to say why it is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import overload

from recollect.domain.record import Record
from recollect.domain.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class PathScore:
    """What one search path thought of a hit."""

    path: str
    rank: int
    raw: float
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Boost:
    """Something known of a memory that raised or lowered its score."""

    reason: str
    factor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a hit has its score."""

    paths: tuple[PathScore, ...]
    matched_terms: tuple[str, ...] = ()
    # What was said or happened around it added this much evidence,
    surroundings: float = 0.0
    # and who said it, how and when changed it by this factor.
    factor: float = 1.0
    # How close it is to the time that the question names, from 0 to 1,
    closeness: float = 0.0
    # how sure it is that the memory has anything to do with the question, from 0 to 1,
    sureness: float = 1.0
    # how well it fits before what is known of it was weighed, and what that changed.
    relevance: float = 0.0
    boosts: tuple[Boost, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """Something that was found and left out, and why."""

    id: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivePassage:
    """The part of an archived tool result that answers; its id is the archive's.

    `span` is where it stands in the archived text, or None when only what the archive is about
    fits: then the content is its summary.
    """

    id: str
    tool: str
    query: str
    session: str
    content: str
    span: tuple[int, int] | None
    created_at: datetime


Item = Record | Turn | ArchivePassage


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """What answers, a similarity from 0 to 1, and the passage that matched.

    It is a record or a turn, and only when they are asked for a passage of an archive.
    """

    item: Item
    score: float
    span: tuple[int, int]
    explanation: Explanation = field(hash=False)
    # The record that replaced what this turn said.
    replaced_by: str | None = None
    # The newer record or turn that a stored link names, where this is the earlier one.
    followed_by: str | None = None

    @property
    def id(self) -> str:
        return self.item.id

    @property
    def content(self) -> str:
        return self.item.content

    @property
    def passage(self) -> str:
        """The part of the content that matched."""
        return self.item.content[slice(*self.span)]

    @property
    def record(self) -> Record | None:
        return self.item if isinstance(self.item, Record) else None

    @property
    def turn(self) -> Turn | None:
        return self.item if isinstance(self.item, Turn) else None

    @property
    def archive(self) -> ArchivePassage | None:
        return self.item if isinstance(self.item, ArchivePassage) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled(Sequence[Hit]):
    """The hits of one recall, best first, and what was left out or degraded on the way."""

    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    # What kind of message the question was taken for, and the words that told so.
    intent: str = "question"
    intent_reason: str = ""

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)
