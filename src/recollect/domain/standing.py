"""How a memory stands: what is weighed of it beside how well it fits a question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.record import Kind, Record
from recollect.domain.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
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


@dataclass(frozen=True, slots=True)
class Weighable:
    """How a record or turn stands, and a way to the thing itself if all of it was read."""

    standing: Standing
    item: Callable[[], Record | Turn] | None = None
