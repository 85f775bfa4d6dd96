"""The services that a memory delegates to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.domain.meter import Meter
    from recollect.domain.write import Pending
    from recollect.embedding.late_vectors import LateVectors
    from recollect.embedding.service import EmbeddingService
    from recollect.embedding.several_stores import ReindexPlaces
    from recollect.erasure.forgetting import Forgetting
    from recollect.erasure.several_stores import ForgettingPlaces
    from recollect.knowledge.base import KnowledgeBase
    from recollect.lifecycle.audit import AuditService
    from recollect.lifecycle.change_feed import ChangeFeed
    from recollect.lifecycle.conflicts import Conflicts
    from recollect.lifecycle.idempotency import IdempotentWork
    from recollect.lifecycle.items import ItemKeeper
    from recollect.lifecycle.jobs import JobControl, Worker
    from recollect.lifecycle.keys import KeyService
    from recollect.lifecycle.profile import ProfileKeeper
    from recollect.lifecycle.short_term import Buffer, Promoter, Quarantine
    from recollect.lifecycle.statistics import HealthCheck, MetricsKeeper, StatisticsCollector
    from recollect.lifecycle.sweep import RecordSweep
    from recollect.lifecycle.usage import FeedbackCounter, Usage
    from recollect.lifecycle.versions import Bulk, Versions
    from recollect.lifecycle.working_memory import WorkingMemory
    from recollect.lifecycle.workspace_directory import WorkspaceDirectory
    from recollect.ports.jobs import Jobs
    from recollect.ports.keys import AgentOverlays
    from recollect.ports.moves import AgentMoves
    from recollect.ports.runtime import Clock
    from recollect.ports.store import Store
    from recollect.ports.units import UnitIndex
    from recollect.recall.cache import CachedRecaller
    from recollect.recall.listing import Listing
    from recollect.recall.prefetch import Prefetch
    from recollect.recall.profile import ProfileReader
    from recollect.settings import Settings
    from recollect.settings.sections import AgentSettings
    from recollect.sharing.proposals import ProposalService
    from recollect.sharing.records import SharedRecords
    from recollect.transfer.backup import Backups
    from recollect.transfer.chat_import import ChatImporter
    from recollect.transfer.exporter import Exporter
    from recollect.transfer.importer import Importer
    from recollect.writing.observer import Observer
    from recollect.writing.parts import WritingParts
    from recollect.writing.saver import Saver


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepServices:
    """The services behind `memory.upkeep`."""

    buffer: Buffer
    promoter: Promoter
    sweep: RecordSweep
    health: HealthCheck
    conflicts: Conflicts
    review: Quarantine


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingParts:
    """The services behind `memory.shared`."""

    proposals: ProposalService
    records: SharedRecords


class Parts(ABC):
    """The services that a memory delegates to.

    What lists records exists from the start; `assemble` creates every other service on first use.
    """

    settings: Settings
    clock: Clock
    meter: Meter
    declared_agents: Mapping[str, AgentSettings]
    """The agents of the settings file; `settings` has their current settings."""
    store: Store
    jobs: Jobs
    listing: Listing

    @abstractmethod
    def of_agent(self, agent: str | None) -> Parts:
        """Return the services on the store that holds the memory of an agent."""

    @abstractmethod
    async def has_memory_of(self, agent: str) -> bool:
        """Return whether this store has memory of an agent."""

    @cached_property
    @abstractmethod
    def moves(self) -> AgentMoves: ...

    @abstractmethod
    def require_all_stores(self) -> None:
        """Raise an error if a store that the operation must reach cannot be opened."""

    @property
    @abstractmethod
    def all_stores(self) -> tuple[Parts, ...]:
        """The services on every open store, those on the common one first."""

    @property
    @abstractmethod
    def meaning(self) -> EmbeddingService: ...

    @cached_property
    @abstractmethod
    def units(self) -> UnitIndex: ...

    @cached_property
    @abstractmethod
    def late_vectors(self) -> LateVectors: ...

    @cached_property
    @abstractmethod
    def recaller(self) -> CachedRecaller: ...

    @cached_property
    @abstractmethod
    def renewal(self) -> ReindexPlaces: ...

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
    def profiles(self) -> ProfileReader: ...

    @cached_property
    @abstractmethod
    def profile_keeper(self) -> ProfileKeeper: ...

    @cached_property
    @abstractmethod
    def usage(self) -> Usage: ...

    @cached_property
    @abstractmethod
    def trail(self) -> AuditService: ...

    @cached_property
    @abstractmethod
    def feedback(self) -> FeedbackCounter: ...

    @cached_property
    @abstractmethod
    def figures(self) -> StatisticsCollector: ...

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
    def chat_importer(self) -> ChatImporter: ...

    @cached_property
    @abstractmethod
    def backups(self) -> Backups: ...

    @cached_property
    @abstractmethod
    def worker(self) -> Worker: ...

    @cached_property
    @abstractmethod
    def job_desk(self) -> JobControl: ...

    @cached_property
    @abstractmethod
    def bulk(self) -> Bulk: ...

    @cached_property
    @abstractmethod
    def following(self) -> ChangeFeed: ...

    @cached_property
    @abstractmethod
    def once(self) -> IdempotentWork: ...

    @cached_property
    @abstractmethod
    def metrics(self) -> MetricsKeeper: ...

    @cached_property
    @abstractmethod
    def agent_overlays(self) -> AgentOverlays: ...

    @cached_property
    @abstractmethod
    def keys(self) -> KeyService: ...

    @cached_property
    @abstractmethod
    def items(self) -> ItemKeeper: ...

    @cached_property
    @abstractmethod
    def directory(self) -> WorkspaceDirectory: ...

    @cached_property
    @abstractmethod
    def working(self) -> WorkingMemory: ...

    @cached_property
    @abstractmethod
    def writing(self) -> WritingParts: ...

    @cached_property
    @abstractmethod
    def upkeep(self) -> UpkeepServices: ...

    @cached_property
    @abstractmethod
    def sharing(self) -> SharingParts: ...

    @cached_property
    @abstractmethod
    def forgetting(self) -> Forgetting: ...

    @cached_property
    @abstractmethod
    def forgetting_places(self) -> ForgettingPlaces: ...

    @cached_property
    @abstractmethod
    def knowledge(self) -> KnowledgeBase: ...

    @abstractmethod
    async def close(self) -> Pending:
        """Finish the work in progress and close the services; return what is still to be read."""
