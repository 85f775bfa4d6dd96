"""Forgetting across the stores of agents: the same request in each, and one result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from recollect.domain.forgetting import Forgotten, Verification
from recollect.domain.progress import Progress
from recollect.domain.scope import Caller
from recollect.erasure.forgetting import ForgetRequest, Forgetting
from recollect.errors import NotFound


async def forget_in(
    stores: Sequence[Forgetting],
    caller: Caller,
    wish: ForgetRequest,
    *,
    dry_run: bool,
    verify: bool,
    progress: Progress | None,
) -> Forgotten:
    """Forget a user in all of these stores, and anything else in the first that has it."""
    done: list[Forgotten] = []
    for place, store in enumerate(stores, 1):
        try:
            done.append(
                await store.forget(caller, wish, dry_run=dry_run, verify=verify, progress=progress)
            )
        except NotFound:
            # Ids may belong to records of the user, which are in the common store.
            if place == len(stores) and not done:
                raise
        if done and wish.user is None:
            break
    return _merge(done)


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
