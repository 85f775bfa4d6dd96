"""Settings → the services for proposals and shared records."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from recollect.audit.prompt_replay import Replayer
from recollect.audit.service import AuditService, Sealer, Verifier
from recollect.recall.conflicts import SqlConflicts
from recollect.sharing.proposals import ProposalRules, ProposalService
from recollect.sharing.records import Parties, SharedRecords
from recollect.sharing.rows import SqlProposals
from recollect.sharing.settlement import RivalFinder

if TYPE_CHECKING:
    from recollect.audit.contents import Contents
    from recollect.audit.rows import SqlAudit
    from recollect.backends.sql.database import Database
    from recollect.domain.scope import Caller, Holding, Scope
    from recollect.embedding.service import EmbeddingService
    from recollect.ports.audit import Anchor
    from recollect.ports.judge import Judge
    from recollect.ports.runtime import Clock
    from recollect.ports.store import Store
    from recollect.recall.cache import CachedRecaller
    from recollect.recall.listing import Listing
    from recollect.recall.profile import ProfileReader
    from recollect.records.usage import Usage
    from recollect.settings import Settings
    from recollect.writing.candidates import Candidates
    from recollect.writing.redaction import Redactor
    from recollect.writing.saver import Saver


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingParts:
    """The services behind `memory.shared`."""

    proposals: ProposalService
    records: SharedRecords


def sharing_of(
    settings: Settings,
    database: Database,
    store: Store,
    candidates: Candidates,
    listing: Listing,
    saver: Saver,
    embedding: EmbeddingService,
    redactor: Redactor,
    clock: Clock,
    judge: Judge,
) -> SharingParts:
    """Return the services for proposals and shared records."""
    parties = parties_of(settings)
    rules = ProposalRules(
        waits=timedelta(days=settings.sharing.proposal_days),
        auto_types=frozenset(settings.sharing.auto_approve),
        auto_confidence=settings.sharing.auto_confidence,
    )
    rivals = RivalFinder(store, embedding, candidates, judge)
    stored = SqlProposals(database)
    return SharingParts(
        proposals=ProposalService(
            store,
            stored,
            parties,
            rivals,
            embedding,
            redactor,
            clock,
            rules,
            SqlConflicts(database),
        ),
        records=SharedRecords(listing, parties, saver, clock),
    )


# --- Settings → the roles of agents in sharing ----------------------------------------------------


def parties_of(settings: Settings) -> Parties:
    """Return the roles of the agents and the coordinators of the workspaces."""
    return Parties(
        lambda name: settings.agent(name).role,
        {name: workspace.coordinator for name, workspace in settings.workspaces.items()},
    )


# --- Settings → the audit service -----------------------------------------------------------------


def trail_of(
    settings: Settings,
    log: SqlAudit,
    holding: Holding[SqlAudit],
    sealer: Sealer,
    anchor: Anchor,
    contents: Contents,
    recaller: CachedRecaller,
    profiles: ProfileReader,
    usage: Usage,
    collections: Callable[[Caller], Awaitable[Sequence[Scope]]],
) -> AuditService:
    """Return the audit service of a database."""
    return AuditService(
        holding=holding,
        sealer=sealer,
        verifier=Verifier(log, anchor),
        replayer=Replayer(holding, recaller, profiles, contents, collections),
        contents=contents,
        usage=usage,
        parties=parties_of(settings),
        collections=collections,
    )
