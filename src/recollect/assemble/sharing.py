"""Settings → the services for proposals and shared records."""

from __future__ import annotations

from datetime import timedelta

from recollect.assemble.parties import parties_of
from recollect.backends.sql.database import Database
from recollect.backends.sql.proposals import SqlProposals
from recollect.memory.parts import SharingParts
from recollect.ports.clock import Clock
from recollect.ports.judge import Judge
from recollect.ports.store import Store
from recollect.recall.listing import Listing
from recollect.recall.meaning import Meaning
from recollect.settings import Settings
from recollect.sharing.proposals import ProposalRules, ProposalService
from recollect.sharing.records import SharedRecords
from recollect.sharing.settlement import RivalFinder
from recollect.writing.candidates import Candidates
from recollect.writing.redaction import Redactor
from recollect.writing.saver import Saver


def sharing_of(
    settings: Settings,
    database: Database,
    store: Store,
    candidates: Candidates,
    listing: Listing,
    saver: Saver,
    meaning: Meaning,
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
    rivals = RivalFinder(store, meaning, candidates, judge)
    proposals = SqlProposals(database)
    desk = ProposalService(store, proposals, parties, rivals, meaning, redactor, clock, rules)
    return SharingParts(
        desk=desk,
        records=SharedRecords(listing, parties, saver, clock),
    )
