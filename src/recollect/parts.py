"""Everything a memory is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
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
    from recollect.ports.store import Store
    from recollect.ports.units import UnitIndex
    from recollect.recall.cache import CachedRecaller
    from recollect.recall.late_vectors import LateVectors
    from recollect.recall.listing import Listing
    from recollect.recall.meaning import Meaning
    from recollect.recall.prefetch import Prefetch
    from recollect.settings import Settings
    from recollect.sharing.parts import SharingParts
    from recollect.writing.observe import Observer
    from recollect.writing.parts import WritingParts
    from recollect.writing.save import Saver


class Parts(ABC):
    """Everything a memory is made of.

    What a question needs is there from the start; `assemble` makes every other part when it is
    first asked for.
    """

    settings: Settings
    clock: Clock
    store: Store
    jobs: Jobs
    units: UnitIndex
    meaning: Meaning
    late_vectors: LateVectors
    recaller: CachedRecaller
    listing: Listing

    @cached_property
    @abstractmethod
    def renewal(self) -> Renewal: ...

    @cached_property
    @abstractmethod
    def saver(self) -> Saver: ...

    @cached_property
    @abstractmethod
    def observer(self) -> Observer: ...

    @cached_property
    @abstractmethod
    def prefetch(self) -> Prefetch: ...

    @cached_property
    @abstractmethod
    def usage(self) -> Usage: ...

    @cached_property
    @abstractmethod
    def trail(self) -> Trail: ...

    @cached_property
    @abstractmethod
    def feedback(self) -> FeedbackTaker: ...

    @cached_property
    @abstractmethod
    def figures(self) -> Figures: ...

    @cached_property
    @abstractmethod
    def versions(self) -> Versions: ...

    @cached_property
    @abstractmethod
    def exporter(self) -> Exporter: ...

    @cached_property
    @abstractmethod
    def importer(self) -> Importer: ...

    @cached_property
    @abstractmethod
    def backups(self) -> BackUp: ...

    @cached_property
    @abstractmethod
    def worker(self) -> Worker: ...

    @cached_property
    @abstractmethod
    def working(self) -> WorkingMemory: ...

    @cached_property
    @abstractmethod
    def writing(self) -> WritingParts: ...

    @cached_property
    @abstractmethod
    def tending(self) -> Tending: ...

    @cached_property
    @abstractmethod
    def sharing(self) -> SharingParts: ...

    @cached_property
    @abstractmethod
    def forgetting(self) -> Forgetting: ...

    @abstractmethod
    async def close(self) -> None:
        """Finish and close what was made."""
