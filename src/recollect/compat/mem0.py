"""mem0's `Memory` and `AsyncMemory` on Recollect: the same calls, the same results.

    from recollect.compat.mem0 import Memory

`user_id` and `agent_id` are the user and the agent of a scope, `run_id` is the session. A call with
a `user_id` and no `agent_id` reaches what any agent keeps about that user, as with mem0; a call
without a `user_id` never reaches what belongs to one. With `infer=True` Recollect's own extraction
reads the messages, with a language model only if the settings name one.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from hashlib import md5
from pathlib import Path
from typing import Any, Final, Self, TypeAlias, TypeVar, cast

from recollect.compat.mem0_filters import matches
from recollect.domain.fields import Draft, RecordFields
from recollect.domain.ids import new_id
from recollect.domain.page import Page
from recollect.domain.record import Kind, Record, Status
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput, NotFound
from recollect.memory import Memory as RecollectMemory
from recollect.settings import Settings
from recollect.sync.loop import Loop
from recollect.sync.twin import Twin, blocking

__all__ = ["AsyncMemory", "InvalidArgument", "Memory"]

T = TypeVar("T")
Json: TypeAlias = dict[str, Any]
Messages: TypeAlias = "str | Mapping[str, Any] | Sequence[Mapping[str, Any]]"

_logger = logging.getLogger(__name__)

_IDS: Final = ("user_id", "agent_id", "run_id")
_PROMOTED: Final = (*_IDS, "actor_id", "role", "attributed_to", "expiration_date")
_DAY: Final = timedelta(days=1)
_PAGE: Final = 500
_POOL: Final = 100
# mem0's default, under which it shows all that is near at all.
_THRESHOLD: Final = 0.1
_UNSET: Final = object()
# What a written claim is called in mem0; other outcomes leave its list of memories as it was.
_EVENTS: Final = {"created": "ADD", "versioned": "UPDATE", "deleted": "DELETE"}
_METADATA_ONLY: Final = "mem0: metadata of the conversation"


class InvalidArgument(InvalidInput, ValueError):
    """An argument that mem0 refuses too, with a `ValueError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ids:
    """The ids of a call, trimmed."""

    user: str | None
    agent: str | None
    run: str | None

    @property
    def any(self) -> bool:
        return any((self.user, self.agent, self.run))

    def own(self, record: Record) -> bool:
        """Return whether a record is what these ids name, not what others share with them."""
        scope = record.scope
        is_agents = scope.agent == self.agent or (self.agent is None and self.user is not None)
        return scope.user == self.user and is_agents and not scope.is_reserved


class AsyncMemory:
    """mem0's `AsyncMemory` on Recollect; it opens its database with the first call.

    `config` is mem0's configuration. Recollect has settings of its own for models and stores, so
    only its key `recollect` is used: `{"recollect": {"path": "memory.db"}}` names a database, a
    data folder or a server; without it the place is that of `recollect where`.
    """

    def __init__(self, config: object = None) -> None:
        self.config = _as_mapping(config)
        own = _as_mapping(self.config.get("recollect"))
        self._where: Any = own.get("path")
        self._key: str | None = own.get("key")
        ignored = [name for name in self.config if name not in ("recollect", "version")]
        if ignored:
            _logger.info("Recollect's settings replace %s of mem0's", ", ".join(sorted(ignored)))
        self._opened: RecollectMemory | None = None
        # Where a record was last seen, so that a call by id need not look into every scope.
        self._seen: dict[str, tuple[str | None, str | None]] = {}

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Return a memory of mem0's configuration as a dictionary."""
        return cls(config_dict)

    async def add(
        self,
        messages: Messages,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: object = None,
        expiration_date: object = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> Json:
        """Remember messages: what they say with `infer`, or the messages themselves."""
        if timestamp is not None:
            raise InvalidArgument("timestamp is not supported by mem0's open source either")
        ids = _ids(user_id, agent_id, run_id)
        if not ids.any:
            raise InvalidArgument(
                "At least one of 'user_id', 'agent_id', or 'run_id' must be provided."
            )
        if memory_type not in (None, "procedural_memory"):
            raise InvalidArgument("memory_type must be 'procedural_memory' or left out")
        said = _messages(messages)
        fields = _fields(metadata, expiration_date)
        scope = await self._scope(ids)
        if not infer or memory_type is not None:
            return {"results": await self._keep(scope, ids, said, fields, memory_type)}
        return {"results": await self._infer(scope, ids, said, fields)}

    async def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: object = None,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> Json:
        """Return the memories that answer a query, best first."""
        if reference_date is not None:
            raise InvalidArgument("reference_date is not supported by mem0's open source either")
        _refuse_ids(kwargs, "search")
        _require_count(top_k)
        if isinstance(threshold, bool) or not 0 <= (threshold or 0) <= 1:
            raise InvalidArgument(f"Invalid threshold: {threshold}. Must be between 0 and 1.")
        if not isinstance(query, str) or not query.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidArgument("Invalid query: cannot be empty or whitespace-only.")
        ids, conditions = _split(filters)
        if top_k == 0:
            return {"results": []}
        caller = await self._scope(ids, with_agents=True)
        recalled = await caller.recall(
            query,
            limit=max(top_k, _POOL) if conditions or ids.agent else top_k,
            min_score=0 if threshold <= _THRESHOLD else threshold,
            kind=list(Kind),
            status=_statuses(show_expired=show_expired),
            session=ids.run,
        )
        results: list[Json] = []
        for hit in recalled.hits:
            record = hit.item
            if not isinstance(record, Record) or not ids.own(record):
                continue
            if matches(_payload(record), conditions):
                self._see(record)
                found = _result(record, score=hit.score)
                if explain:
                    found["score_details"] = {
                        "score": hit.score,
                        "relevance": hit.explanation.relevance,
                    }
                results.append(found)
        return {"results": results[:top_k]}

    async def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> Json:
        """Return the memories that the filters name, latest first."""
        _refuse_ids(kwargs, "get_all")
        _require_count(top_k)
        ids, conditions = _split(filters)
        caller = await self._scope(ids, with_agents=True)
        results: list[Json] = []
        async for record in _records(caller, ids, show_expired=show_expired):
            if len(results) == top_k:
                break
            if matches(_payload(record), conditions):
                self._see(record)
                results.append(_result(record, without=("score",)))
        return {"results": results}

    async def get(self, memory_id: str) -> Json | None:
        """Return a memory, or None if there is none."""
        try:
            _, record = await self._find(memory_id)
        except NotFound:
            return None
        return _result(record)

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: object = _UNSET,
        data: str | None = None,
    ) -> Json:
        """Change a memory; what it said before stays in its history."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is _UNSET:
            raise InvalidArgument(
                "At least one of text, metadata, or expiration_date must be provided."
            )
        memory, record = await self._found(memory_id)
        fields = RecordFields()
        if metadata is not None:
            fields["metadata"] = {**record.metadata, **_without_ids(metadata)}
        if expiration_date is not _UNSET:
            fields["expires_at"] = _end_of(expiration_date)
        await memory.update(record.id, text, reason="mem0: update", **fields)
        return {"message": "Memory updated successfully!"}

    async def delete(self, memory_id: str) -> Json:
        """Delete a memory; `undo` of Recollect brings it back."""
        memory, record = await self._found(memory_id)
        await memory.delete(record.id, reason="mem0: delete")
        return {"message": "Memory deleted successfully!"}

    async def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> Json:
        """Delete every memory of a user, an agent or a run."""
        ids = _ids(user_id, agent_id, run_id)
        if not ids.any:
            raise InvalidArgument(
                "At least one filter is required to delete all memories. If you want to delete all"
                " memories, use the `reset()` method."
            )
        for memory in await self._scopes_of(ids):
            while found := [
                it async for it in _records(memory, ids, show_expired=True, limit=_PAGE)
            ]:
                for record in found:
                    await memory.delete(record.id, reason="mem0: delete_all")
        return {"message": "Memories deleted successfully!"}

    async def history(self, memory_id: str) -> list[Json]:
        """Return the changes of a memory, oldest first."""
        try:
            memory, _ = await self._find(memory_id, even_deleted=True)
        except NotFound:
            return []
        return _events(await memory.history(memory_id))

    async def reset(self) -> None:
        """Forget everything in the workspace, without a trace."""
        root = await self._root()
        _logger.warning("Forgetting all memories of the workspace %s", root.caller_scope.workspace)
        async for memory in _every_scope(root):
            await memory.forget(everything=True, all_agents=True)
        self._seen.clear()

    async def close(self) -> None:
        """Close the database."""
        if self._opened is not None:
            await self._opened.close()
            self._opened = None

    async def chat(self, query: str) -> None:
        raise NotImplementedError("Chat function not implemented yet.")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _root(self) -> RecollectMemory:
        if self._opened is None:
            where: str | Path | Settings | None = self._where
            self._opened = await RecollectMemory.open(where, key=self._key)
        return self._opened.scope(agent=None, user=None)

    async def _scope(self, ids: _Ids, *, with_agents: bool = False) -> RecollectMemory:
        """Return the memory of these ids; `with_agents` reads what any agent keeps of the user."""
        root = await self._root()
        agents: list[str] = []
        if with_agents and ids.user is not None and ids.agent is None:
            agents = [it async for it in _agents_of(root, ids.user)]
        return root.scope(agent=ids.agent, user=ids.user, children=agents)

    async def _scopes_of(self, ids: _Ids) -> list[RecollectMemory]:
        root = await self._root()
        scopes = [root.scope(agent=ids.agent, user=ids.user)]
        if ids.user is not None and ids.agent is None:
            agents = [it async for it in _agents_of(root, ids.user)]
            scopes += [root.scope(agent=agent, user=ids.user) for agent in agents]
        return scopes

    async def _keep(
        self,
        memory: RecollectMemory,
        ids: _Ids,
        said: Sequence[Mapping[str, Any]],
        fields: RecordFields,
        memory_type: str | None,
    ) -> list[Json]:
        drafts: list[Draft] = []
        given = fields.get("metadata", {})
        for message in said:
            role, content, actor = message.get("role"), message.get("content"), message.get("name")
            if role is None or content is None or role == "system":
                continue
            metadata = {**given, "role": role, **({"actor_id": actor} if actor else {})}
            if memory_type is not None:
                metadata["memory_type"] = memory_type
            draft = Draft(content=_text(content), session=ids.run, metadata=metadata)
            if "expires_at" in fields:
                draft["expires_at"] = fields["expires_at"]
            drafts.append(draft)
        if not drafts:
            return []
        records = await memory.remember_many(drafts, reason="mem0: add")
        for record in records:
            self._see(record)
        return [
            {
                "id": record.id,
                "memory": record.content,
                "event": "ADD",
                "actor_id": record.metadata.get("actor_id"),
                "role": record.metadata["role"],
            }
            for record in records
        ]

    async def _infer(
        self,
        memory: RecollectMemory,
        ids: _Ids,
        said: Sequence[Mapping[str, Any]],
        fields: RecordFields,
    ) -> list[Json]:
        session = ids.run or new_id("sess")
        turns = [
            {"role": it["role"], "content": _text(it["content"]), "name": it.get("name")}
            for it in said
            if it.get("role") in ("user", "assistant") and it.get("content")
        ]
        if not turns:
            return []
        await memory.observe(turns, session=session)
        results: list[Json] = []
        for written in await memory.extract(session):
            event = _EVENTS.get(written.status)
            if written.record is None or event is None:
                continue
            record = written.record
            if event == "ADD" and fields:
                given = {**record.metadata, **fields.get("metadata", {})}
                record = await memory.update(
                    record.id, reason=_METADATA_ONLY, **{**fields, "metadata": given}
                )
            self._see(record)
            results.append({"id": record.id, "memory": record.content, "event": event})
        return results

    def _see(self, record: Record) -> None:
        self._seen[record.id] = record.scope.agent, record.scope.user

    async def _found(self, memory_id: str) -> tuple[RecollectMemory, Record]:
        try:
            return await self._find(memory_id)
        except NotFound:
            raise InvalidArgument(
                f"Memory with id {memory_id} not found", code="not_found"
            ) from None

    async def _find(
        self, memory_id: str, *, even_deleted: bool = False
    ) -> tuple[RecollectMemory, Record]:
        """Return a record by its id, which says nothing about its scope."""
        root = await self._root()
        if memory_id in self._seen:
            agent, user = self._seen[memory_id]
            memory = root.scope(agent=agent, user=user)
            return memory, await _record(memory, memory_id, even_deleted=even_deleted)
        async for memory in _every_scope(root):
            try:
                record = await _record(memory, memory_id, even_deleted=even_deleted)
            except NotFound:
                continue
            if record.scope == memory.caller_scope:
                self._see(record)
                return memory, record
        raise NotFound(f"There is no memory {memory_id}")


class Memory(Twin[AsyncMemory]):
    """mem0's `Memory` on Recollect; see `AsyncMemory`, whose calls it makes and waits for."""

    def __init__(self, config: object = None) -> None:
        super().__init__(AsyncMemory(config), Loop())
        self.config = self._inner.config

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Return a memory of mem0's configuration as a dictionary."""
        return cls(config_dict)

    add = blocking(AsyncMemory.add)
    search = blocking(AsyncMemory.search)
    get_all = blocking(AsyncMemory.get_all)
    get = blocking(AsyncMemory.get)
    update = blocking(AsyncMemory.update)
    delete = blocking(AsyncMemory.delete)
    delete_all = blocking(AsyncMemory.delete_all)
    history = blocking(AsyncMemory.history)
    reset = blocking(AsyncMemory.reset)
    chat = blocking(AsyncMemory.chat)

    def close(self) -> None:
        """Close the database."""
        self._loop.close(self._inner.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# --- Records as mem0 shows them -------------------------------------------------------------------


def _result(record: Record, *, score: float | None = None, without: Iterable[str] = ()) -> Json:
    """Return a record in the shape of mem0's results."""
    payload = _payload(record)
    metadata = {name: it for name, it in record.metadata.items() if name not in _PROMOTED}
    shown: Json = {
        "id": record.id,
        "memory": record.content,
        "hash": md5(record.content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": metadata or None,
        "score": score,
        "created_at": record.created_at.isoformat(),
        "updated_at": record.updated_at.isoformat(),
    }
    shown |= {name: payload[name] for name in _PROMOTED if payload.get(name) is not None}
    return {name: it for name, it in shown.items() if name not in without}


def _payload(record: Record) -> Json:
    """Return what mem0's filters may ask about."""
    expires = record.expires_at
    return {
        **record.metadata,
        "user_id": record.scope.user,
        "agent_id": record.scope.agent,
        "run_id": record.session if not (record.session or "").startswith("sess_") else None,
        "expiration_date": None if expires is None else (expires - _DAY).date().isoformat(),
        "data": record.content,
        "created_at": record.created_at.isoformat(),
        "updated_at": record.updated_at.isoformat(),
    }


def _events(versions: Iterable[Any]) -> list[Json]:
    """Return the versions of a record as mem0's history tells them."""
    events: list[Json] = []
    before: Record | None = None
    for version in versions:
        record: Record = version.record
        is_gone = record.status is Status.DELETED
        if version.reason == _METADATA_ONLY:
            # It belongs to the add() before it.
            before = record
            continue
        events.append(
            {
                "id": f"{record.id}@{record.version}",
                "memory_id": record.id,
                "old_memory": None if before is None else before.content,
                "new_memory": None if is_gone else record.content,
                "event": "DELETE" if is_gone else "ADD" if before is None else "UPDATE",
                "created_at": record.created_at.isoformat(),
                "updated_at": record.recorded_at.isoformat(),
                "is_deleted": is_gone,
                "actor_id": record.metadata.get("actor_id"),
                "role": record.metadata.get("role"),
            }
        )
        before = record
    return events


# --- Arguments as mem0 takes them -----------------------------------------------------------------


def _as_mapping(config: object) -> Mapping[str, Any]:
    """Return a configuration given as a dictionary or as one of mem0's objects."""
    if config is None:
        return {}
    if isinstance(config, Mapping):
        return cast("Mapping[str, Any]", config)
    dump = getattr(config, "model_dump", None)
    if callable(dump):
        return cast("Mapping[str, Any]", dump())
    raise InvalidArgument(f"config must be a dictionary, not {type(config).__name__}")


def _ids(user: object, agent: object, run: object) -> _Ids:
    return _Ids(
        user=_trimmed(user, "user_id"),
        agent=_trimmed(agent, "agent_id"),
        run=_trimmed(run, "run_id"),
    )


def _trimmed(value: object, name: str) -> str | None:
    if value is None:
        return None
    text = str(value).strip()
    if not text or any(it.isspace() for it in text):
        raise InvalidArgument(f"Invalid {name}: cannot be empty or contain whitespace.")
    return text


def _split(filters: Mapping[str, Any] | None) -> tuple[_Ids, Json]:
    """Return the ids that filters name, and the conditions beside them."""
    given = dict(filters or {})
    ids = _ids(*(given.pop(name, None) for name in _IDS))
    if not ids.any:
        raise InvalidArgument(
            "filters must contain at least one of: user_id, agent_id, run_id. "
            "Example: filters={'user_id': 'u1'}"
        )
    return ids, given


def _refuse_ids(kwargs: Mapping[str, Any], method: str) -> None:
    wrong = set(_IDS) & set(kwargs)
    if wrong:
        raise InvalidArgument(
            f"Top-level entity parameters {wrong} are not supported in {method}(). "
            "Use filters={'user_id': '...'} instead."
        )


def _require_count(top_k: object) -> None:
    if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 0:
        raise InvalidArgument(f"Invalid top_k: {top_k}. Must be a non-negative integer.")


def _messages(messages: object) -> list[Mapping[str, Any]]:
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, Mapping):
        return [cast("Mapping[str, Any]", messages)]
    if isinstance(messages, list):
        listed = cast("list[object]", messages)
        return [cast("Mapping[str, Any]", it) for it in listed if isinstance(it, Mapping)]
    raise InvalidArgument("messages must be str, dict, or list[dict]")


def _text(content: object) -> str:
    """Return the words of a message, whose content may be a list of parts."""
    if isinstance(content, list):
        parts = cast("list[object]", content)
        texts = [cast("Json", it).get("text") for it in parts if isinstance(it, Mapping)]
        return "\n".join(it for it in texts if isinstance(it, str))
    return str(content)


def _fields(metadata: Mapping[str, Any] | None, expiration_date: object) -> RecordFields:
    fields = RecordFields()
    if metadata:
        fields["metadata"] = _without_ids(metadata)
    if expiration_date is not None:
        fields["expires_at"] = _end_of(expiration_date)
    return fields


def _without_ids(metadata: Mapping[str, Any]) -> Json:
    """Return metadata without what would say whose it is: only the arguments do."""
    return {name: it for name, it in metadata.items() if name not in (*_IDS, "actor_id")}


def _end_of(day: object) -> datetime | None:
    """Return when a day is over; a memory expires after its last day."""
    if day is None:
        return None
    try:
        read = day.date() if isinstance(day, datetime) else day
        read = read if isinstance(read, date) else date.fromisoformat(str(read))
    except ValueError:
        raise InvalidArgument(
            "expiration_date must be a valid date in YYYY-MM-DD format."
        ) from None
    return datetime.combine(read, time(), UTC) + _DAY


def _statuses(*, show_expired: bool) -> list[Status]:
    return [Status.ACTIVE, Status.EXPIRED] if show_expired else [Status.ACTIVE]


# --- Reading a workspace --------------------------------------------------------------------------


async def _records(
    memory: RecollectMemory, ids: _Ids, *, show_expired: bool, limit: int | None = None
) -> AsyncIterator[Record]:
    """Yield the records of a scope; what other scopes share with it is not mem0's."""
    statuses = _statuses(show_expired=show_expired)
    kinds = list(Kind)
    count = 0
    async for record in _every(
        lambda cursor: memory.list(
            limit=_PAGE, cursor=cursor, kind=kinds, status=statuses, session=ids.run
        )
    ):
        if ids.own(record):
            yield record
            count += 1
            if count == limit:
                return


async def _agents_of(root: RecollectMemory, user: str) -> AsyncIterator[str]:
    async for scope in _scopes(root, user):
        if scope.agent is not None:
            yield scope.agent


async def _every_scope(root: RecollectMemory) -> AsyncIterator[RecollectMemory]:
    async for scope in _scopes(root):
        yield root.scope(agent=scope.agent, user=scope.user)


async def _scopes(root: RecollectMemory, user: str | None = None) -> AsyncIterator[Scope]:
    async for entry in _every(
        lambda cursor: root.workspace.scopes(user=user, limit=_PAGE, cursor=cursor)
    ):
        if not entry.scope.is_reserved:
            yield entry.scope


async def _every(page_at: Callable[[str | None], Awaitable[Page[T]]]) -> AsyncIterator[T]:
    """Yield what is on a page and on all that follow it."""
    cursor: str | None = None
    while True:
        page = await page_at(cursor)
        for it in page.items:
            yield it
        cursor = page.next_cursor
        if cursor is None:
            return


async def _record(memory: RecollectMemory, memory_id: str, *, even_deleted: bool) -> Record:
    if even_deleted:
        return (await memory.history(memory_id))[-1].record
    return await memory.get(memory_id)
