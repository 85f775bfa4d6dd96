"""Forgetting in every store that holds something of what is to be forgotten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace

from recollect.domain.document import is_document_id
from recollect.domain.forgetting import Forgotten, Verification
from recollect.domain.job import Progress
from recollect.domain.record import is_user_profile
from recollect.domain.scope import Caller, Holding, split
from recollect.erasure.forgetting import ForgetRequest, Forgetting
from recollect.errors import Conflict
from recollect.recall.listing import Listing


class ForgettingPlaces:
    """Finds out which stores a request concerns; no transaction spans them.

    Nothing is erased before it is known that the caller may erase all of it.
    """

    def __init__(
        self,
        listing: Listing,
        holding: Holding[Forgetting],
        common: Forgetting,
        every: Callable[[], Sequence[Forgetting]],
        copied: Callable[[], Awaitable[Collection[str]]],
    ) -> None:
        self._listing = listing
        self._holding = holding
        self._common = common
        self._every = every
        # Returns the agents of whose memory another store holds a copy.
        self._copied = copied

    async def forget(
        self,
        caller: Caller,
        wish: ForgetRequest,
        *,
        dry_run: bool,
        verify: bool,
        progress: Progress | None,
    ) -> Forgotten:
        """Erase the target in every store that may hold some of it."""
        await self._require_no_copy(caller, wish)
        return _merge(
            [
                await store.forget(caller, part, dry_run=dry_run, verify=verify, progress=progress)
                for store, part in await self._parts(caller, wish)
            ]
        )

    async def _require_no_copy(self, caller: Caller, wish: ForgetRequest) -> None:
        """Refuse while a copy that was left by a move, or is being made, would keep it."""
        reached = {scope.agent for scope in caller.writable}
        for agent in sorted(await self._copied()):
            if wish.user is not None or agent in reached:
                raise Conflict(
                    f"Another store still has a copy of the memory of {agent}; nothing was "
                    "forgotten",
                    code="old_copy_kept",
                    hint=f"When its move has ended, erase the copy: recollect agents move {agent} "
                    "--purge",
                )

    async def _parts(
        self, caller: Caller, wish: ForgetRequest
    ) -> Sequence[tuple[Forgetting, ForgetRequest]]:
        if wish.user is not None:
            return [(store, wish) for store in self._every()]
        if wish.everything:
            # Documents are in the common store, whoever's they are.
            own = self._holding(caller.scope)
            return [(store, wish) for store in dict.fromkeys((own, self._common))]
        if not wish.ids:
            return [(store, wish) for store, _ in split(caller.writable, self._holding)]
        ids: dict[Forgetting, list[str]] = {}
        for one in wish.ids:
            ids.setdefault(await self._place(caller, one), []).append(one)
        return [(store, replace(wish, ids=tuple(some))) for store, some in ids.items()]

    async def _place(self, caller: Caller, one: str) -> Forgetting:
        if is_document_id(one):
            return self._common
        record = await self._listing.get(caller, one, even_deleted=True)
        caller.require_write(record.scope, is_profile=is_user_profile(record.category))
        return self._holding(record.scope)


def _merge(done: Sequence[Forgotten]) -> Forgotten:
    """Return one result for all stores, under the id of the first one."""
    if len(done) == 1:
        return done[0]
    counts: Counter[str] = Counter()
    for result in done:
        counts.update(result.counts)
    return Forgotten(
        forget_id=done[0].forget_id,
        counts=dict(counts),
        evidence_left=tuple(turn for result in done for turn in result.evidence_left),
        is_dry_run=done[0].is_dry_run,
        erasure_pending=any(result.erasure_pending for result in done),
        wal_pending=any(result.wal_pending for result in done),
        unused_room_kept=any(result.unused_room_kept for result in done),
        verification=_merge_verifications([result.verification for result in done]),
    )


def _merge_verifications(found: Sequence[Verification | None]) -> Verification | None:
    """Return the combined verification; None while one is missing."""
    known = [verification for verification in found if verification is not None]
    if len(known) < len(found):
        return None
    return Verification(
        terms=sum(verification.terms for verification in known),
        searched=tuple(
            dict.fromkeys(place for verification in known for place in verification.searched)
        ),
        traces=tuple(trace for verification in known for trace in verification.traces),
        also_said={
            term: place for verification in known for term, place in verification.also_said.items()
        },
        copies=tuple(dict.fromkeys(copy for verification in known for copy in verification.copies)),
    )
