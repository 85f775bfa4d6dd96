"""Backups: a checked copy of the database and of the contents it refers to.

A copy is a database like any other: opened in place, it finds its contents beside it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recollect.domain.archive import Blob, contents_beside
from recollect.domain.transfer import CopiedContents
from recollect.errors import Conflict
from recollect.ports.archives import Blobs

if TYPE_CHECKING:
    from recollect.backends.sql.maintenance import SqlMaintenance

_log: Final = logging.getLogger(__name__)


@dataclass(eq=False)
class Backups:
    """The service that copies everything while it is in use."""

    _maintenance: SqlMaintenance
    _blobs: Blobs
    _folder_at: Callable[[Path], Blobs]
    # Returns the agents whose memory is in another store.
    _elsewhere: Callable[[], Sequence[str]]

    async def make(self, target: Path) -> CopiedContents:
        """Make a backup; `target` appears only when it is complete."""
        # Checked first, because a folder such as `.` has no name to add a suffix to.
        _require_absent(target)
        contents = contents_beside(target)
        _require_absent(contents)
        unfinished = target.with_name(f"{target.name}.copying")
        # A backup that was killed may have left this behind.
        await asyncio.to_thread(_remove, unfinished)
        try:
            blobs = await self._maintenance.backup(unfinished)
            copied = await copy_contents(blobs, self._blobs, self._folder_at(contents))
            await asyncio.to_thread(unfinished.rename, target)
        except BaseException:
            await asyncio.to_thread(_remove, unfinished)
            await asyncio.to_thread(shutil.rmtree, contents, ignore_errors=True)
            raise
        return replace(copied, agents_left_out=tuple(self._elsewhere()))


async def copy_contents(blobs: Sequence[Blob], source: Blobs, target: Blobs) -> CopiedContents:
    """Copy the contents that are sound; report the others."""
    lost: list[str] = []
    for blob in blobs:
        stored = await source.get(blob.key)
        if stored is None or await asyncio.to_thread(_hash_of, stored) != blob.stored_hash:
            lost.append(blob.key)
        else:
            await target.put(blob.key, stored)
    if lost:
        _log.warning("%d contents of archives could not be copied: %s", len(lost), lost[:10])
    return CopiedContents(copied=len(blobs) - len(lost), lost=tuple(lost))


def _require_absent(place: Path) -> None:
    if place.exists():
        raise Conflict(
            f"{place} exists already; a backup never overwrites a file",
            code="file_exists",
            hint="Give another name.",
        )


def _remove(path: Path) -> None:
    # If the path cannot be used, writing to it reports why.
    with contextlib.suppress(OSError):
        path.unlink()


def _hash_of(stored: bytes) -> str:
    return hashlib.sha256(stored).hexdigest()
