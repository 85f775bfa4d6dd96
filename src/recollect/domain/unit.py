"""A unit: one searchable piece of a record or a turn. Every index points at units only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntFlag
from typing import Final

from recollect.domain.owner import UnitOwner
from recollect.domain.scope import Scope
from recollect.domain.turn import Act


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A piece of its owner's content (characters start to end); number 0 is all of it.

    `text` is what it is found by, `terms` are the keys of its terms in order, and `vector` is what
    an embedding model made of it (16-bit floats, little-endian), if there is one.
    """

    ordinal: int
    start: int
    end: int
    text: str
    terms: Sequence[int]
    vector: bytes | None = None


class Trait(IntFlag):
    """What kind of utterance a text is and what it has, as far as it matters for finding it."""

    NONE = 0
    ASKS = 1
    BY_ASSISTANT = 2
    TELLS_TIME = 4
    TELLS_NUMBER = 8
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
"""How the units of a turn show its act."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What an owner is found among: what was said or happened around it explains it.

    A turn stands in its session, a record on its day: `cluster` tells which, `place` where in it.
    `speaker` is the key of who said it, `size` how long it is (in characters, a Chinese one
    counts for several), `variety` how many different terms it has. 0 means that there is none.
    """

    cluster: int = 0
    place: int = 0
    speaker: int = 0
    traits: Trait = Trait.NONE
    size: int = 0
    variety: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerUnits:
    """All units that an owner has from now on; none at all takes it out of the search index.

    `version` is the owner's version they were made of: if the owner has moved on meanwhile, its
    newer units stay.
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
        """The passages of a long text, or the one unit of a short one."""
        return self.units[1:] or self.units
