"""What sharing is made of."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.sharing.proposals import ProposalDesk
from recollect.sharing.records import SharedRecords


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingParts:
    """Proposals and what became of them."""

    desk: ProposalDesk
    records: SharedRecords
