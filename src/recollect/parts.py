"""Everything a memory is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.lifecycle.backing_up import BackUp
    from recollect.lifecycle.exporting import Exporter
    from recollect.lifecycle.feedback import FeedbackTaker
    from recollect.lifecycle.figures import Figures
    from recollect.lifecycle.forgetting import Forgetting
    from recollect.lifecycle.importing import Importer
    from recollect.lifecycle.renewing import Renewal
    from recollect.lifecycle.tending import Tending
    from recollect.lifecycle.trail import Trail
    from recollect.lifecycle.usage import Usage
    from recollect.lifecycle.versions import Versions
    from recollect.lifecycle.worker import Worker
    from recollect.lifecycle.working import WorkingMemory
    from recollect.ports.clock import Clock
    from recollect.ports.jobs import Jobs
    from recollect.ports.maintenance import Maintenance
    from recollect.ports.store import Store
    from recollect.ports.units import UnitIndex
    from recollect.ports.vectors import VectorIndex
    from recollect.recall.cache import CachedRecaller
    from recollect.recall.listing import Listing
    from recollect.recall.meaning import Meaning
    from recollect.recall.prefetch import Prefetch
    from recollect.settings import Settings
    from recollect.sharing.parts import SharingParts
    from recollect.writing.observe import Observer
    from recollect.writing.parts import WritingParts
    from recollect.writing.save import Saver


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything a memory is made of, wired by `assemble`."""

    settings: Settings
    clock: Clock
    store: Store
    maintenance: Maintenance
    jobs: Jobs
    units: UnitIndex
    vectors: VectorIndex
    meaning: Meaning
    renewal: Renewal
    saver: Saver
    observer: Observer
    recaller: CachedRecaller
    prefetch: Prefetch
    usage: Usage
    trail: Trail
    feedback: FeedbackTaker
    figures: Figures
    listing: Listing
    versions: Versions
    exporter: Exporter
    importer: Importer
    backups: BackUp
    worker: Worker
    working: WorkingMemory
    writing: WritingParts
    tending: Tending
    sharing: SharingParts
    forgetting: Forgetting
