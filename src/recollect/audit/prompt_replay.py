"""Run the recall of a past prompt again and compare the results."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from recollect.audit.contents import ANY_STATUS, Contents, Item
from recollect.domain.audit import INJECT
from recollect.domain.filters import Filter
from recollect.domain.hit import Hit, Recalled
from recollect.domain.injection import Fate, GivenItem, Injection, Replay, ReplayedItem
from recollect.domain.record import Record, Status
from recollect.domain.scope import Caller, Holding, Scope, split
from recollect.domain.unit import ARCHIVE
from recollect.errors import NotFound
from recollect.recall.cache import CachedRecaller
from recollect.recall.message_recall import recall_for_message
from recollect.recall.profile import ProfileReader

if TYPE_CHECKING:
    from recollect.audit.rows import SqlAudit
    from recollect.domain.archive import Archive
    from recollect.domain.document import Document

_DOCUMENT: Final = "document"
_OTHERS: Final = (_DOCUMENT, ARCHIVE)
_FATES: Final[Mapping[Status, Fate]] = {
    Status.DELETED: "deleted",
    Status.EXPIRED: "expired",
    Status.SUPERSEDED: "superseded",
    Status.QUARANTINED: "quarantined",
}


@dataclass(eq=False)
class Replayer:
    """Finds a recall in the audit log and repeats it within what the caller may read."""

    _audit: Holding[SqlAudit]
    _recaller: CachedRecaller
    _profiles: ProfileReader
    _contents: Contents
    _collections: Callable[[Caller], Awaitable[Sequence[Scope]]]

    async def replay(self, caller: Caller, recall_id: str) -> Replay:
        """Return what was given then beside what the same query returns now."""
        past = await self._find(caller, recall_id)
        scopes = tuple(scope for scope in past.scopes if caller.may_read(scope))
        given = {item.id for item in past.items}
        named = given | {line.id for line in past.profile}
        then = await self._contents.items(scopes, replace(ANY_STATUS, as_of=past.at), named)
        stored = await self._contents.items(scopes, ANY_STATUS, named)
        others = await self._others(caller, past, scopes)
        known_then = replace(past.where, as_of=past.where.as_of or past.at)
        again = {hit.id: hit.score for hit in await self._recall(past, scopes, known_then)}
        now = await self._recall(past, scopes, past.where)
        standing = {line.id for line in (await self._profiles.read(caller)).lines}
        found = {hit.id: hit.score for hit in now}
        left_out = {item.id for item in past.left_out}
        items = [
            _of_another(item, others.get(item.id), past)
            if item.kind in _OTHERS
            else ReplayedItem(
                id=item.id,
                kind=item.kind,
                fate=_fate(item, stored.get(item.id), is_found=item.id in found),
                version=item.version,
                version_now=_version(stored.get(item.id)),
                score=item.score,
                score_then=again.get(item.id),
                score_now=found.get(item.id),
                content=_content(then.get(item.id)),
            )
            for item in past.items
        ]
        items += [
            _new(hit, again.get(hit.id))
            for hit in now
            if hit.id not in given and hit.id not in left_out
        ]
        return Replay(
            recall_id=recall_id,
            at=past.at,
            actor=past.actor,
            scope=past.scope,
            question=past.question,
            form=past.form,
            session=past.session,
            run=past.run,
            items=tuple(items),
            profile=tuple(
                ReplayedItem(
                    id=line.id,
                    kind=line.kind,
                    fate=_fate(line, stored.get(line.id), is_found=line.id in standing),
                    version=line.version,
                    version_now=_version(stored.get(line.id)),
                    score=None,
                    score_then=None,
                    score_now=None,
                    content=_content(then.get(line.id)),
                )
                for line in past.profile
            ),
            degraded=now.degraded,
        )

    async def _find(self, caller: Caller, recall_id: str) -> Injection:
        found = [
            entry
            for log, some in split(caller.readable, self._audit)
            for entry in await log.entries(some, action=INJECT, target=recall_id, limit=1)
        ]
        if not found:
            raise NotFound(
                f"No recall {recall_id!r} gave anything to a prompt of {caller.scope.key}",
                code="unknown_recall",
                hint="It is stored a moment after the prompt is made, if it gave something.",
            )
        if found[0].is_erased:
            raise NotFound(
                f"What {recall_id} returned was erased with the person it was about",
                code="erased",
                hint="The audit log still shows when it happened.",
            )
        return Injection.from_entry(found[0])

    async def _recall(self, past: Injection, scopes: tuple[Scope, ...], where: Filter) -> Recalled:
        if not past.question.strip():
            return Recalled(hits=())  # only the profile was given
        return await recall_for_message(
            self._recaller,
            past.question,
            scopes,
            where,
            limit=past.limit,
            clause_hits=past.clause_hits,
            min_score=past.min_score,
            asked_at=past.asked_at or past.at,
        )

    async def _others(
        self, caller: Caller, past: Injection, scopes: Sequence[Scope]
    ) -> Mapping[str, Document | Archive]:
        """Return the documents and archives that were given, as far as they are still there."""
        ids = {kind: [it.id for it in past.items if it.kind == kind] for kind in _OTHERS}
        if not any(ids.values()):
            return {}
        collections = await self._collections(caller)
        return {
            **await self._contents.documents(collections, ids[_DOCUMENT]),
            **await self._contents.archives(scopes, ids[ARCHIVE]),
        }


def _of_another(
    given: GivenItem, stored: Document | Archive | None, past: Injection
) -> ReplayedItem:
    """Return a document or an archive that was given; neither is searched again."""
    changed_at = getattr(stored, "updated_at", past.at)
    fate: Fate = "forgotten" if stored is None else "changed" if changed_at > past.at else "same"
    name = getattr(stored, "title", "") or getattr(stored, "tool", "")
    return ReplayedItem(
        id=given.id,
        kind=given.kind,
        fate=fate,
        version=None,
        version_now=None,
        score=given.score,
        score_then=given.score,
        score_now=None,
        content=name,
    )


def _fate(given: GivenItem, stored: Item | None, *, is_found: bool) -> Fate:
    if stored is None:
        return "forgotten"
    if isinstance(stored, Record):
        if stored.status is not Status.ACTIVE:
            return _FATES[stored.status]
        if stored.version != given.version:
            return "changed"
    return "same" if is_found else "not_recalled"


def _new(hit: Hit, score_then: float | None) -> ReplayedItem:
    given = GivenItem.of(hit)
    return ReplayedItem(
        id=hit.id,
        kind=given.kind,
        fate="new",
        version=None,
        version_now=given.version,
        score=None,
        score_then=score_then,
        score_now=hit.score,
        content=hit.content,
    )


def _version(item: Item | None) -> int | None:
    return item.version if isinstance(item, Record) else None


def _content(item: Item | None) -> str:
    return "" if item is None else item.content
