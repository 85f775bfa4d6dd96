"""How far the chains of the audit went, in a small file beside the database."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

from recollect.domain.audit_chain import ChainHead
from recollect.errors import StorageError


def anchor_of(database: Path) -> Path:
    """Where the anchor of a database is."""
    return database.with_name(f"{database.name}-audit-anchor.json")


class AnchorFile:
    """One JSON object: workspace → the place and the hash of the last link that was seen."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing = threading.Lock()

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
                unfinished.write_text(json.dumps(heads, ensure_ascii=False), encoding="utf-8")
                unfinished.replace(self._path)
            except OSError as problem:
                raise StorageError(
                    f"{self._path} cannot be written: {problem.strerror}",
                    code="file_unwritable",
                    hint="Check the permissions of its folder.",
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
                hint="It proves that no end of the audit was cut off. Remove it to begin anew.",
            ) from problem
