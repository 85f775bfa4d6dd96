"""Forgetting where agents have stores of their own: the same wish in each, and one result."""

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
    """Forget a user in every one of these; anything else in the first that has it."""
    done: list[Forgotten] = []
    for place, store in enumerate(stores, 1):
        try:
            done.append(
                await store.forget(caller, wish, dry_run=dry_run, verify=verify, progress=progress)
            )
        except NotFound:
            # Ids may be those of the user's own records, which are in the common store.
            if place == len(stores) and not done:
                raise
        if done and wish.user is None:
            break
    return _together(done)


def _together(done: Sequence[Forgotten]) -> Forgotten:
    """Return one result for all; it is named as the first store's."""
    if len(done) == 1:
        return done[0]
    counts: Counter[str] = Counter()
    for it in done:
        counts.update(it.counts)
    return Forgotten(
        forget_id=done[0].forget_id,
        counts=dict(counts),
        evidence_left=tuple(turn for it in done for turn in it.evidence_left),
        is_dry_run=done[0].is_dry_run,
        erasure_pending=any(it.erasure_pending for it in done),
        wal_pending=any(it.wal_pending for it in done),
        unused_room_kept=any(it.unused_room_kept for it in done),
        verification=_proof([it.verification for it in done]),
    )


def _proof(found: Sequence[Verification | None]) -> Verification | None:
    """Return what all searches found; None while one of them is still to come."""
    known = [it for it in found if it is not None]
    if len(known) < len(found):
        return None
    return Verification(
        terms=sum(it.terms for it in known),
        searched=tuple(dict.fromkeys(place for it in known for place in it.searched)),
        traces=tuple(trace for it in known for trace in it.traces),
        also_said={term: place for it in known for term, place in it.also_said.items()},
        copies=tuple(dict.fromkeys(copy for it in known for copy in it.copies)),
    )
