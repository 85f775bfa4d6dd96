"""Properties of a record or turn that affect its score, besides its relevance."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from recollect.domain.record import Kind, Record
from recollect.domain.turn import Act, Turn


class Standing(NamedTuple):
    """The properties of a record or, without a kind, of a turn."""

    observed_at: datetime
    kind: Kind | None = None
    category: str = ""
    source: str = ""
    confidence: float = 1.0
    helped: int = 0
    rejected: int = 0
    # Whether it is shared, or belongs to another agent than the caller.
    is_of_others: bool = False
    # The act of a turn, once it is decided.
    act: Act | None = None


class Weighable(NamedTuple):
    """The properties of a candidate, and access to the record or turn if it was loaded."""

    standing: Standing
    item: Callable[[], Record | Turn] | None = None
