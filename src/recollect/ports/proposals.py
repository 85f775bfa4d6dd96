"""Reading proposals. They are written by the store's commit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recollect.domain.page import Cursor
from recollect.domain.proposal import Proposal, ProposalStatus
from recollect.domain.scope import Scope
from recollect.domain.sharing import Party


class Proposals(Protocol):
    """Proposals. One that was not decided in time reads as expired.

    Reads only see the given scopes; `stale` is for the sweep.
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
        """Return the proposals that match all conditions, newest first."""
        ...

    async def stale(self, now: datetime, *, limit: int) -> list[Proposal]:
        """Return the proposals of all scopes that are pending but expired."""
        ...
