"""What audit entries and replays are about: records, turns, documents and archives, by id."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from recollect.domain.audit import INJECT, AuditEntry
from recollect.domain.filters import Filter
from recollect.domain.record import Record, Status
from recollect.domain.turn import Turn
from recollect.ports.runtime import Clock
from recollect.ports.store import Store

if TYPE_CHECKING:
    from recollect.backends.sql.archives import SqlArchives
    from recollect.domain.archive import Archive
    from recollect.domain.document import Document
    from recollect.domain.scope import Scope
    from recollect.domain.sharing import Proposal
    from recollect.knowledge.rows import SqlDocuments
    from recollect.sharing.rows import SqlProposals

Item = Record | Turn

ANY_STATUS: Final = Filter(statuses=frozenset(Status))
_MAX_TITLE: Final = 160
_RECORD_IDS: Final = ("mem_", "ep_", "proc_")


@dataclass(eq=False)
class Contents:
    """Looks up what is stored under an id, whatever its status, within given scopes."""

    _store: Store
    _archives: SqlArchives
    _documents: Callable[[], SqlDocuments]
    _proposals: Callable[[], SqlProposals]
    _clock: Clock

    async def items(
        self, scopes: Sequence[Scope], where: Filter, ids: Collection[str]
    ) -> dict[str, Item]:
        """Return records and turns by id."""
        wanted = list(ids)
        records = await self._store.records(scopes, where, now=self._clock.now(), ids=wanted)
        turns = await self._store.turns(scopes, where, ids=wanted)
        return {item.id: item for item in (*records, *turns)}

    async def documents(self, scopes: Sequence[Scope], ids: Collection[str]) -> dict[str, Document]:
        """Return documents by id; the scopes are those of collections."""
        if not (scopes and ids):
            return {}
        return {it.id: it for it in await self._documents().find(scopes, ids=list(ids))}

    async def archives(self, scopes: Sequence[Scope], ids: Collection[str]) -> dict[str, Archive]:
        """Return archives by id."""
        return {it.id: it for it in await self._archives.find(scopes, ids=list(ids))} if ids else {}

    async def titled(self, entries: Iterable[AuditEntry]) -> tuple[AuditEntry, ...]:
        """Return entries with what their targets are called now, as far as they are there.

        A target is looked up only in the scope of its entry.
        """
        listed = tuple(entries)
        scopes = list(dict.fromkeys(entry.scope for entry in listed))
        targets = {entry.target for entry in listed if not entry.is_erased}
        titles = await self._titles(scopes, targets)
        return tuple(_titled(entry, titles) for entry in listed)

    async def _titles(
        self, scopes: Sequence[Scope], ids: Collection[str]
    ) -> Mapping[tuple[Scope, str], str]:
        of = {prefix: [it for it in ids if it.startswith(prefix)] for prefix in _PREFIXES}
        records = [it for prefix in _RECORD_IDS for it in of[prefix]]
        found: list[Item | Document | Archive | Proposal] = []
        if records:
            now = self._clock.now()
            found += await self._store.records(scopes, ANY_STATUS, now=now, ids=records)
        if of["turn_"]:
            found += await self._store.turns(scopes, ANY_STATUS, ids=of["turn_"])
        collections = [scope for scope in scopes if scope.is_collection]
        found += (await self.documents(collections, of["doc_"])).values()
        found += (await self.archives(scopes, of["arc_"])).values()
        if of["prop_"]:
            found += await self._proposals().find(
                scopes, now=self._clock.now(), ids=of["prop_"], by=None
            )
        return {(item.scope, item.id): _title_of(item) for item in found}


_PREFIXES: Final = (*_RECORD_IDS, "turn_", "doc_", "arc_", "prop_")


def _title_of(item: Item | Document | Archive | Proposal) -> str:
    title = getattr(item, "title", "") or getattr(item, "content", "") or getattr(item, "tool", "")
    return clipped(title)


def clipped(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[: 4 * _MAX_TITLE].split())
    return line if len(line) <= _MAX_TITLE else f"{line[: _MAX_TITLE - 1]}…"


def _titled(entry: AuditEntry, titles: Mapping[tuple[Scope, str], str]) -> AuditEntry:
    if entry.action == INJECT:
        question = entry.payload.get("question", "")
        return replace(entry, title=clipped(question) if isinstance(question, str) else "")
    title = titles.get((entry.scope, entry.target), "")
    return replace(entry, title=title) if title else entry
