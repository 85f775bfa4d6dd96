"""What a full disk looks like, and what to free."""

from __future__ import annotations

import contextlib
import errno
import shutil
from pathlib import Path
from typing import Final

_MEGABYTE: Final = 1 << 20
# Enough for a removal that moves thousands of records.
_WANTED: Final = 32 * _MEGABYTE
# A quota or a limit of the process is full just as a disk is.
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def is_full(problem: OSError) -> bool:
    """Return whether a fault means that there is no more room."""
    return problem.errno in _FULL


def means_full(told: str) -> bool:
    """The same for a library that tells of a fault only in words, with the system's number."""
    return any(f"(os error {number})" in told for number in _FULL)


def has_no_room(folder: Path) -> bool:
    """Return whether a disk has no room left for even a small file."""
    with contextlib.suppress(OSError):
        return shutil.disk_usage(folder).free < _MEGABYTE
    return False


def what_to_free(place: Path) -> str:
    """Return how much to free where, and which of our own files may go."""
    folder = place if place.is_dir() else place.parent
    told = f"Free at least {_WANTED // _MEGABYTE} MB on the disk of {folder}"
    with contextlib.suppress(OSError):
        free = shutil.disk_usage(folder).free
        told += f", where {free / _MEGABYTE:,.1f} MB are free"
        told += _what_may_go(place, folder)
    return f"{told}, and try again."


def _what_may_go(place: Path, folder: Path) -> str:
    """Copies that restores and interrupted copying left behind."""
    left = [
        it
        for it in sorted(folder.iterdir())
        if it.name.startswith(f"{place.name}.")
        and (".before-restore" in it.name or it.name.endswith((".unfinished", ".copying")))
    ]
    named = (f"{it.name} ({it.stat().st_size / _MEGABYTE:,.1f} MB)" for it in left)
    return f" (if you do not need it: {', '.join(named)})" if left else ""
