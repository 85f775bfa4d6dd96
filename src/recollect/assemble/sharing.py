"""Settings → what agents share: who may do what, and the desk where it is decided."""

from __future__ import annotations

from datetime import timedelta

from recollect.backends.sql.database import Database
from recollect.backends.sql.proposals import SqlProposals
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.ports.units import UnitIndex
from recollect.recall.listing import Listing
from recollect.recall.meaning import Meaning
from recollect.settings import Settings
from recollect.sharing.parties import Parties
from recollect.sharing.parts import SharingParts
from recollect.sharing.proposals import ProposalDesk, ProposalRules
from recollect.sharing.records import SharedRecords
from recollect.sharing.rivals import Rivals
from recollect.writing.redaction import Redactor
from recollect.writing.save import Saver


def sharing_of(
    settings: Settings,
    database: Database,
    store: Store,
    units: UnitIndex,
    listing: Listing,
    saver: Saver,
    meaning: Meaning,
    redactor: Redactor,
    clock: Clock,
) -> SharingParts:
    """Everything that proposals and shared records need."""
    parties = Parties(
        {name: agent.role for name, agent in settings.agents.items()},
        {name: workspace.coordinator for name, workspace in settings.workspaces.items()},
    )
    rules = ProposalRules(
        waits=timedelta(days=settings.sharing.proposal_days),
        auto_types=frozenset(settings.sharing.auto_approve),
        auto_confidence=settings.sharing.auto_confidence,
    )
    rivals = Rivals(store, units)
    proposals = SqlProposals(database)
    desk = ProposalDesk(store, proposals, parties, rivals, meaning, redactor, clock, rules)
    return SharingParts(
        desk=desk,
        records=SharedRecords(listing, parties, saver, clock),
    )
