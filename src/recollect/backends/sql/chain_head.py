"""The end of a workspace's audit chain, and refusing a database that is older than it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, select

from recollect.backends.audit_anchor import anchor_of
from recollect.backends.sql import schema
from recollect.domain.audit import ChainHead, first_head
from recollect.errors import StorageError

_CHAIN: Final = schema.audit_chain.c


def require_newest(connection: Connection, path: Path, known: Sequence[ChainHead]) -> None:
    """Refuse a database whose audit ends before where it is known to have been."""
    for head in known:
        last = chain_head(connection, head.org, head.workspace)
        if last.seq < head.seq:
            raise StorageError(
                f"{path} is older than the memory that was here: the audit of "
                f"{head.org}/{head.workspace} went to {head.seq} and ends at {last.seq}. Nothing "
                "was changed",
                code="database_older",
                hint="Put the newest file back. If this is a copy that you want to go on with, "
                "`recollect restore COPY` puts it in place; if nothing else is left, remove "
                f"{anchor_of(path).name} to go on with it as it is.",
            )


def chain_head(connection: Connection, org: str, workspace: str) -> ChainHead:
    """Return the last link of a workspace's chain."""
    last = connection.execute(
        select(_CHAIN.seq, _CHAIN.hash)
        .where(_CHAIN.org == org, _CHAIN.workspace == workspace)
        .order_by(_CHAIN.seq.desc())
        .limit(1)
    ).one_or_none()
    if last is None:
        return first_head(org, workspace)
    return ChainHead(org=org, workspace=workspace, seq=last.seq, hash=last.hash)
