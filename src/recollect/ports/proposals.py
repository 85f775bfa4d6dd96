"""Reading proposals. Writing them is the store's commit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recollect.domain.page import Cursor
from recollect.domain.proposal import Proposal, ProposalStatus
from recollect.domain.scope import Scope
from recollect.domain.sharing import Party


class Proposals(Protocol):
    """What was proposed. One that nobody decided in its time reads as expired.

    Reads only ever see the scopes they are given; `stale` is for the sweep.
    """

    async def find(
        self,
        scopes: Sequence[Scope],
        *,
        now: datetime,
        ids: Sequence[str] | None = None,
        status: ProposalStatus | None = None,
        type: str | None = None,
        by: Party | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Proposal]:
        """Proposals for which all that is given holds, newest first."""
        ...

    async def stale(self, now: datetime, *, limit: int) -> list[Proposal]:
        """Proposals of all scopes that still wait though their time is over."""
        ...
