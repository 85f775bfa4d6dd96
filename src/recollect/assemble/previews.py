"""Previews of prompts: as memory is, as it was, or as it would be after changes nobody saved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Unpack, cast

from recollect.assemble.recall import prefetch_of, profiles_of, recaller_of
from recollect.assemble.several_stores import recalling
from recollect.assemble.sharing import parties_of
from recollect.domain.context import ContextFields
from recollect.domain.fields import checked_items
from recollect.domain.filters import Filter
from recollect.domain.meter import Meter
from recollect.domain.preview import ContextPreview, PromptItem, TriedChange
from recollect.domain.record import Status
from recollect.domain.scope import Caller, Role
from recollect.errors import InvalidInput
from recollect.recall.listing import Listing
from recollect.recall.tried import Tried, TriedStore, TriedUnits, TriedVectors
from recollect.records.versions import Versions
from recollect.writing.facets import Facets
from recollect.writing.saver import Saver

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring
    from recollect.domain.fields import Draft, RecordFields
    from recollect.ports.store import Store
    from recollect.recall.cache import CachedRecaller

_MAX_TRIED: Final = 50


class Previews:
    """Builds the block for a message without giving it to anybody."""

    def __init__(self, parts: Wiring) -> None:
        self._parts = parts

    async def preview(
        self,
        caller: Caller,
        message: str,
        changes: Iterable[TriedChange],
        **wanted: Unpack[ContextFields],
    ) -> ContextPreview:
        """Return what a prompt would be given; the changes are tried and nothing is stored."""
        wishes = list(checked_items(changes, "changes"))
        store, prefetch, tried = self._parts.store, self._parts.prefetch, Tried()
        if wishes:
            if wanted.get("as_of") is not None:
                raise InvalidInput(
                    "A change is tried on the present, not with as_of", code="cannot_combine"
                )
            store = TriedStore(self._parts.store, tried, self._parts.clock)
            await self._try(_trying(caller), wishes, store)
            prefetch = self._prefetch_over(store, tried)
        made = await prefetch.preview(caller, message, **wanted)
        items = await self._with_texts(caller, made.items, store)
        return replace(made, items=items, tried=tuple(tried.records))

    async def _try(self, caller: Caller, changes: list[TriedChange], store: Store) -> None:
        """Make the changes as if they were saved, in a store that writes nothing."""
        parts = self._parts
        if len(changes) > _MAX_TRIED:
            raise InvalidInput(f"At most {_MAX_TRIED} changes can be tried", code="too_many")
        listing = Listing(store, parts.clock)
        facets = Facets(parts.understanding.facets)
        saver = Saver(store, listing, parts.embedding, parts.clock, parts.redactor, facets=facets)
        versions = Versions(store, listing, saver, parties_of(parts.settings), parts.clock)
        for change in changes:
            fields = dict(change)
            known, gone = fields.pop("id", None), fields.pop("delete", False)
            if known is None:
                await saver.create(caller, [cast("Draft", fields)])
            elif gone:
                await versions.delete(caller, cast("str", known))
            else:
                content = cast("str | None", fields.pop("content", None))
                given = cast("RecordFields", fields)
                await saver.update(caller, cast("str", known), content, given)

    def _prefetch_over(self, store: Store, tried: Tried) -> Any:
        """Return the service that builds blocks, over what would be stored after the changes."""
        parts = self._parts

        @cache
        def recaller(here: Wiring) -> CachedRecaller:
            return recaller_of(
                here,
                TriedStore(here.here.store, tried, here.clock),
                TriedUnits(here.here.units, tried),
                TriedVectors(here.vectors, tried),
                Meter(),
            )

        verbs = recalling(parts.settings.recall.limit, parts.settings.recall.gap)
        routed = parts.router.route(parts, recaller, verbs)
        return prefetch_of(parts, routed, profiles_of(parts, store), Meter())

    async def _with_texts(
        self, caller: Caller, items: tuple[PromptItem, ...], store: Store
    ) -> tuple[PromptItem, ...]:
        """Return the items with the words of those that were found but not loaded."""
        missing = [it.id for it in items if not it.text]
        if not missing:
            return items
        any_status = Filter(statuses=frozenset(Status))
        now = self._parts.clock.now()
        records = await store.records(caller.readable, any_status, now=now, ids=missing)
        turns = await store.turns(caller.readable, Filter(), ids=missing)
        known = {
            **{
                record.id: (record.kind.value, record.content, record.version) for record in records
            },
            **{turn.id: ("turn", turn.content, None) for turn in turns},
        }
        return tuple(
            replace(it, kind=known[it.id][0], text=known[it.id][1], version=known[it.id][2])
            if it.id in known
            else it
            for it in items
            if it.text or it.id in known
        )


def _trying(caller: Caller) -> Caller:
    """Return the caller as one that may write to its own scopes, for a store that writes nothing.

    Whoever may only read may see what a change would do; no other scopes are reached.
    """
    return caller if caller.role.includes(Role.WRITER) else replace(caller, role=Role.WRITER)
