"""Forgetting for good: by id, filter, session or user. Once begun, it is always finished."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Final, Unpack
from weakref import WeakValueDictionary

from recollect.domain.document import Document, is_document_id
from recollect.domain.fields import MAX_LABEL, checked_items, checked_text
from recollect.domain.filters import CommonFilters, Filter, make_filter
from recollect.domain.forgetting import Forgotten, Person, Target
from recollect.domain.ids import new_id
from recollect.domain.job import Job, Progress
from recollect.domain.page import Cursor
from recollect.domain.record import Record, Status, is_user_profile
from recollect.domain.scope import Caller, Scope
from recollect.domain.times import to_micros
from recollect.errors import (
    Conflict,
    InvalidInput,
    NotAllowed,
    StorageBusy,
    StorageError,
    StoreAway,
)
from recollect.ports.archives import Blobs
from recollect.ports.copies import Copies
from recollect.ports.erasure import Cleaning
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.recall.listing import Listing

if TYPE_CHECKING:
    from recollect.erasure.proof import SqlProof
    from recollect.erasure.rows import SqlErasure
    from recollect.spool.entries import SpoolEntry
    from recollect.spool.service import Spool

_PAGE_RECORDS: Final = 500
# The number of batches that run without a pause.
_BATCHES_WITHOUT_PAUSE: Final = 5
# The kinds that progress counts.
_OWNERS: Final = ("records", "turns", "archives", "documents")

# The ledger of forgettings may lie in the bucket too.
_OF_BLOBS: Final = frozenset({"blobs_unreachable", "blobs_refused"})

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetRequest:
    """A request to forget something, in exactly one of these ways."""

    ids: tuple[str, ...] = ()
    session: str | None = None
    user: str | None = None
    everything: bool = False
    where: Filter | None = None
    with_evidence: bool = False
    """Whether the turns that support a record are forgotten with it."""
    all_agents: bool = False
    """Whether an operator forgets a user for all agents."""


def make_forget_request(
    target: str | Iterable[str] | None,
    session: str | None,
    user: str | None,
    *,
    everything: bool,
    with_evidence: bool,
    all_agents: bool,
    **filters: Unpack[CommonFilters],
) -> ForgetRequest:
    """Check and return a request; an empty one does not mean everything."""
    ids = (target,) if isinstance(target, str) else checked_items(target or (), "target")
    given = [value for value in filters.values() if value not in (None, [], ())]
    ways = (target is not None, session is not None, user is not None, everything, bool(given))
    if sum(ways) != 1:
        raise InvalidInput(
            "Say what to forget in exactly one way" if any(ways) else "Say what to forget",
            code="what_to_forget",
            hint="Give ids of records, a session, a user, filters, or everything=True for all of "
            "the caller's own scope.",
        )
    return ForgetRequest(
        ids=tuple(checked_text(record_id, "id", MAX_LABEL) for record_id in ids),
        session=None if session is None else checked_text(session, "session", MAX_LABEL),
        user=None if user is None else checked_text(user, "user", MAX_LABEL),
        everything=everything,
        where=make_filter(**filters) if given else None,
        with_evidence=with_evidence,
        all_agents=all_agents,
    )


async def erase(
    erasure: SqlErasure,
    blobs: Blobs,
    forget_id: str,
    tell: Callable[[Mapping[str, int]], None] = lambda erased: None,
    *,
    copies: Sequence[Copies] = (),
    names: Mapping[int, Scope] | None = None,
) -> tuple[str, ...]:
    """Erase what is hidden, batch by batch, until nothing is left.

    Return the names of the stores that are away and still have something of it. `names` are those
    that the scopes had, if they are known. A long erasure pauses as long as it works, so that other
    requests are served.
    """
    timer = asyncio.get_running_loop().time
    is_blob_store_away = False
    for number in itertools.count():
        start = timer()
        erased = await erasure.advance(forget_id)
        if erased is None:
            break
        if erased.blobs:
            is_blob_store_away = is_blob_store_away or not await _delete(blobs, erased.blobs)
            await (erasure.put_off if is_blob_store_away else erasure.dropped)(forget_id)
        tell(erased.counts)
        if number >= _BATCHES_WITHOUT_PAUSE:
            await asyncio.sleep(timer() - start)
    away: list[str] = []
    if left := await erasure.left(forget_id):
        if is_blob_store_away or not await _delete(blobs, left):
            away.append(blobs.name)
        else:
            await erasure.dropped_left(forget_id)
    return (*away, *await _erase_copies(erasure, copies, forget_id, names))


async def _delete(blobs: Blobs, keys: Sequence[str]) -> bool:
    """Delete blobs; return False if the store is away."""
    try:
        await blobs.delete(keys)
    except StorageError as problem:
        _log.warning("%d forgotten contents are deleted later: %s", len(keys), problem)
        return False
    return True


async def _erase_copies(
    erasure: SqlErasure,
    copies: Sequence[Copies],
    forget_id: str,
    names: Mapping[int, Scope] | None,
) -> list[str]:
    """Erase it from every derived store; return the names of those that are away."""
    away: list[str] = []
    done = await erasure.erased_in(forget_id) if copies else []
    for store in copies:
        if store.name in done:
            continue
        try:
            await store.erase(names or await erasure.touched(forget_id))
            await erasure.copies_erased(forget_id, store.name)
        except StoreAway as problem:
            _log.warning("%s is erased from there later: %s", forget_id, problem)
            away.append(store.name)
    return away


async def clean_up(
    erasure: SqlErasure, forget_id: str, *, even_large: bool, away: Sequence[str] = ()
) -> Cleaning:
    """Clean the files, which ends the forgetting unless a store is `away`; a job does the rest."""
    cleaning = await erasure.clean(forget_id, even_large=even_large)
    if away:
        cleaning = "waits"
    if cleaning == "waits":
        await erasure.postpone(forget_id)
        return cleaning
    if cleaning == "too_large":
        _log.warning("%s: the database is too large to overwrite its unused room", forget_id)
    await erasure.finish(forget_id)
    return cleaning


@dataclass(eq=False)
class Forgetting:
    """The service that erases what callers want to forget, and finishes interrupted work."""

    _erasure: SqlErasure
    _proof: SqlProof
    _store: Store
    _listing: Listing
    _blobs: Blobs
    _clock: Clock
    _: KW_ONLY
    # Writes what is pending in this process, which must come before the forgetting.
    settle: Callable[[], Awaitable[None]]
    let_go: Callable[[Target], Awaitable[None]]
    # Returns a document that the caller may erase.
    own_document: Callable[[Caller, str], Awaitable[Document]]
    # Returns the agents of whose memory another store holds a copy.
    copied: Callable[[], Awaitable[Collection[str]]]
    copies: Sequence[Copies] = ()
    spool: Spool | None = None
    _turns: WeakValueDictionary[str, asyncio.Lock] = field(
        default_factory=WeakValueDictionary[str, asyncio.Lock], init=False
    )

    async def forget(
        self,
        caller: Caller,
        wish: ForgetRequest,
        *,
        dry_run: bool = False,
        verify: bool = False,
        progress: Progress | None = None,
    ) -> Forgotten:
        """Erase the target, or with `dry_run` count what would be erased."""
        if self.spool is not None and not dry_run:
            await self._forget_waiting(self.spool, caller, wish)
        await self._require_no_copy(caller, wish)
        try:
            await self.settle()
        except StorageError as problem:
            # A later write notices that its target was forgotten meanwhile.
            _log.warning("usage is not counted yet: %s", problem)
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
        await self.let_go(target)
        cleaning: Cleaning = "waits"
        away: tuple[str, ...] = ()
        try:
            async with self._turn(forget_id):
                tell = _report_progress(begun.counts, progress)
                away = await erase(
                    self._erasure,
                    self._blobs,
                    forget_id,
                    tell,
                    copies=self.copies,
                    names=begun.scopes,
                )
                # Nothing can be verified before the files are clean, so `verify` waits for that.
                cleaning = await clean_up(self._erasure, forget_id, even_large=verify, away=away)
        except StorageError as problem:
            # It is hidden already; a job does the rest.
            if problem.code in _OF_BLOBS:
                away = (self._blobs.name,)
            _log.warning("%s will be finished later: %s", forget_id, problem)
            with contextlib.suppress(StorageError):
                await self._erasure.postpone(forget_id)
        is_pending = cleaning == "waits"
        verification = None
        if mementos is not None and not is_pending:
            verification = await self._proof.verify(mementos)
        return Forgotten(
            forget_id=forget_id,
            counts=begun.counts,
            evidence_left=begun.evidence_left,
            erasure_pending=is_pending,
            wal_pending=is_pending,
            unused_room_kept=cleaning == "too_large",
            away=away,
            verification=verification,
        )

    async def _forget_waiting(self, spool: Spool, caller: Caller, wish: ForgetRequest) -> None:
        """Have what waits for the database server stored first, so that it is forgotten with all
        that belongs to it; while the server is away, erase what is meant where it waits.
        """

        def is_meant(entry: SpoolEntry) -> bool:
            return _is_meant(caller, wish, entry)

        names = {*wish.ids, wish.session, wish.user}

        def may_be_meant(entry: SpoolEntry) -> bool:
            # What a filter accepts is known only when it is stored.
            is_seen = wish.where is not None and not entry.scopes.isdisjoint(caller.writable)
            return is_meant(entry) or is_seen or not names.isdisjoint(entry.names)

        try:
            await spool.drain(may_be_meant)
            await spool.overwrite_stored()
        except StorageError as problem:
            erased = await spool.erase(is_meant)
            raise StorageError(
                f"The database is away, so only what waited on this machine was erased ({erased:,} "
                f"records and turns): {problem.message}",
                code=problem.code,
                hint="Forget again when the database is back; what it holds is unchanged.",
            ) from problem

    async def _require_no_copy(self, caller: Caller, wish: ForgetRequest) -> None:
        """Refuse while a copy that was left by a move, or is being made, would keep it."""
        reached = {scope.agent for scope in caller.writable}
        for agent in sorted(await self.copied()):
            if wish.user is not None or agent in reached:
                raise Conflict(
                    f"Another store still has a copy of the memory of {agent}; nothing was "
                    "forgotten",
                    code="old_copy_kept",
                    hint=f"When its move has ended, erase the copy: recollect agents move {agent} "
                    "--purge",
                )

    async def run(self, job: Job) -> None:
        """Finish an interrupted forgetting."""
        async with self._turn(job.key):
            away = await erase(self._erasure, self._blobs, job.key, copies=self.copies)
            cleaning = await clean_up(self._erasure, job.key, even_large=True, away=away)
        if away:
            raise StorageBusy(
                f"What was forgotten is still in {', '.join(away)}, which is away",
                code="store_away",
            )
        if cleaning == "waits":
            raise StorageBusy(
                "The files are not clean yet: the database is being read, or the disk is full",
                code="log_in_use",
            )

    def _turn(self, forget_id: str) -> asyncio.Lock:
        """Return the lock that keeps the caller and the worker from doing the same work."""
        return self._turns.setdefault(forget_id, asyncio.Lock())

    async def _target(self, caller: Caller, wish: ForgetRequest) -> Target:
        """Return what the request means, limited to what the caller may write."""
        if wish.user is not None:
            return Target(person=_person(caller, wish.user, is_operator=wish.all_agents))
        if wish.everything:
            return Target(scopes=(caller.scope,))
        own = tuple(scope for scope in caller.writable if _is_own(caller, scope))
        if wish.session is not None:
            derived = await self._matching_records(
                caller, make_filter(session=wish.session, status=list(Status))
            )
            return Target(
                sessions=tuple((scope, wish.session) for scope in own),
                records=tuple(record.id for record in derived if not _is_own(caller, record.scope)),
                within=own,
            )
        if wish.where is not None:
            chosen = await self._matching_records(caller, wish.where)
        else:
            named = [wanted for wanted in wish.ids if not is_document_id(wanted)]
            chosen = [await self._own_record(caller, record_id) for record_id in named]
        documents = [
            await self.own_document(caller, document_id)
            for document_id in wish.ids
            if is_document_id(document_id)
        ]
        return Target(
            records=tuple(record.id for record in chosen),
            documents=tuple(document.id for document in documents),
            with_evidence=wish.with_evidence,
            within=own,
        )

    async def _own_record(self, caller: Caller, record_id: str) -> Record:
        """Return a record that the caller may erase."""
        record = await self._listing.get(caller, record_id, even_deleted=True)
        caller.require_write(record.scope, is_profile=is_user_profile(record.category))
        return record

    async def _matching_records(self, caller: Caller, where: Filter) -> list[Record]:
        """Return the records that match the filter and that the caller may erase."""
        chosen: list[Record] = []
        after: Cursor | None = None
        while page := await self._store.records(
            caller.writable, where, now=self._clock.now(), after=after, limit=_PAGE_RECORDS
        ):
            chosen += [
                record
                for record in page
                if _is_own(caller, record.scope) or is_user_profile(record.category)
            ]
            after = Cursor(at=to_micros(page[-1].observed_at), id=page[-1].id)
        return chosen


def _report_progress(
    counts: Mapping[str, int], progress: Progress | None
) -> Callable[[Mapping[str, int]], None]:
    """Return a function that reports the progress after each batch."""
    total, gone = sum(counts.get(kind, 0) for kind in _OWNERS), 0

    def tell(erased: Mapping[str, int]) -> None:
        nonlocal gone
        gone += sum(erased.get(kind, 0) for kind in _OWNERS)
        if progress is not None:
            progress(gone, total)

    return tell


def _is_own(caller: Caller, scope: Scope) -> bool:
    """Return whether a scope is the caller's or its children's; the user's own scope is not."""
    return scope == caller.scope or scope != caller.scope.of_user


def _is_meant(caller: Caller, wish: ForgetRequest, entry: SpoolEntry) -> bool:
    """Return whether something that waits belongs to what is to be forgotten."""
    if wish.user is not None:
        person = _person(caller, wish.user, is_operator=wish.all_agents)
        place = (person.org, person.workspace, person.name)
        return any(place == (it.org, it.workspace, it.user) for it in entry.scopes)
    if wish.everything:
        return caller.scope in entry.scopes
    if not entry.scopes.issubset(caller.writable):
        return False
    if wish.session is not None:
        return any(item.session == wish.session for item in entry.items)
    return not entry.ids.isdisjoint(wish.ids)


def _person(caller: Caller, user: str, *, is_operator: bool) -> Person:
    """Return a user of the workspace who may be forgotten by this caller."""
    here = caller.scope
    is_theirs = here.agent is None and here.user in (None, user)
    if not (is_theirs or is_operator):
        raise NotAllowed(
            f"{here.key} may not forget the user {user}",
            hint="A user is forgotten from the workspace or the user's own scope, without an "
            f"agent: ?user={user} over HTTP, --user {user} at the command line, memory.scope("
            f"user={user!r}, agent=None) in Python; all_agents is for an operator.",
        )
    # Raises an error for a name that is not valid.
    Scope(org=here.org, workspace=here.workspace, user=user)
    return Person(org=here.org, workspace=here.workspace, name=user)
