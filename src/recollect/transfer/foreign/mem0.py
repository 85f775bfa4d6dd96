"""mem0: its store (Qdrant or Chroma in a folder, or a Qdrant server), its history, and JSON.

A memory is a point of the vector store; what it said before is in `history.db`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

from recollect.domain.fields import RecordFields
from recollect.errors import InvalidInput
from recollect.transfer.foreign.found import (
    Found,
    FoundMemory,
    Json,
    Owner,
    Said,
    label,
    labels,
    mapping,
    metadata_of,
    moment,
    not_readable,
    objects,
)
from recollect.transfer.foreign.sources import (
    fields_of_pickle,
    posted,
    read_json,
    rows_of,
    sqlite_files,
    tables_of,
)

_HINT: Final = (
    "Give the folder of mem0's vector store (with its history.db in it), the history.db alone, JSON"
    " of get_all(), or http://HOST:6333/COLLECTION of a Qdrant server."
)
# Collections and fields that mem0 makes for itself.
_OWN_COLLECTIONS: Final = ("mem0migrations",)
_ENTITIES: Final = "_entities"
_DERIVED: Final = frozenset({"hash", "text_lemmatized", "score", "event"})
_TAKEN: Final = frozenset(
    {"id", "data", "memory", "user_id", "agent_id", "run_id", "created_at", "updated_at"}
    | {"metadata", "categories", "expiration_date"}
)
_PAGE: Final = 500


def read_mem0(path: Path) -> Found:
    """Return the memories of a store, of a history alone, or of an export."""
    found = Found()
    payloads: dict[str, Json] = {}
    history: dict[str, list[Json]] = {}
    files = sqlite_files(path)
    stores = 0
    for file in files:
        tables = tables_of(file)
        if {"id", "point"} <= tables.get("points", frozenset()):
            stores += 1
            payloads.update(_from_qdrant(file, found))
        elif {"embedding_id", "segment_id"} <= tables.get("embeddings", frozenset()):
            stores += 1
            payloads.update(_from_chroma(file, found))
        elif {"memory_id", "new_memory", "event"} <= tables.get("history", frozenset()):
            for row in rows_of(file, "SELECT * FROM history ORDER BY rowid"):
                history.setdefault(str(row["memory_id"]), []).append(row)
    if not files and path.is_file():
        payloads = _from_export(read_json(path))
    elif not stores and not history:
        raise not_readable("mem0", "there is no store in it", _HINT)
    _add(found, payloads, history, has_store=bool(stores) or not history)
    return found


def read_mem0_server(address: str) -> Found:
    """Return the memories in a collection of a Qdrant server."""
    place = urlsplit(address)
    collection = place.path.strip("/").removeprefix("collections/") or "mem0"
    base = f"{place.scheme}://{place.netloc}/collections/{collection}/points/scroll"
    payloads: dict[str, Json] = {}
    offset: object = None
    while True:
        body = {"limit": _PAGE, "with_payload": True, "with_vector": False}
        answer = mapping(posted(base, body if offset is None else {**body, "offset": offset}))
        result = mapping(answer.get("result"))
        for point in objects(result.get("points")):
            payloads[str(point.get("id"))] = mapping(point.get("payload"))
        offset = result.get("next_page_offset")
        if offset is None:
            break
    found = Found()
    _add(found, payloads, {}, has_store=True)
    return found


def _from_qdrant(file: Path, found: Found) -> Iterator[tuple[str, Json]]:
    collection = file.parent.name
    rows = rows_of(file, "SELECT point FROM points ORDER BY rowid")
    for row in rows:
        point = fields_of_pickle(cast("bytes", row["point"]))
        payload = point.get("payload")
        if collection.endswith(_ENTITIES) or collection in _OWN_COLLECTIONS:
            found.leave_out(f"mem0's own index ({collection}), which is not needed here")
        elif isinstance(payload, dict):
            yield str(point.get("id")), cast("Json", payload)


def _from_chroma(file: Path, found: Found) -> Iterator[tuple[str, Json]]:
    named = rows_of(
        file,
        "SELECT segments.id AS segment, collections.name AS name FROM segments"
        " JOIN collections ON collections.id = segments.collection",
    )
    collections = {str(row["segment"]): str(row["name"]) for row in named}
    payloads: dict[int, dict[str, Any]] = {}
    for row in rows_of(file, "SELECT * FROM embedding_metadata ORDER BY id, key"):
        values = (row[f"{kind}_value"] for kind in ("string", "int", "float"))
        value = next((it for it in values if it is not None), None)
        is_true = row.get("bool_value")
        payloads.setdefault(row["id"], {})[row["key"]] = (
            value if value is not None or is_true is None else bool(is_true)
        )
    for row in rows_of(file, "SELECT id, embedding_id, segment_id FROM embeddings ORDER BY id"):
        collection = collections.get(str(row["segment_id"]), "")
        if collection.endswith(_ENTITIES) or collection in _OWN_COLLECTIONS:
            found.leave_out(f"mem0's own index ({collection}), which is not needed here")
        else:
            yield str(row["embedding_id"]), payloads.get(row["id"], {})


def _from_export(value: object) -> dict[str, Json]:
    """Return what `get_all()` answered, or the platform exported."""
    listed = value
    if isinstance(value, Mapping):
        whole = cast("Json", value)
        listed = next((whole[it] for it in ("results", "memories") if it in whole), None)
    entries = objects(listed)
    if not isinstance(listed, list) or len(entries) < len(cast("list[object]", listed)):
        raise not_readable("mem0", "it is not a list of memories", _HINT)
    if any("memory" not in it and "data" not in it for it in entries):
        raise not_readable("mem0", "an entry has no `memory`", _HINT)
    return {str(entry.get("id") or place): entry for place, entry in enumerate(entries)}


def _add(
    found: Found,
    payloads: Mapping[str, Json],
    history: Mapping[str, list[Json]],
    *,
    has_store: bool,
) -> None:
    for key, payload in payloads.items():
        try:
            memory = _memory(key, payload, history.get(key, []))
        except InvalidInput as problem:
            found.leave_out(problem.message, key)
            continue
        if memory is None:
            found.leave_out("memories without text", key)
        else:
            found.memories.append(memory)
    for key, changes in history.items():
        if key in payloads:
            continue
        last = changes[-1]
        if last.get("event") == "DELETE" or last.get("is_deleted"):
            found.leave_out("memories that were deleted there", key)
        elif has_store:
            found.leave_out("memories that only the history has, without an owner", key)
        elif said := _said(changes):
            found.memories.append(FoundMemory(key=key, said=said))


def _memory(key: str, payload: Json, changes: Iterable[Json]) -> FoundMemory | None:
    content = payload.get("data") or payload.get("memory")
    if not isinstance(content, str) or not content.strip():
        return None
    created = moment(payload.get("created_at"))
    updated = moment(payload.get("updated_at")) or created
    said = _said(changes)
    if not said or said[-1].content != content:
        said.append(Said(content=content, at=updated))
    return FoundMemory(
        key=key,
        said=said,
        owner=Owner(agent=label(payload.get("agent_id")), user=label(payload.get("user_id"))),
        fields=_fields(payload, created or said[0].at, updated),
    )


def _fields(payload: Json, created: datetime | None, updated: datetime | None) -> RecordFields:
    given = {**payload, **mapping(payload.get("metadata"))}
    categories = labels(payload.get("categories")) or labels([given.get("category")])
    rest = {name: it for name, it in given.items() if name not in _TAKEN | _DERIVED}
    fields = RecordFields(
        tags=categories, metadata=metadata_of(rest), session=label(payload.get("run_id"))
    )
    if categories:
        fields["category"] = categories[0]
    elif payload.get("memory_type") == "procedural_memory":
        fields["category"] = "task-traces"
    if created is not None:
        fields["created_at"] = created
        fields["last_confirmed"] = updated or created
    try:
        expires = date.fromisoformat(str(payload.get("expiration_date")))
    except ValueError:
        return fields
    # The day itself is the last one.
    fields["expires_at"] = datetime.combine(expires, time(), UTC) + timedelta(days=1)
    return fields


def _said(changes: Iterable[Json]) -> list[Said]:
    """Return what a memory said, by its history."""
    said: list[Said] = []
    for change in changes:
        content = change.get("new_memory")
        at = moment(change.get("updated_at")) or moment(change.get("created_at"))
        if isinstance(content, str) and content.strip():
            if said and said[-1].content == content:
                continue
            said.append(Said(content=content, at=at))
    return said
