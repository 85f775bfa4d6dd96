"""The kinds of things that are stored with texts of their own: whose pieces are searched."""

from __future__ import annotations

from typing import Final, Literal, get_args

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
