"""Forgetting for good: by id, by filter, by session, by user. Begun once, it is always finished."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Unpack
from weakref import WeakValueDictionary

from recollect.domain.category import is_user_profile
from recollect.domain.fields import MAX_LABEL, checked_items, checked_text
from recollect.domain.filters import CommonFilters, Filter, make_filter
from recollect.domain.forgetting import Forgotten, Person, Target
from recollect.domain.ids import new_id
from recollect.domain.job import Job
from recollect.domain.page import Cursor
from recollect.domain.progress import Progress
from recollect.domain.record import Record, Status
from recollect.domain.scope import Caller, Scope
from recollect.domain.times import to_micros
from recollect.errors import InvalidInput, NotAllowed, StorageBusy, StorageError
from recollect.ports.blobs import Blobs
from recollect.ports.clock import Clock
from recollect.ports.erasure import Cleaning, Erasure, Proof
from recollect.ports.store import Store
from recollect.recall.listing import Listing

FORGET: Final = "forget"
_PAGE: Final = 500
# So many batches follow each other without a rest.
_AT_ONCE: Final = 5
# What progress counts.
_OWNERS: Final = ("records", "turns", "archives")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a caller asks to be forgotten, in one of these ways."""

    ids: tuple[str, ...] = ()
    session: str | None = None
    user: str | None = None
    everything: bool = False
    where: Filter | None = None
    with_evidence: bool = False
    """Of records: the turns they rest on too."""
    all_agents: bool = False
    """For an operator: a user, whoever is asking."""


def make_wish(
    target: str | Iterable[str] | None,
    session: str | None,
    user: str | None,
    *,
    everything: bool,
    with_evidence: bool,
    all_agents: bool,
    **filters: Unpack[CommonFilters],
) -> Wish:
    """Check what is asked; that nothing was asked is no wish for everything."""
    ids = (target,) if isinstance(target, str) else checked_items(target or (), "target")
    given = [it for it in filters.values() if it not in (None, [], ())]
    ways = (target is not None, session is not None, user is not None, everything, bool(given))
    if sum(ways) != 1:
        raise InvalidInput(
            "Say what to forget, in one way" if any(ways) else "Nothing was said to be forgotten",
            code="what_to_forget",
            hint="Give ids of records, a session, a user, filters, or everything=True for all of "
            "the caller's own scope.",
        )
    return Wish(
        ids=tuple(checked_text(it, "id", MAX_LABEL) for it in ids),
        session=None if session is None else checked_text(session, "session", MAX_LABEL),
        user=None if user is None else checked_text(user, "user", MAX_LABEL),
        everything=everything,
        where=make_filter(**filters) if given else None,
        with_evidence=with_evidence,
        all_agents=all_agents,
    )


async def erase(
    erasure: Erasure,
    blobs: Blobs,
    forget_id: str,
    tell: Callable[[Mapping[str, int]], None] = lambda erased: None,
) -> None:
    """Erase what is hidden, batch after batch, each by itself, until nothing is left.

    A long one rests as long as it works, so that others are served meanwhile.
    """
    timer = asyncio.get_running_loop().time
    for number in itertools.count():
        start = timer()
        erased = await erasure.advance(forget_id)
        if erased is None:
            return
        if erased.blobs:
            await blobs.delete(erased.blobs)
            await erasure.dropped(forget_id)
        tell(erased.counts)
        if number >= _AT_ONCE:
            await asyncio.sleep(timer() - start)


async def clean_up(erasure: Erasure, forget_id: str) -> Cleaning:
    """Clean the files, which ends it; when that must wait, it is left to a job."""
    cleaning = await erasure.clean(forget_id)
    if cleaning == "waits":
        await erasure.postpone(forget_id)
        return cleaning
    if cleaning == "too_large":
        _log.warning("%s: the database is too large to overwrite its unused room", forget_id)
    await erasure.finish(forget_id)
    return cleaning


class Forgetting:
    """Erases what callers ask to be forgotten, and goes on with what was interrupted."""

    def __init__(
        self,
        erasure: Erasure,
        proof: Proof,
        store: Store,
        listing: Listing,
        blobs: Blobs,
        clock: Clock,
        *,
        settle: Callable[[], Awaitable[None]],
        let_go: Callable[[Target], Awaitable[None]],
    ) -> None:
        # What this process has yet to write would otherwise come after it is forgotten.
        self._settle = settle
        self._erasure = erasure
        self._proof = proof
        self._store = store
        self._listing = listing
        self._blobs = blobs
        self._clock = clock
        self._let_go = let_go
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def forget(
        self,
        caller: Caller,
        wish: Wish,
        *,
        dry_run: bool = False,
        verify: bool = False,
        progress: Progress | None = None,
    ) -> Forgotten:
        """Erase all of it, or say in numbers what would go."""
        await self._settle()
        target = await self._target(caller, wish)
        if dry_run:
            seen = await self._erasure.foresee(target)
            return Forgotten(
                forget_id="",
                counts=seen.counts,
                evidence_left=seen.evidence_left,
                is_dry_run=True,
            )
        mementos = await self._proof.remember(target) if verify else None
        forget_id = new_id("forget")
        begun = await self._erasure.begin(target, forget_id)
        await self._let_go(target)
        cleaning: Cleaning = "waits"
        try:
            async with self._turn(forget_id):
                tell = _counting(begun.counts, progress)
                await erase(self._erasure, self._blobs, forget_id, tell)
                cleaning = await clean_up(self._erasure, forget_id)
        except StorageError as problem:
            # It is hidden and will go: what is left of the work is a job.
            _log.warning("%s is finished later: %s", forget_id, problem)
            await self._erasure.postpone(forget_id)
        return Forgotten(
            forget_id=forget_id,
            counts=begun.counts,
            evidence_left=begun.evidence_left,
            wal_pending=cleaning == "waits",
            unused_room_kept=cleaning == "too_large",
            verification=await self._proof.verify(mementos) if mementos else None,
        )

    async def run(self, job: Job) -> None:
        """Go on with a forgetting that was interrupted."""
        async with self._turn(job.key):
            await erase(self._erasure, self._blobs, job.key)
            cleaning = await clean_up(self._erasure, job.key)
        if cleaning == "waits":
            raise StorageBusy(
                "Somebody reads from the log of the database, so it is not emptied yet",
                code="log_in_use",
            )

    def _turn(self, forget_id: str) -> asyncio.Lock:
        """Whoever asked for it and the worker of this process do not both go on with it."""
        return self._turns.setdefault(forget_id, asyncio.Lock())

    async def _target(self, caller: Caller, wish: Wish) -> Target:
        """What the wish means, as far as the caller may write there."""
        if wish.user is not None:
            return Target(person=_person(caller, wish.user, is_operator=wish.all_agents))
        if wish.everything:
            return Target(scopes=(caller.scope,))
        own = tuple(it for it in caller.writable if _is_own(caller, it))
        if wish.session is not None:
            made_of_it = await self._chosen(
                caller, make_filter(session=wish.session, status=list(Status))
            )
            return Target(
                sessions=tuple((scope, wish.session) for scope in own),
                records=tuple(it.id for it in made_of_it if not _is_own(caller, it.scope)),
                within=own,
            )
        if wish.where is not None:
            chosen = await self._chosen(caller, wish.where)
        else:
            chosen = [await self._own(caller, it) for it in wish.ids]
        return Target(
            records=tuple(record.id for record in chosen),
            with_evidence=wish.with_evidence,
            within=own,
        )

    async def _own(self, caller: Caller, record_id: str) -> Record:
        """A record that the caller may erase."""
        record = await self._listing.get(caller, record_id, even_deleted=True)
        caller.require_write(record.scope, is_profile=is_user_profile(record.category))
        return record

    async def _chosen(self, caller: Caller, where: Filter) -> list[Record]:
        """The records that pass the filter and that the caller may erase."""
        chosen: list[Record] = []
        after: Cursor | None = None
        while page := await self._store.records(
            caller.writable, where, now=self._clock.now(), after=after, limit=_PAGE
        ):
            chosen += [
                it for it in page if _is_own(caller, it.scope) or is_user_profile(it.category)
            ]
            after = Cursor(at=to_micros(page[-1].observed_at), id=page[-1].id)
        return chosen


def _counting(
    all_of_it: Mapping[str, int], progress: Progress | None
) -> Callable[[Mapping[str, int]], None]:
    """What tells of each batch how far that is."""
    total, gone = sum(all_of_it.get(it, 0) for it in _OWNERS), 0

    def tell(erased: Mapping[str, int]) -> None:
        nonlocal gone
        gone += sum(erased.get(it, 0) for it in _OWNERS)
        if progress is not None:
            progress(gone, total)

    return tell


def _is_own(caller: Caller, scope: Scope) -> bool:
    """Whether it is the caller's, or its children's; of the user's own only the profile is."""
    return scope == caller.scope or scope != caller.scope.of_user


def _person(caller: Caller, user: str, *, is_operator: bool) -> Person:
    """A user of the caller's workspace, who may be forgotten by themselves or by an operator."""
    here = caller.scope
    is_theirs = here.agent is None and here.user in (None, user)
    if not (is_theirs or is_operator):
        raise NotAllowed(
            f"{here.key} may not forget the user {user}",
            hint="A user is forgotten from the workspace or the user's own scope, without an "
            f"agent: ?user={user} over HTTP, --user {user} at the command line, memory.scope("
            f"user={user!r}, agent=None) in Python; all_agents is for an operator.",
        )
    # Checked as any user is.
    Scope(org=here.org, workspace=here.workspace, user=user)
    return Person(org=here.org, workspace=here.workspace, name=user)
