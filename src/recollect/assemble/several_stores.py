"""The verbs that answer from several stores: how the answers become one."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from recollect.domain.embedding_jobs import MISSING_VECTORS
from recollect.domain.hit import Recalled
from recollect.domain.scope import Scope, split, split_reachable
from recollect.domain.times import to_micros
from recollect.errors import InvalidInput, StorageError

if TYPE_CHECKING:
    from recollect.assemble.router import Stores, Verb
    from recollect.domain.archive import Archive, Blob
    from recollect.domain.change import ChangeSet, Committed
    from recollect.domain.document import Document
    from recollect.domain.embedding import Reindexing
    from recollect.domain.filters import Filter
    from recollect.domain.forgetting import Forgotten
    from recollect.domain.job import JobReport, Progress
    from recollect.domain.scope import Caller
    from recollect.domain.stats import HealthFigures
    from recollect.domain.turn import Turn
    from recollect.embedding.reindex import ReindexService
    from recollect.erasure.forgetting import ForgetRequest, Forgetting
    from recollect.ports.archives import Blobs
    from recollect.ports.store import Store
    from recollect.ports.transfer import Extent, Snapshot
    from recollect.recall.cache import CachedRecaller
    from recollect.recall.listing import Listing
    from recollect.transfer.rows import SqlTransfer

T = TypeVar("T")
Merge = Callable[[list[Any], Mapping[str, Any]], Any]
"""Makes one answer of several; the options of the call say how many are wanted."""

_log: Final = logging.getLogger(__name__)


# --- Answers of several stores → one --------------------------------------------------------------


def merging(name: str, merge: Merge, unopened: Literal["refuse", "skip"] = "refuse") -> Verb:
    """Return a verb that asks each store about the scopes it holds, which come first in the call.

    A store that cannot be opened is an error, unless everything that `ids` names is found.
    """

    async def verb(stores: Stores[Any], asked: Any, *more: Any, **options: Any) -> Any:
        # What to select names its scopes, or none for all that is at home.
        named = getattr(asked, "scopes", asked)
        if named is None:
            return await getattr(stores.home, name)(asked, *more, **options)
        places, problems = split_reachable(named, stores.holding)
        ids: Sequence[str] | None = options.get("ids")
        if problems and ids is None and unopened == "refuse":
            raise problems[0]
        answers = await asyncio.gather(
            *(
                getattr(store, name)(
                    some if named is asked else replace(asked, scopes=some), *more, **options
                )
                for store, some in places or [(stores.home, ())]
            )
        )
        if problems and ids is not None and {item.id for item in chain(*answers)} < set(ids):
            raise problems[0]
        return answers[0] if len(answers) == 1 else merge(list(answers), options)

    return verb


def finding(name: str) -> Verb:
    """Return a verb that answers from the first store that has what is asked for."""

    async def verb(stores: Stores[Any], scopes: Sequence[Scope], *more: Any) -> Any:
        places, problems = split_reachable(scopes, stores.holding)
        found = None
        for store, some in places:
            if found := await getattr(store, name)(some, *more):
                return found
        if problems:
            raise problems[0]
        return found

    return verb


def everywhere(name: str, merge: Merge) -> Verb:
    """Return a verb that asks every store, one after another; all of them must be open."""

    async def verb(stores: Stores[Any], *arguments: Any, **options: Any) -> Any:
        answers = [await getattr(store, name)(*arguments, **options) for store in stores.every()]
        return merge(answers, options)

    return verb


def is_any(answers: list[bool], _: Mapping[str, Any]) -> bool:
    return any(answers)


def joined(answers: list[list[T]], _: Mapping[str, Any]) -> list[T]:
    return list(chain(*answers))


def united(answers: list[dict[Any, Any]], _: Mapping[str, Any]) -> dict[Any, Any]:
    return {key: value for answer in answers for key, value in answer.items()}


def latest(moment: str) -> Merge:
    """Return a merge of lists that each begin with the latest."""

    def merge(answers: list[list[Any]], options: Mapping[str, Any]) -> list[Any]:
        both = sorted(
            chain(*answers),
            key=lambda item: (to_micros(getattr(item, moment)), item.id),
            reverse=True,
        )
        return both[: options.get("limit")]

    return merge


def summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the counts of several stores as one, the largest first."""
    total: Counter[str] = Counter()
    for some in counts:
        total.update(some)
    return dict(total.most_common())


def added(answers: Sequence[T], _: Mapping[str, Any] | None = None) -> T:
    """Return one value for those of several stores: numbers and counts are added, lists joined.

    A flag is set if one of them is; of anything else the first is taken.
    """
    values: Any = answers
    if len(values) == 1:
        return values[0]
    return replace(
        values[0],
        **{
            field.name: _add([getattr(value, field.name) for value in values])
            for field in fields(values[0])
        },
    )


def _add(values: list[Any]) -> Any:
    match values[0]:
        case bool():
            return any(values)
        case int():
            return sum(values)
        case tuple():
            return tuple(dict.fromkeys(chain[Any](*values)))
        case Mapping():
            is_count = all(isinstance(count, int) for value in values for count in value.values())
            return summed(values) if is_count else united(values, {})
        case _:
            return values[0]


# --- Records, turns and the rest of what a store holds --------------------------------------------


async def _commit(stores: Stores[Store], changes: ChangeSet) -> Committed:
    """Commit a change where its scopes are. No transaction spans two stores.

    What is read out of turns may belong to several: it is found again, and written once, if a kill
    comes between. Uses are counted for many records at a time, and each for itself.
    """
    is_divisible = bool(changes.watermarks or changes.accesses)
    scopes = _scopes_of(changes)
    if is_divisible:
        scopes |= {entry.scope for entry in changes.audit}
    holders = [store for store, _ in split(scopes, stores.holding)]
    if len(holders) == 1:
        return await holders[0].commit(changes)
    if not is_divisible:
        raise InvalidInput(
            "This would change two stores at the same time; nothing was changed",
            code="two_stores",
            hint="Save a user profile and what is the agent's alone in separate calls.",
        )
    if changes.watermarks:
        # How far turns were read is where they are, and is written last.
        last = stores.holding(changes.watermarks[0].scope)
        holders.sort(key=lambda store: store is last)
    done = [
        await store.commit(_part_of(changes, stores, store, is_last=store is holders[-1]))
        for store in holders
    ]
    return replace(done[-1], versions=united([dict(committed.versions) for committed in done], {}))


def _part_of(
    changes: ChangeSet, stores: Stores[Store], store: Store, *, is_last: bool
) -> ChangeSet:
    """Return what one of the stores is to write of what may belong to several."""

    def holds(scope: Scope) -> bool:
        return stores.holding(scope) is store

    parts = ("accesses", "units", "conflicts", "links", "traces", "watermarks", "audit")
    return replace(
        changes,
        records=tuple(change for change in changes.records if holds(change.record.scope)),
        expected={scope: version for scope, version in changes.expected.items() if holds(scope)},
        # Each store has the vectors of its own units made.
        jobs=tuple(job for job in changes.jobs if is_last or job == MISSING_VECTORS),
        **{
            name: tuple(part for part in getattr(changes, name) if holds(part.scope))
            for name in parts
        },
    )


def _scopes_of(changes: ChangeSet) -> set[Scope]:
    """Return where something is changed; the caller's own scope when nothing says."""
    records = [change.record for change in (*changes.records, *changes.feedback)]
    scopes = {
        part.scope for part in (*records, *changes.purged, *changes.turns, *changes.retracted)
    }
    scopes |= {part.scope for part in (*changes.accesses, *changes.proposals, *changes.watermarks)}
    return scopes or {link.scope for link in changes.links} or {changes.scope}


async def _turns(
    stores: Stores[Store], scopes: Sequence[Scope], where: Filter, **options: Any
) -> list[Turn]:
    """Return turns: of one session in their order, otherwise the latest first."""
    merge = latest("at") if where.session is None else _in_session
    return await merging("turns", merge)(stores, scopes, where, **options)


def _in_session(answers: list[list[Turn]], options: Mapping[str, Any]) -> list[Turn]:
    return sorted(chain(*answers), key=lambda turn: (turn.ordinal, turn.id))[: options.get("limit")]


async def _versions(stores: Stores[Store], scopes: Sequence[Scope]) -> tuple[int, ...]:
    found: dict[Scope, int] = {}
    for store, some in split(scopes, stores.holding):
        found |= zip(some, await store.versions(some), strict=True)
    return tuple(found[scope] for scope in scopes)


STORE: Final[Mapping[str, Verb]] = {
    "commit": _commit,
    "records": merging("records", latest("observed_at")),
    "turns": _turns,
    "standings": merging("standings", united),
    # A link is where its ends are: whoever has read those misses nothing.
    "links": merging("links", joined, unopened="skip"),
    "history": finding("history"),
    "versions": _versions,
    "counts": merging("counts", added),
}
ARCHIVES: Final[Mapping[str, Verb]] = {
    "find": merging("find", latest("created_at")),
    "with_blob": finding("with_blob"),
}
WRITES: Final[Mapping[str, Verb]] = {
    "trace": finding("trace"),
    "made_from": merging("made_from", joined),
}


def _by_id(answers: list[list[Any]], options: Mapping[str, Any]) -> list[Any]:
    return sorted(chain(*answers), key=lambda record: record.id)[: options.get("limit")]


def _add_figures(answers: list[HealthFigures], _: Mapping[str, Any]) -> HealthFigures:
    total = sum(store.total for store in answers)
    confidence = sum(store.total * (store.mean_confidence or 0) for store in answers)
    return replace(
        added(answers),
        mean_confidence=confidence / total if total else None,
        fullest=max(store.fullest for store in answers),
    )


RETENTION: Final[Mapping[str, Verb]] = {
    "select": merging("select", _by_id),
    "crowded": merging("crowded", united),
}
CONFLICTS: Final[Mapping[str, Verb]] = {"find": merging("find", latest("created_at"))}
HEALTH: Final[Mapping[str, Verb]] = {"figures": merging("figures", _add_figures)}


# --- Archived contents: their keys are unique, and new ones are put at home -----------------------


def _blob_stores(stores: Stores[Blobs]) -> list[Blobs]:
    return list(dict.fromkeys([stores.home, *stores.opened()]))


async def _get_blob(stores: Stores[Blobs], key: str) -> bytes | None:
    for blobs in _blob_stores(stores):
        if (found := await blobs.get(key)) is not None:
            return found
    return None


async def _delete_blobs(stores: Stores[Blobs], keys: Sequence[str]) -> None:
    for blobs in _blob_stores(stores):
        await blobs.delete(keys)


BLOBS: Final[Mapping[str, Verb]] = {"get": _get_blob, "delete": _delete_blobs}


# --- Recall: scores are similarities from 0 to 1 in every store, so they can be compared ----------


def recalling(limit: int, gap: float) -> Mapping[str, Verb]:
    """Return the verbs of recall, which keep the best hits of all stores.

    While a store does not answer the others do, and the answer says so.
    """

    async def recall(
        stores: Stores[CachedRecaller],
        text: str,
        scopes: tuple[Scope, ...],
        where: Filter,
        **options: Any,
    ) -> Recalled:
        places, problems = split_reachable(scopes, stores.holding)
        if len(places) == 1 and not problems:
            return await places[0][0].recall(text, scopes, where, **options)
        answers = await asyncio.gather(
            *(store.recall(text, some, where, **options) for store, some in places),
            return_exceptions=True,
        )
        recalled: list[Recalled] = []
        for answer in answers:
            if isinstance(answer, Recalled):
                recalled.append(answer)
            elif isinstance(answer, StorageError):
                problems.append(answer)
            else:
                raise answer
        if not recalled:
            raise problems[0]
        most = options.get("limit")
        return _best(recalled, problems, limit if most is None else most, gap)

    return {"recall": recall, "load": merging("load", _nothing, unopened="skip")}


def _nothing(*_: object) -> None: ...


def _best(
    recalled: Sequence[Recalled], problems: Sequence[StorageError], limit: int, gap: float
) -> Recalled:
    hits = sorted((hit for answer in recalled for hit in answer.hits), key=lambda hit: -hit.score)
    if hits:
        least = gap * hits[0].score
        hits = [hit for hit in hits if hit.score >= least]
    missed = sorted(
        (miss for answer in recalled for miss in answer.near_misses), key=lambda miss: -miss.score
    )
    unread = [f"a store was not read: {problem}" for problem in problems]
    for note in unread:
        _log.warning(note)
    notes = [*(note for answer in recalled for note in answer.degraded), *unread]
    return replace(
        recalled[0],
        hits=tuple(hits[:limit]),
        degraded=tuple(dict.fromkeys(notes)),
        near_misses=tuple(missed[: max(len(answer.near_misses) for answer in recalled)]),
    )


# --- Background jobs, as an operator sees them ----------------------------------------------------


def _newest(answers: list[list[JobReport]], options: Mapping[str, Any]) -> list[JobReport]:
    # Ids rise with time, in whichever store.
    both = sorted(chain(*answers), key=lambda job: job.id, reverse=True)
    return both[: options.get("limit")]


JOBS: Final[Mapping[str, Verb]] = {
    "reports": everywhere("reports", _newest),
    "cancel": everywhere("cancel", is_any),
}


# --- Reindexing, one store after another ----------------------------------------------------------


async def _reindex(
    stores: Stores[ReindexService],
    progress: Progress | None,
    choice: str | None,
    *,
    in_background: bool,
) -> int:
    lacking = 0
    for service in stores.every():
        told = progress if progress is None or not lacking else _continuing(progress, lacking)
        lacking += await service.reindex(told, choice, in_background=in_background)
    return lacking


def _continuing(progress: Progress, before: int) -> Progress:
    """Return the progress of what comes after so many units of other stores."""
    return lambda done, total: progress(before + done, before + total)


def _reindexing(answers: list[Reindexing], _: Mapping[str, Any]) -> Reindexing:
    told = next((answer for answer in answers if answer.is_going_on), answers[0])
    return replace(added(answers), model=told.model)


REINDEX: Final[Mapping[str, Verb]] = {
    "reindex": _reindex,
    "progress": everywhere("progress", _reindexing),
    "stop": everywhere("stop", is_any),
}


# --- Forgetting in every store that holds something of what is to be forgotten --------------------


def forgetting(listing: Listing) -> Mapping[str, Verb]:
    """Return the verb that forgets in several stores; no transaction spans them.

    Nothing is erased before it is known that the caller may erase all of it.
    """
    # Imported here: only forgetting needs these modules.
    from recollect.domain.document import is_document_id
    from recollect.domain.record import is_user_profile

    async def place(stores: Stores[Forgetting], caller: Caller, one: str) -> Forgetting:
        if is_document_id(one):
            return stores.common
        record = await listing.get(caller, one, even_deleted=True)
        caller.require_write(record.scope, is_profile=is_user_profile(record.category))
        return stores.holding(record.scope)

    async def parts(
        stores: Stores[Forgetting], caller: Caller, wish: ForgetRequest
    ) -> Sequence[tuple[Forgetting, ForgetRequest]]:
        if wish.user is not None:
            return [(store, wish) for store in stores.every()]
        if wish.everything:
            # Documents are in the common store, whoever's they are.
            own = stores.holding(caller.scope)
            return [(store, wish) for store in dict.fromkeys((own, stores.common))]
        if not wish.ids:
            return [(store, wish) for store, _ in split(caller.writable, stores.holding)]
        ids: dict[Forgetting, list[str]] = {}
        for one in wish.ids:
            ids.setdefault(await place(stores, caller, one), []).append(one)
        return [(store, replace(wish, ids=tuple(some))) for store, some in ids.items()]

    async def forget(
        stores: Stores[Forgetting], caller: Caller, wish: ForgetRequest, **options: Any
    ) -> Forgotten:
        done = [
            await store.forget(caller, part, **options)
            for store, part in await parts(stores, caller, wish)
        ]
        found = [result.verification for result in done]
        known = [verification for verification in found if verification is not None]
        # There is none while that of one store is missing.
        verification = added(known) if len(known) == len(found) else None
        return replace(added(done), verification=verification)

    return {"forget": forget}


# --- An export of several stores: one file, each store as it was at one moment --------------------


async def _read_transfer(
    stores: Stores[SqlTransfer], extent: Extent | None, take: Callable[[Snapshot], T]
) -> T:
    places = _places(stores, extent)
    loop = asyncio.get_running_loop()

    async def read(place: int, before: tuple[Snapshot, ...]) -> T:
        """Open the snapshots one within another, so that all are open at the innermost."""
        transfer, some = places[place]

        def further(snapshot: Snapshot) -> T:
            snapshots = (*before, snapshot)
            if len(snapshots) == len(places):
                return take(_together(stores, [transfer for transfer, _ in places], snapshots))
            return asyncio.run_coroutine_threadsafe(read(place + 1, snapshots), loop).result()

        return await transfer.read(some, further)

    return await read(0, ())


def _places(
    stores: Stores[SqlTransfer], extent: Extent | None
) -> Sequence[tuple[SqlTransfer, Extent | None]]:
    if extent is None:
        return [(transfer, None) for transfer in stores.every()]
    others = [
        (
            transfer,
            replace(
                extent,
                scopes=tuple(scope for scope in some if scope in extent.scopes),
                profiles=tuple(scope for scope in some if scope in extent.profiles),
            ),
        )
        for transfer, some in split([*extent.scopes, *extent.profiles], stores.holding)
        if transfer is not stores.common
    ]
    # Documents are in the common store, whoever's they are.
    return [(stores.common, extent), *others]


def _together(
    stores: Stores[SqlTransfer], transfers: Sequence[SqlTransfer], snapshots: Sequence[Snapshot]
) -> Snapshot:
    if len(snapshots) == 1:
        return snapshots[0]
    by_store = {
        id(transfer): snapshot for transfer, snapshot in zip(transfers, snapshots, strict=True)
    }

    def blob(owner: Archive | Document) -> Blob:
        return by_store[id(stores.holding(owner.scope))].blob(owner)

    return replace(
        snapshots[0],
        counts=added([snapshot.counts for snapshot in snapshots]),
        items=chain.from_iterable(snapshot.items for snapshot in snapshots),
        blob=blob,
    )


TRANSFER: Final[Mapping[str, Verb]] = {"read": _read_transfer}
