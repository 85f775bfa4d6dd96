"""The result of a recall: hits in order, each with an explanation of its score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, NamedTuple, overload

from recollect.domain.record import Kind, Record
from recollect.domain.turn import Act, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class PathScore:
    """The rank and score that one search path gave a hit."""

    path: str
    rank: int
    raw: float
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Boost:
    """A property of a record or turn that raised or lowered its score."""

    reason: str
    factor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a hit has its score."""

    paths: tuple[PathScore, ...]
    matched_terms: tuple[str, ...] = ()
    # How much the neighbouring turns and records added.
    surroundings: float = 0.0
    # The factor for who said it, how and when.
    factor: float = 1.0
    # How close it is to the time in the question, from 0 to 1.
    closeness: float = 0.0
    # The confidence that it is related to the question at all, from 0 to 1.
    sureness: float = 1.0
    # The relevance before boosts, and the boosts.
    relevance: float = 0.0
    boosts: tuple[Boost, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """A candidate that was left out, and why."""

    id: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivePassage:
    """The part of an archive that answers; its id is the archive's.

    `span` is its position in the archived text, or None if only the description of the archive
    matches: then the content is its summary.
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
    """A record or turn that was found, its similarity from 0 to 1, and the span that matched.

    It is a passage of an archive only if archives were asked for.
    """

    IN_JSON: ClassVar = (
        *("id", "score", "span", "passage", "record", "turn", "archive"),
        *("replaced_by", "explanation", "followed_by"),
    )

    item: Item
    score: float
    span: tuple[int, int]
    explanation: Explanation = field(hash=False)
    # The record that supersedes what this turn says.
    replaced_by: str | None = None
    # The newer record or turn that a link connects with this one.
    followed_by: str | None = None

    @property
    def id(self) -> str:
        return self.item.id

    @property
    def content(self) -> str:
        return self.item.content

    @property
    def passage(self) -> str:
        """Return the part of the content that matched."""
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
    """The hits of one recall, best first, and what was left out or degraded."""

    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    # The intent of the question, and the words that decided it.
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


# --- Properties of a record or turn that affect its score, besides its relevance ------------------


class Standing(NamedTuple):
    """The properties of a record or, without a kind, of a turn."""

    observed_at: datetime
    # Makes the record or turn, if the whole of it was read.
    load: Callable[[], Record | Turn] | None = None
    # Makes the turn before this one.
    before: Callable[[], Turn] | None = None
    # Its first unit, if it has any, and the packed terms of that, if they were read.
    terms: tuple[int | None, bytes | None] | None = None
    kind: Kind | None = None
    category: str = ""
    source: str = ""
    confidence: float = 1.0
    helped: int = 0
    rejected: int = 0
    # In how many sessions it entered a prompt or a tool result.
    accessed: int = 0
    # Whether it is shared, or belongs to another agent than the caller.
    is_of_others: bool = False
    # The role of a turn, and its act, once that is decided.
    role: str = ""
    act: Act | None = None
