"""How far the chains of the audit went: in a small file beside the database, or in the blob store.

Machines that share a database server share the blob store, and with it what is known of the audit.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from recollect.backends.objects import BlobNotes
from recollect.domain.audit import ChainHead
from recollect.domain.files import is_full, open_new, what_to_free
from recollect.errors import StorageError

_AUDIT: Final = "audit"
# Names of equal length are in the order of their numbers.
_DIGITS: Final = 20


def anchor_of(database: Path) -> Path:
    """Return where the anchor of a database is."""
    return database.with_name(f"{database.name}-audit-anchor.json")


def known_heads(database: Path) -> tuple[ChainHead, ...]:
    """Return how far each chain of a database went; nothing where that cannot be told."""
    return _heads_in(anchor_of(database))


def _heads_in(path: Path) -> tuple[ChainHead, ...]:
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return tuple(
            ChainHead(org=org, workspace=workspace, seq=head["seq"], hash=head["hash"])
            for name, head in stored.items()
            for org, _, workspace in (name.partition("/"),)
        )
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        # Whoever verifies the audit is told.
        return ()


class AnchorFile:
    """One JSON object: workspace → the place and the hash of the last link that was seen."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing = threading.Lock()

    def heads(self) -> tuple[ChainHead, ...]:
        return _heads_in(self._path)

    def known(self, org: str, workspace: str) -> ChainHead | None:
        found = self._read().get(f"{org}/{workspace}")
        if found is None:
            return None
        return ChainHead(org=org, workspace=workspace, seq=found["seq"], hash=found["hash"])

    def keep(self, head: ChainHead) -> None:
        with self._writing:
            heads = self._read()
            name = f"{head.org}/{head.workspace}"
            if name in heads and heads[name]["seq"] >= head.seq:
                return
            heads[name] = {"seq": head.seq, "hash": head.hash}
            # Whole or not at all; of two processes at once the one that is late wins, and what
            # the other kept comes back with the next seal.
            unfinished = self._path.with_name(f"{self._path.name}.{os.getpid()}")
            try:
                with open_new(unfinished, "w", encoding="utf-8") as file:
                    json.dump(heads, file, ensure_ascii=False)
                unfinished.replace(self._path)
            except OSError as problem:
                with contextlib.suppress(OSError):
                    unfinished.unlink()
                raise StorageError(
                    f"{self._path} cannot be written: {problem.strerror}",
                    code="disk_full" if is_full(problem) else "file_unwritable",
                    hint=what_to_free(self._path)
                    if is_full(problem)
                    else "Check the permissions of its folder.",
                ) from problem

    def _read(self) -> dict[str, Any]:
        try:
            return json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError as problem:
            raise StorageError(
                f"{self._path} cannot be read: {problem}",
                code="anchor_damaged",
                hint="It proves that the audit log was not cut off. Remove it to start over.",
            ) from problem


class AnchorNotes:
    """A note for the head of each chain, with its place in its name; the highest one counts."""

    def __init__(self, notes: BlobNotes) -> None:
        self._notes = notes

    def heads(self) -> tuple[ChainHead, ...]:
        # They come in order: of each workspace the last one stays.
        last = {name.rpartition("/")[0]: name for name in self._notes.names(_AUDIT)}
        found = (self._head(name) for name in last.values())
        return tuple(head for head in found if head is not None)

    def known(self, org: str, workspace: str) -> ChainHead | None:
        names = self._notes.names(_folder(org, workspace))
        # One that somebody else replaced in this moment is followed by a higher one.
        return next((head for name in reversed(names) if (head := self._head(name))), None)

    def keep(self, head: ChainHead) -> None:
        folder = _folder(head.org, head.workspace)
        name = f"{folder}/{head.seq:0{_DIGITS}}.json"
        names = self._notes.names(folder)
        if any(it >= name for it in names):
            return
        self._notes.write(name, json.dumps(asdict(head), ensure_ascii=False).encode())
        self._notes.remove(names)

    def _head(self, name: str) -> ChainHead | None:
        stored = self._notes.read(name)
        try:
            return None if stored is None else ChainHead(**json.loads(stored))
        except (ValueError, TypeError) as problem:
            raise StorageError(
                f"{name} in the blob store cannot be read: {problem}",
                code="anchor_damaged",
                hint="It proves that the audit log was not cut off. Remove it to start over.",
            ) from problem


def _folder(org: str, workspace: str) -> str:
    name = json.dumps([org, workspace]).encode()
    return f"{_AUDIT}/{blake2b(name, digest_size=16).hexdigest()}"
