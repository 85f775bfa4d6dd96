"""The verb of a memory after which something is gone for good."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Unpack

from recollect.domain.filters import CommonFilters
from recollect.domain.forgetting import Forgotten
from recollect.domain.progress import Progress
from recollect.domain.scope import Caller

if TYPE_CHECKING:
    from recollect.parts import Parts


class RemovingVerbs:
    """Part of `Memory`: forgetting, in numbers first if that is wanted, and provably."""

    _parts: Parts
    _caller: Caller

    async def forget(
        self,
        target: str | Iterable[str] | None = None,
        *,
        session: str | None = None,
        user: str | None = None,
        everything: bool = False,
        with_evidence: bool = False,
        all_agents: bool = False,
        dry_run: bool = False,
        verify: bool = False,
        progress: Progress | None = None,
        **filters: Unpack[CommonFilters],
    ) -> Forgotten:
        """Erase every trace of records, a session, a user, what filters find, or `everything` here.

        A record goes with all that was made of it; the turns it rests on stay, and are named,
        unless `with_evidence`. A session or a user goes with all that was said. A user is
        forgotten by themselves or without an agent, or with `all_agents` by an operator.
        `dry_run` only counts; `verify` searches every store and file for what it said.
        """
        # What is needed to forget is not needed to remember.
        from recollect.lifecycle.forgetting import make_wish

        wish = make_wish(
            target,
            session,
            user,
            everything=everything,
            with_evidence=with_evidence,
            all_agents=all_agents,
            **filters,
        )
        return await self._parts.forgetting.forget(
            self._caller, wish, dry_run=dry_run, verify=verify, progress=progress
        )
