"""Detection of a full disk, and advice on what to delete."""

from __future__ import annotations

import contextlib
import errno
import shutil
from pathlib import Path
from typing import Final

_MEGABYTE: Final = 1 << 20
# Enough to delete thousands of records.
_WANTED_BYTES: Final = 32 * _MEGABYTE
# A quota or a limit of the process can be full, just like a disk.
_FULL_DISK_ERRNOS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def is_full(problem: OSError) -> bool:
    """Return whether an error means that the disk is full."""
    return problem.errno in _FULL_DISK_ERRNOS


def means_full(message: str) -> bool:
    """Return whether the error text of a library has the system's number for a full disk."""
    return any(f"(os error {number})" in message for number in _FULL_DISK_ERRNOS)


def has_no_room(folder: Path) -> bool:
    """Return whether a disk has no space left for even a small file."""
    with contextlib.suppress(OSError):
        return shutil.disk_usage(folder).free < _MEGABYTE
    return False


def what_to_free(place: Path) -> str:
    """Return advice on how much to free, where, and which of our own files may be deleted."""
    folder = place if place.is_dir() else place.parent
    advice = f"Free at least {_WANTED_BYTES // _MEGABYTE} MB on the disk of {folder}"
    with contextlib.suppress(OSError):
        free = shutil.disk_usage(folder).free
        advice += f", where {free / _MEGABYTE:,.1f} MB are free"
        advice += _deletable_files(place, folder)
    return f"{advice}, and try again."


def _deletable_files(place: Path, folder: Path) -> str:
    """Return the copies that restores and interrupted copying left behind, in words."""
    left = [
        path
        for path in sorted(folder.iterdir())
        if path.name.startswith(f"{place.name}.")
        and (".before-restore" in path.name or path.name.endswith((".unfinished", ".copying")))
    ]
    named = (f"{path.name} ({path.stat().st_size / _MEGABYTE:,.1f} MB)" for path in left)
    return f" (if you do not need it: {', '.join(named)})" if left else ""
