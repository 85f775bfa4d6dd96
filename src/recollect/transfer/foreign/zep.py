"""Zep and Graphiti: what their APIs answer, saved as JSON.

Facts are the edges of the graph, with the interval in which they were true; entities have a
summary; episodes and messages are what was said. Zep has no export file: save what `graph.edge`,
`graph.node`, `graph.episode` and `thread.get` answer, together or one by one.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

from recollect.domain.fields import MAX_TITLE, RecordFields
from recollect.transfer.foreign.found import (
    Found,
    FoundMemory,
    FoundMessage,
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
from recollect.transfer.foreign.sources import read_json

_HINT: Final = (
    "Give JSON with lists named edges (or facts), nodes (or entities), episodes and messages, as"
    " the API of Zep or Graphiti answers them; user_id says whose they are."
)
_EDGES: Final = ("edges", "facts")
_NODES: Final = ("nodes", "entities")
_EPISODES: Final = ("episodes",)
_THREADS: Final = ("threads", "sessions")
_ROLES: Final = {"human": "user", "ai": "assistant", "norole": "user", "": "user"}


def read_zep(path: Path) -> Found:
    """Return the facts, the summaries of entities and the messages."""
    found = Found()
    files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    for file in files:
        value = read_json(file)
        listed = objects(value)
        wholes: list[Json] = listed or [mapping(value)]
        if listed and "fact" in listed[0]:
            wholes = [{"edges": listed}]
        for whole in wholes:
            if not _read(whole, found):
                raise not_readable("Zep", "it has no facts, entities, episodes or messages", _HINT)
    if not files:
        raise not_readable("Zep", "there is no JSON in it", _HINT)
    return found


def _read(whole: Json, found: Found) -> bool:
    owner = _owner(whole, Owner())
    names = {
        str(node.get("uuid")): str(node.get("name") or "")
        for kind in _NODES
        for node in objects(whole.get(kind))
    }
    lists = (*_EDGES, *_NODES, *_EPISODES, *_THREADS, "messages")
    for kind in _EDGES:
        for edge in objects(whole.get(kind)):
            _add_fact(edge, names, _owner(edge, owner), found)
    for kind in _NODES:
        for node in objects(whole.get(kind)):
            _add_entity(node, _owner(node, owner), found)
    for episode in objects(whole.get("episodes")):
        _add_episode(episode, _owner(episode, owner), found)
    for thread in (whole, *(it for kind in _THREADS for it in objects(whole.get(kind)))):
        session = next(
            (name for it in ("thread_id", "session_id", "uuid") if (name := label(thread.get(it)))),
            None,
        )
        for message in objects(thread.get("messages")):
            _add_message(message, session, _owner(thread, owner), found)
    return any(isinstance(whole.get(name), list) for name in lists)


def _owner(entry: Json, above: Owner) -> Owner:
    """Return whose it is: a graph belongs to a user, or is a group of its own."""
    user = label(entry.get("user_id")) or label(entry.get("group_id"))
    return Owner(user=user) if user else above


def _add_fact(edge: Json, names: dict[str, str], owner: Owner, found: Found) -> None:
    fact, key = edge.get("fact"), str(edge.get("uuid") or edge.get("fact"))
    if not isinstance(fact, str) or not fact.strip():
        found.leave_out("facts without text", key)
        return
    ends = [
        edge.get(f"{end}_node_name") or names.get(str(edge.get(f"{end}_node_uuid")))
        for end in ("source", "target")
    ]
    known = {"fact", "uuid", "group_id", "user_id", "fact_embedding", "created_at", "expired_at"}
    known |= {"valid_at", "invalid_at", "source_node_uuid", "target_node_uuid", "attributes"}
    rest = {name: it for name, it in edge.items() if name not in known}
    fields = RecordFields(
        tags=labels([edge.get("name")]),
        metadata=metadata_of({**rest, **mapping(edge.get("attributes")), "entities": ends}),
    )
    created = moment(edge.get("created_at"))
    if created is not None:
        fields["created_at"] = created
    _set_interval(
        fields,
        moment(edge.get("valid_at")),
        moment(edge.get("invalid_at") or edge.get("expired_at")),
    )
    found.memories.append(
        FoundMemory(key=key, said=[Said(content=fact, at=created)], owner=owner, fields=fields)
    )


def _set_interval(fields: RecordFields, start: datetime | None, end: datetime | None) -> None:
    if start is not None:
        fields["valid_from"] = start
        fields["first_observed"] = start
    if end is not None and (start is None or start < end):
        fields["valid_to"] = end


def _add_entity(node: Json, owner: Owner, found: Found) -> None:
    summary, name = node.get("summary"), str(node.get("name") or "")
    if not isinstance(summary, str) or not summary.strip():
        found.leave_out("entities without a summary: their facts name them", name)
        return
    created = moment(node.get("created_at"))
    attributes = mapping(node.get("attributes"))
    fields = RecordFields(
        title=name[:MAX_TITLE], tags=labels(node.get("labels")), metadata=metadata_of(attributes)
    )
    if created is not None:
        fields["created_at"] = created
    key = str(node.get("uuid") or name)
    found.memories.append(
        FoundMemory(key=key, said=[Said(content=summary, at=created)], owner=owner, fields=fields)
    )


def _add_episode(episode: Json, owner: Owner, found: Found) -> None:
    source = str(episode.get("source") or "message")
    if source.rpartition(".")[2] == "message":
        session = label(episode.get("thread_id")) or label(episode.get("session_id"))
        _add_message(episode, session or "zep", owner, found)
        return
    found.leave_out(
        f"episodes of the kind {source}: their facts are here", str(episode.get("uuid"))
    )


def _add_message(message: Json, session: str | None, owner: Owner, found: Found) -> None:
    content = message.get("content")
    if not isinstance(content, str) or not content.strip():
        found.leave_out("messages without words", str(message.get("uuid")))
        return
    role = str(message.get("role_type") or message.get("role") or "").removesuffix("role")
    role = _ROLES.get(role, role)
    given = {"role": role if role in ("user", "assistant", "system", "tool") else "user"}
    # Zep 2 has the name of the speaker in `role`, Zep 3 in `name`.
    name = label(message.get("name")) or (
        label(message.get("role")) if message.get("role_type") else None
    )
    at = moment(message.get("valid_at") or message.get("created_at") or message.get("timestamp"))
    found.messages.append(
        FoundMessage(
            session=session or "zep",
            id=str(message.get("uuid") or f"{at}\x1f{content}"[:200]),
            at=at,
            message={**given, "content": content, **({"name": name} if name else {})},
            owner=owner,
        )
    )
