"""How a memory stands: what is weighed of it beside how well it fits a question."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from recollect.domain.record import Kind, Record
from recollect.domain.turn import Act, Turn


class Standing(NamedTuple):
    """What is known of a record or, without a kind, of a turn."""

    observed_at: datetime
    kind: Kind | None = None
    category: str = ""
    source: str = ""
    confidence: float = 1.0
    helped: int = 0
    rejected: int = 0
    # Whether it is shared, or of another agent than the one that asks.
    is_of_others: bool = False
    # What was done by saying it: of a turn only, once that is decided.
    act: Act | None = None


class Weighable(NamedTuple):
    """How a record or turn stands, and a way to the thing itself if all of it was read."""

    standing: Standing
    item: Callable[[], Record | Turn] | None = None
