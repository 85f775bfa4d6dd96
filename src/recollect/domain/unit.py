"""Units: the searchable pieces of records, turns, archives and documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntFlag
from typing import Final, Literal, get_args

from recollect.domain.scope import Scope
from recollect.domain.turn import Act

# --- The kinds of things that are stored with texts of their own: whose pieces are searched -------


OwnerKind = Literal["record", "turn", "archive"]
"""What a memory holds; a filter chooses among them."""
UnitOwner = OwnerKind | Literal["document"]
"""The same, and what is knowledge."""

RECORD: Final = "record"
TURN: Final = "turn"
ARCHIVE: Final = "archive"
DOCUMENT: Final = "document"

OWNER_KINDS: Final[tuple[OwnerKind, ...]] = get_args(OwnerKind)
# Their places are stored in indexes: a new kind comes last.
UNIT_OWNERS: Final[tuple[UnitOwner, ...]] = (*OWNER_KINDS, DOCUMENT)


# --- Units: the searchable pieces of records, turns, archives and documents -----------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A part of its owner's content (characters start to end); number 0 is all of it.

    `text` is what is searched, `terms` are the keys of its terms in order, and `vector` is its
    embedding (16-bit floats, little-endian), if there is one.
    """

    ordinal: int
    start: int
    end: int
    text: str
    terms: Sequence[int]
    vector: bytes | None = None


class Trait(IntFlag):
    """Properties of a text that matter for finding it."""

    NONE = 0
    ASKS = 1
    BY_ASSISTANT = 2
    # Earlier versions stored 4 and 8 as well.
    NOT_CHINESE = 32
    # The act of a turn; a statement has none of these.
    QUESTION = 64
    REQUEST = 128
    TOOL_OUTPUT = 256
    MEMORY_OUTPUT = 512


ACT_TRAITS: Final[Mapping[Act, Trait]] = {
    "statement": Trait.NONE,
    "question": Trait.QUESTION,
    "request": Trait.REQUEST,
    "tool_output": Trait.TOOL_OUTPUT,
    "memory_output": Trait.MEMORY_OUTPUT,
    "retracted": Trait.NONE,
}
"""The trait of the units of a turn for each act."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where an owner stands among others: its neighbours help to understand it.

    A turn belongs to its session, a record to its day: `cluster` is which, `place` where in it.
    `speaker` is the key of who said it, `size` its length (in characters, where a Chinese one
    counts as several), `variety` the number of its distinct terms. 0 means none.
    """

    cluster: int = 0
    place: int = 0
    speaker: int = 0
    traits: Trait = Trait.NONE
    size: int = 0
    variety: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerUnits:
    """All units of an owner from now on; without any, it is removed from the search index.

    `version` is the owner's version that they were made from: if the owner has changed since, its
    newer units are kept.
    """

    scope: Scope
    owner_kind: UnitOwner
    owner_id: str
    observed_at: datetime
    analyzer: str
    setting: Setting = Setting()
    version: int = 1
    units: tuple[Unit, ...] = ()

    @property
    def pieces(self) -> tuple[Unit, ...]:
        """Return the passages of a long text, or the single unit of a short one."""
        return self.units[1:] or self.units
