"""LangGraph stores, also those of LangMem: SqliteStore, PostgresStore, or items as JSON.

LangMem's memories become records; a store as a whole becomes items, which `RecollectStore` offers
to a graph under the same namespaces and keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from recollect.domain.fields import RecordFields
from recollect.errors import InvalidInput, NotAvailable
from recollect.transfer.foreign.found import (
    Found,
    FoundItem,
    FoundMemory,
    Json,
    Owner,
    Said,
    label,
    mapping,
    metadata_of,
    moment,
    not_readable,
    objects,
)
from recollect.transfer.foreign.sources import read_json, rows_of, sqlite_files, tables_of

_HINT: Final = (
    "Give the database file of a SqliteStore, postgresql://… of a PostgresStore, or the items of"
    " store.search() as JSON."
)
_COLUMNS: Final = frozenset({"prefix", "key", "value", "created_at", "updated_at"})
_QUERY: Final = "SELECT * FROM store ORDER BY created_at, prefix, key"
# Whose a memory is, by the namespaces that the guides of LangGraph and LangMem use.
_USUAL: Final = ("memories/{user}", "{user}/memories", "memories")
_SLOTS: Final = ("{user}", "{agent}", "{session}", "*")


def read_items(source: Path | str) -> Found:
    """Return a store as it is; what has expired is left out."""
    found = Found()
    now = datetime.now(UTC)
    for item in _items(source):
        if item.expires_at is not None and item.expires_at <= now:
            found.leave_out("items that have expired", f"{'.'.join(item.namespace)}/{item.key}")
        else:
            found.items.append(item)
    return found


def read_langmem(source: Path | str, namespace: str | None) -> Found:
    """Return the memories of a store; their namespace says whose they are."""
    patterns = [_pattern(it) for it in ((namespace,) if namespace else _USUAL)]
    found = Found()
    stored = read_items(source)
    found.left_out = stored.left_out
    for item in stored.items:
        name = "/".join(item.namespace)
        slots = next((it for it in (_match(item, its) for its in patterns) if it is not None), None)
        content = _text(item.value)
        if slots is None:
            found.leave_out(
                "memories whose namespace does not say whose they are: name its parts with"
                " --namespace, such as 'app/{user}/{session}'",
                name,
            )
        elif content is None:
            found.leave_out("values without text", f"{name}/{item.key}")
        else:
            found.memories.append(_memory(item, content, slots))
    return found


def _memory(item: FoundItem, content: str, slots: Mapping[str, str]) -> FoundMemory:
    kind = item.value.get("kind")
    rest = {name: it for name, it in item.value.items() if name not in ("content", "kind")}
    fields = RecordFields(
        created_at=item.created_at,
        last_confirmed=item.updated_at,
        metadata=metadata_of({**rest, "namespace": list(item.namespace), "key": item.key}),
    )
    # Other kinds than this one are a schema of the user's own.
    if (category := label(kind)) and category != "Memory":
        fields["category"] = category
    if item.expires_at is not None:
        fields["expires_at"] = item.expires_at
    if "session" in slots:
        fields["session"] = slots["session"]
    return FoundMemory(
        key="\x1f".join((*item.namespace, item.key)),
        said=[Said(content=content, at=item.updated_at)],
        owner=Owner(agent=slots.get("agent"), user=slots.get("user")),
        fields=fields,
    )


def _text(value: Json) -> str | None:
    """Return what a memory says: its text, or the fields of a schema, one a line."""
    content = value.get("content", value.get("text", value.get("memory")))
    if isinstance(content, Mapping):
        inner = cast("Json", content)
        plain = inner.get("content")
        if isinstance(plain, str) and set(inner) == {"content"}:
            return plain if plain.strip() else None
        told = [f"{name}: {_told(it)}" for name, it in inner.items() if it not in (None, "", [])]
        return "\n".join(told) or None
    return content if isinstance(content, str) and content.strip() else None


def _told(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _pattern(text: str) -> tuple[str, ...]:
    parts = tuple(text.strip("/").split("/"))
    if not all(part in _SLOTS or not set(part) & set("{}*") for part in parts):
        raise InvalidInput(
            f"{text!r} is not a namespace",
            code="bad_namespace",
            hint="Write its labels with '/' between them; {user}, {agent}, {session} and * stand"
            " for a label.",
        )
    return parts


def _match(item: FoundItem, pattern: Sequence[str]) -> dict[str, str] | None:
    if len(item.namespace) != len(pattern):
        return None
    slots: dict[str, str] = {}
    for have, want in zip(item.namespace, pattern, strict=True):
        if want in _SLOTS:
            slots[want.strip("{}")] = have
        elif have != want:
            return None
    return slots


def _items(source: Path | str) -> Iterator[FoundItem]:
    if isinstance(source, str):
        yield from map(_from_row, _rows_of_server(source))
        return
    files = sqlite_files(source)
    stores = [it for it in files if tables_of(it).get("store", frozenset()) >= _COLUMNS]
    if stores:
        for file in stores:
            yield from map(_from_row, rows_of(file, _QUERY))
    elif files or source.is_dir():
        raise not_readable("LangGraph", "there is no table `store` in it", _HINT)
    else:
        yield from _from_json(read_json(source))


def _rows_of_server(address: str) -> Iterable[Mapping[str, Any]]:
    from sqlalchemy import create_engine, text
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import SQLAlchemyError

    try:
        engine = create_engine(make_url(address).set(drivername="postgresql+psycopg"))
    except ModuleNotFoundError:
        raise NotAvailable(
            "A PostgreSQL server is read with psycopg, which is not installed",
            code="not_installed",
            hint='pip install "recollect[postgresql]"',
        ) from None
    try:
        with engine.connect() as connection:
            return [dict(row) for row in connection.execute(text(_QUERY)).mappings()]
    except SQLAlchemyError as problem:
        raise not_readable("LangGraph", str(problem).splitlines()[0], _HINT) from None
    finally:
        engine.dispose()


def _from_row(row: Mapping[str, Any]) -> FoundItem:
    value = row["value"]
    if isinstance(value, str | bytes):
        try:
            value = json.loads(value)
        except ValueError as problem:
            raise not_readable("LangGraph", f"a value is not JSON: {problem}", _HINT) from None
    created = moment(row["created_at"]) or datetime.now(UTC)
    return FoundItem(
        namespace=tuple(str(row["prefix"]).split(".")),
        key=str(row["key"]),
        value=mapping(value),
        created_at=created,
        updated_at=moment(row["updated_at"]) or created,
        expires_at=moment(row.get("expires_at")),
    )


def _from_json(value: object) -> Iterator[FoundItem]:
    entries = objects(value)
    if not isinstance(value, list) or len(entries) < len(cast("list[object]", value)):
        raise not_readable("LangGraph", "it is not a list of items", _HINT)
    for entry in entries:
        namespace, key = entry.get("namespace"), entry.get("key")
        created = moment(entry.get("created_at"))
        if not isinstance(namespace, list) or not isinstance(key, str) or created is None:
            raise not_readable(
                "LangGraph", "an item lacks its namespace, its key or created_at", _HINT
            )
        yield FoundItem(
            namespace=tuple(map(str, cast("list[object]", namespace))),
            key=key,
            value=mapping(entry.get("value")),
            created_at=created,
            updated_at=moment(entry.get("updated_at")) or created,
        )
