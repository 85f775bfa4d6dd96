"""Moving in from another memory: what was found there becomes records, turns and items here.

A record gets its id from what it is called there and from whom it belongs to here. Importing it
again meets the one that is stored: nothing is added twice, a record that was changed or deleted
here stays so, and what was forgotten stays forgotten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

from recollect.domain.fields import new_record
from recollect.domain.ids import derived_id
from recollect.domain.item import StoredItem, checked_namespace, texts_in
from recollect.domain.job import Progress
from recollect.domain.record import Record, Version
from recollect.domain.scope import Caller, Scope
from recollect.domain.transfer import ORIGINS, Counted, MovedIn, NotMoved, Origin, RecordHistory
from recollect.errors import InvalidInput, RecollectError
from recollect.ports.runtime import Clock
from recollect.ports.transfer import Outcome
from recollect.transfer.chat_import import ChatFile, ChatImporter, ChatMessage
from recollect.transfer.foreign.found import Found, FoundItem, FoundMemory, Owner
from recollect.transfer.foreign.sources import is_address, is_database, local_source
from recollect.transfer.importer import Importer
from recollect.transfer.unpacking import in_thread

T = TypeVar("T")

_NONE: Final = Counted()

_BATCH: Final = 500
_CHATS: Final = ("chatgpt", "claude")
_STORES: Final = ("langmem", "langgraph")
# An item is found by the beginning of what it says.
_MAX_TEXT: Final = 4_000
_STEP: Final = timedelta(microseconds=1)
_REASONS: Final = {
    Outcome.FORGOTTEN: "memories that were forgotten here, and stay forgotten",
    Outcome.ID_TAKEN: "memories that changed there since they were imported; the one here is kept",
    Outcome.PLACE_TAKEN: "items whose place is taken here; the one here is kept",
}


Destination = tuple[Importer, ChatImporter]
"""What writes to the store that holds a scope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What a source holds, by owner."""

    found: Found
    chats: Sequence[tuple[Owner, ChatFile]]


def checked_origin(origin: str) -> Origin:
    """Return the origin if there is one of this name."""
    for known in ORIGINS:
        if known == origin:
            return known
    raise InvalidInput(
        f"{origin!r} is not a memory that can be moved in",
        code="unknown_value",
        hint=f"One of: {', '.join(ORIGINS)}.",
    )


def read_source(
    origin: Origin, source: str | Path | BinaryIO, namespace: str | None = None
) -> Read:
    """Read all of a source, before anything is written."""
    if namespace is not None and origin != "langmem":
        raise InvalidInput("A namespace is given for langmem only", code="bad_usage")
    found = Found()
    if is_database(source) and origin in _STORES:
        found = _read_store(origin, str(source), namespace)
    elif is_address(source) and origin == "mem0" and not str(source).endswith(".json"):
        from recollect.transfer.foreign.mem0 import read_mem0_server

        found = read_mem0_server(str(source))
    else:
        with local_source(source, unpack=origin not in _CHATS) as path:
            if origin in _CHATS:
                from recollect.transfer.foreign.chats import read_chat_export

                chats = read_chat_export(path, found)
                return Read(found=found, chats=[(Owner(), chat) for chat in chats])
            found = _read_path(origin, path, namespace)
    return Read(found=found, chats=_chats_of(found))


def _read_path(origin: Origin, path: Path, namespace: str | None) -> Found:
    match origin:
        case "mem0":
            from recollect.transfer.foreign.mem0 import read_mem0

            return read_mem0(path)
        case "letta":
            from recollect.transfer.foreign.letta import read_letta

            return read_letta(path)
        case "zep":
            from recollect.transfer.foreign.zep import read_zep

            return read_zep(path)
        case _:
            return _read_store(origin, path, namespace)


def _read_store(origin: Origin, source: Path | str, namespace: str | None) -> Found:
    from recollect.transfer.foreign.langgraph import read_items, read_langmem

    return read_items(source) if origin == "langgraph" else read_langmem(source, namespace)


def _chats_of(found: Found) -> list[tuple[Owner, ChatFile]]:
    by_owner: dict[Owner, list[ChatMessage]] = {}
    for place, message in enumerate(found.messages, start=1):
        by_owner.setdefault(message.owner, []).append(
            ChatMessage(
                place=place,
                session=message.session,
                id=message.id,
                message=message.message,
                at=message.at,
            )
        )
    return [
        (owner, ChatFile(messages=messages, unreadable=(), empty=0))
        for owner, messages in by_owner.items()
    ]


@dataclass(slots=True, kw_only=True)
class _Tally:
    """What was added so far, and why the rest was not."""

    left_out: dict[str, list[str]]
    owners: Counter[str] = field(default_factory=Counter[str])
    records: Counted = _NONE
    messages: Counted = _NONE
    items: Counted = _NONE
    conversations: int = 0
    done: int = 0

    def leave_out(self, reason: str, example: str) -> None:
        self.left_out.setdefault(reason, []).append(example)


class Migration:
    """Writes what was read to the scopes it belongs to, in batches that are durable one by one."""

    def __init__(self, holding: Callable[[Scope], Destination], clock: Clock) -> None:
        self._holding = holding
        self._clock = clock

    async def move_in(
        self,
        caller: Caller,
        origin: str,
        source: str | Path | BinaryIO,
        *,
        namespace: str | None = None,
        all_scopes: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> MovedIn:
        """Import what a source holds, or with `dry_run` only count it.

        What belongs to other users or agents than the caller is left out, unless `all_scopes`.
        """
        known = checked_origin(origin)
        read = await in_thread(lambda: read_source(known, source, namespace))
        tally = _Tally(left_out=read.found.left_out)
        total = (
            len(read.found.memories)
            + len(read.found.items)
            + sum(len(chat.messages) for _, chat in read.chats)
        )

        def step(count: int) -> None:
            tally.done += count
            if progress is not None:
                progress(tally.done, total)

        whose = _Whose(caller, tally, all_scopes=all_scopes)
        await self._add_memories(known, read.found.memories, whose, step, dry_run=dry_run)
        await self._add_items(known, read.found.items, whose, step, dry_run=dry_run)
        for owner, chat in read.chats:
            scope = whose.scope(owner, len(chat.messages))
            if scope is not None:
                await self._add_chat(caller, scope, chat, tally, dry_run=dry_run)
            step(len(chat.messages))
        return MovedIn(
            origin=known,
            dry_run=dry_run,
            records=tally.records,
            messages=tally.messages,
            items=tally.items,
            conversations=tally.conversations,
            owners=dict(sorted(tally.owners.items())),
            left_out=tuple(
                NotMoved(reason=reason, count=len(examples), example=examples[0])
                for reason, examples in sorted(
                    tally.left_out.items(), key=lambda it: (-len(it[1]), it[0])
                )
            ),
        )

    async def _add_memories(
        self,
        origin: Origin,
        memories: Sequence[FoundMemory],
        whose: _Whose,
        step: Callable[[int], None],
        *,
        dry_run: bool,
    ) -> None:
        now = self._clock.now()
        for batch in _batches(memories):
            made: dict[Scope, list[tuple[FoundMemory, RecordHistory]]] = {}
            for memory in batch:
                scope = whose.scope(memory.owner)
                if scope is None:
                    continue
                try:
                    history = history_of(origin, memory, scope, now)
                    made.setdefault(scope, []).append((memory, history))
                except InvalidInput as problem:
                    reason = f"memories that cannot be stored: {problem.message}"
                    whose.tally.leave_out(reason, _shown(memory.key))
            for scope, pairs in made.items():
                histories = [history for _, history in pairs]
                importer, _ = self._holding(scope)
                outcomes = await importer.add_items(histories, dry_run=dry_run)
                for (memory, _), outcome in zip(pairs, outcomes, strict=True):
                    # Without a time its text is part of the id, so it is the same memory.
                    is_same = outcome is Outcome.ID_TAKEN and memory.said[-1].at is None
                    met = Outcome.UNCHANGED if is_same else outcome
                    whose.tally.records += _counted(met, _shown(memory.key), whose.tally)
            step(len(batch))

    async def _add_items(
        self,
        origin: Origin,
        items: Sequence[FoundItem],
        whose: _Whose,
        step: Callable[[int], None],
        *,
        dry_run: bool,
    ) -> None:
        for batch in _batches(items):
            made: list[StoredItem] = []
            for item in batch:
                scope = whose.scope(Owner())
                try:
                    if scope is not None:
                        made.append(_stored_item(origin, item, scope))
                except InvalidInput as problem:
                    reason = f"items that cannot be stored: {problem.message}"
                    whose.tally.leave_out(reason, item.key)
            if made:
                importer, _ = self._holding(made[0].scope)
                outcomes = await importer.add_items(made, dry_run=dry_run)
                for item, outcome in zip(made, outcomes, strict=True):
                    whose.tally.items += _counted(outcome, item.key, whose.tally)
            step(len(batch))

    async def _add_chat(
        self, caller: Caller, scope: Scope, chat: ChatFile, tally: _Tally, *, dry_run: bool
    ) -> None:
        theirs = caller if scope == caller.scope else replace(caller, scope=scope, children=())
        _, importer = self._holding(scope)
        done = await importer.add(theirs, chat, skip_bad=True, dry_run=dry_run)
        tally.messages += Counted(added=done.added, known=done.known)
        tally.conversations += done.conversations
        for _ in range(done.empty):
            tally.leave_out("messages without words: tool calls, pictures, hidden ones", "")
        for problem in done.problems:
            tally.leave_out(f"messages that cannot be stored: {problem.message}", str(problem.line))


class _Whose:
    """Decides to which scope something goes, and whether this caller may import it."""

    def __init__(self, caller: Caller, tally: _Tally, *, all_scopes: bool) -> None:
        self._here = caller.scope
        self._all = all_scopes
        self.tally = tally

    def scope(self, owner: Owner, count: int = 1) -> Scope | None:
        """Return the scope of an owner; what is not said is the caller's own."""
        try:
            scope = replace(
                self._here,
                agent=owner.agent or self._here.agent,
                user=owner.user or self._here.user,
            )
            if scope.is_reserved:
                raise InvalidInput("the name of its agent is reserved", code="bad_scope")
        except InvalidInput as problem:
            for _ in range(count):
                self.tally.leave_out(problem.message, f"{owner.agent or '-'}/{owner.user or '-'}")
            return None
        name = f"{scope.agent or '-'}/{scope.user or '-'}"
        self.tally.owners[name] += count
        if self._all or scope == self._here:
            return scope
        for _ in range(count):
            self.tally.leave_out(
                "what belongs to other users or agents: import as they (--user, --agent), or as an"
                " operator with --all-scopes",
                name,
            )
        return None


def history_of(origin: Origin, memory: FoundMemory, scope: Scope, now: datetime) -> RecordHistory:
    """Return a memory as a record with its versions; the last thing it said is the current one."""
    is_dated = memory.said[-1].at is not None
    key = memory.key if is_dated else f"{memory.key}\x1f{memory.said[-1].content}"
    fields = memory.fields.copy()
    fields["metadata"] = {
        **fields.get("metadata", {}),
        "imported_from": origin,
        "imported_id": _shown(memory.key),
    }
    fields.setdefault("source", f"import:{origin}")
    first = memory.said[0].at or fields.get("created_at") or now
    fields.setdefault("created_at", first)
    records: list[Record] = []
    for said in memory.said:
        record = new_record(said.content, fields, scope, now)
        at = said.at or first
        if records:
            # Each is recorded after the one before it, as the history of a record is told.
            at = max(at, records[-1].recorded_at + _STEP)
        records.append(
            record.evolve(
                id=derived_id("mem", origin, key, scope.key),
                version=len(records) + 1,
                recorded_at=at,
                updated_at=at,
            )
        )
    later = [record.recorded_at for record in records[1:]]
    return RecordHistory(
        versions=tuple(
            Version(record=record, changed_by="import", reason=f"from {origin}", replaced_at=until)
            for record, until in zip(records, [*later, None], strict=True)
        )
    )


def _stored_item(origin: Origin, item: FoundItem, scope: Scope) -> StoredItem:
    name = "\x1f".join((*item.namespace, item.key))
    return StoredItem(
        id=derived_id("item", origin, name, scope.key),
        scope=scope,
        namespace=checked_namespace(list(item.namespace)),
        key=item.key,
        value=dict(item.value),
        created_at=item.created_at,
        updated_at=item.updated_at,
        expires_at=item.expires_at,
        texts=tuple(text for text in ["\n".join(texts_in(item.value))[:_MAX_TEXT]] if text.strip()),
    )


def _shown(key: str) -> str:
    return key.replace("\x1f", "/")[:255]


def _counted(outcome: Outcome | RecollectError, name: str, tally: _Tally) -> Counted:
    match outcome:
        case Outcome.ADDED:
            return Counted(added=1)
        case Outcome.UNCHANGED:
            return Counted(known=1)
        case Outcome():
            tally.leave_out(_REASONS.get(outcome, outcome.name.lower()), name)
        case problem:
            tally.leave_out(problem.code.replace("_", " "), name)
    return _NONE


def _batches(values: Sequence[T]) -> Iterable[Sequence[T]]:
    return (values[at : at + _BATCH] for at in range(0, len(values), _BATCH))
