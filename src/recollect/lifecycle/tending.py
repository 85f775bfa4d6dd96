"""Everything that keeps a memory in order, as one value."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.lifecycle.buffer import Buffer
from recollect.lifecycle.conflicts import Conflicts
from recollect.lifecycle.health import HealthCheck
from recollect.lifecycle.promote import Promoter
from recollect.lifecycle.record_sweep import RecordSweep
from recollect.lifecycle.review import Review


@dataclass(frozen=True, slots=True, kw_only=True)
class Tending:
    """What `memory.upkeep` hands on to."""

    buffer: Buffer
    promoter: Promoter
    sweep: RecordSweep
    health: HealthCheck
    conflicts: Conflicts
    review: Review
