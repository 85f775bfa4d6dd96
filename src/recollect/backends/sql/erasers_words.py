"""What the places where something may be left are called, for people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from recollect.domain.forgetting import Remains

_INDEX: Final = "the search index"
PLACES: Final[Mapping[str, str]] = {
    "agents": "the settings of agents",
    "archives": "archived tool results",
    "audit": "the audit",
    "audit_chain": "the seals of the audit",
    "blobs": "the list of archived contents",
    "changes": "the list of changes",
    "conflicts": "conflicts between memories",
    "documents": "documents",
    "editions": _INDEX,
    "embedding_models": "the list of models",
    "idempotency": "answers kept for repeated requests",
    "items": "what frameworks keep",
    "jobs": "work that waits",
    "keys": "the keys of the server",
    "links": "how memories relate",
    "metric_hours": "what was counted each hour",
    "proposals": "proposals to shared memory",
    "record_tags": "tags of memories",
    "records": "memories",
    "scopes": "names of users and agents",
    "sections": "texts of documents",
    "sign_ins": "who is signed in",
    "state": "what sessions keep",
    "tombstones": "the list of what was forgotten",
    "turns": "conversations",
    "unit_tokens": _INDEX,
    "units": _INDEX,
    "vectors": "vectors",
    "versions": "earlier versions of memories",
    "watermarks": "how far conversations are read",
    "writes": "traces of how memories were written",
}


def in_table(term: str, table: str) -> Remains:
    """Something that is left in a table."""
    return Remains(term=term, place=PLACES[table], detail=table)


def in_file(term: str, path: Path, at: int, database: Path) -> Remains:
    """Something that is left in a file, from this byte on."""
    return Remains(term=term, place=file_words(path, database), detail=f"{path.name}:{at}")


def file_words(path: Path, database: Path) -> str:
    """What a file is."""
    match path.name.removeprefix(database.name):
        case "":
            return "the database file"
        case "-wal" | "-shm":
            return "what the database has not put in its file yet"
        case _:
            return f"the file {path.name}"
