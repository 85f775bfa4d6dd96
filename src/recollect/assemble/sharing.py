"""Settings → the services for proposals and shared records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from recollect.audit.contents import Contents
from recollect.audit.prompt_replay import Replayer
from recollect.audit.service import AuditService, Verifier
from recollect.recall.conflicts import SqlConflicts
from recollect.sharing.proposals import ProposalRules, ProposalService
from recollect.sharing.records import Parties, SharedRecords
from recollect.sharing.rows import SqlProposals
from recollect.sharing.settlement import RivalFinder

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring
    from recollect.audit.rows import SqlAudit
    from recollect.domain.scope import Caller, Scope
    from recollect.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingParts:
    """The services behind `memory.shared`."""

    proposals: ProposalService
    records: SharedRecords


def sharing_of(parts: Wiring) -> SharingParts:
    """Return the services for proposals and shared records."""
    settings, clock, embedding = parts.settings, parts.clock, parts.embedding
    # Proposals are in the common store, whoever made them.
    store = parts.here.store
    parties = parties_of(settings)
    rules = ProposalRules(
        waits=timedelta(days=settings.sharing.proposal_days),
        auto_types=frozenset(settings.sharing.auto_approve),
        auto_confidence=settings.sharing.auto_confidence,
    )
    return SharingParts(
        proposals=ProposalService(
            store,
            SqlProposals(parts.database),
            parties,
            RivalFinder(store, embedding, parts.candidates, parts.judge),
            embedding,
            parts.redactor,
            clock,
            rules,
            SqlConflicts(parts.database),
        ),
        records=SharedRecords(parts.listing, parties, parts.saver, clock),
    )


# --- Settings → the roles of agents in sharing ----------------------------------------------------


def parties_of(settings: Settings) -> Parties:
    """Return the roles of the agents and the coordinators of the workspaces."""
    return Parties(
        lambda name: settings.agent(name).role,
        {name: workspace.coordinator for name, workspace in settings.workspaces.items()},
    )


# --- Settings → the audit service -----------------------------------------------------------------


def trail_of(parts: Wiring) -> AuditService:
    """Return the audit service of a database."""

    def holding(scope: Scope) -> SqlAudit:
        return parts.router.holding(scope).here.audit

    async def collections(caller: Caller) -> Sequence[Scope]:
        return await parts.collections.scopes(caller)

    contents = Contents(
        parts.store,
        parts.archives,
        lambda: parts.documents,
        lambda: SqlProposals(parts.router.common.database),
        parts.clock,
    )
    return AuditService(
        holding=holding,
        sealer=parts.sealer,
        verifier=Verifier(parts.here.audit, parts.database.anchor),
        replayer=Replayer(holding, parts.recaller, parts.profiles, contents, collections),
        contents=contents,
        usage=parts.usage,
        parties=parties_of(parts.settings),
        collections=collections,
    )
