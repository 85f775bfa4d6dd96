"""Files on this machine: default folders, files for their owner alone, and a full disk."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Final

import platformdirs

from recollect.errors import SettingsError

_FILE_MODE: Final = 0o600
_FOLDER_MODE: Final = 0o700
_OTHERS_MODE: Final = 0o077


def make_folder(folder: Path) -> None:
    """Make a folder and its missing parents; an existing folder is not changed."""
    for missing in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
        try:
            missing.mkdir(_FOLDER_MODE)
        except FileExistsError:
            continue
        # The umask may have removed even the owner's permissions.
        missing.chmod(_FOLDER_MODE)
    # Raises the usual error of `mkdir` if something else has this path.
    folder.mkdir(exist_ok=True)


def make_file(path: Path) -> None:
    """Make an empty file if there is none."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _FILE_MODE)
    except FileExistsError:
        return
    os.close(handle)
    path.chmod(_FILE_MODE)


def open_new(path: Path, mode: str, **options: Any) -> IO[Any]:
    """Open a file for writing, like `Path.open`; a new file is readable only by its owner."""
    make_file(path)
    return path.open(mode, **options)


def write_all(handle: int, content: bytes) -> None:
    """Write all of the content, however little of it one call takes."""
    left = memoryview(content)
    while left:
        left = left[os.write(handle, left) :]


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_private(path: Path) -> None:
    """Remove the access of everybody else to a file or folder."""
    path.chmod(_FOLDER_MODE if path.is_dir() else _FILE_MODE)


def is_read_only(path: Path) -> bool:
    """Return whether a path lies in a file system in which nobody can write."""
    if os.name != "posix":
        return False
    nearest = next(it for it in (path, *path.absolute().parents) if it.exists())
    return bool(os.statvfs(nearest).f_flag & os.ST_RDONLY)


def is_private(path: Path) -> bool:
    """Return whether only the owner has access, as far as the system can tell."""
    return os.name != "posix" or not path.stat().st_mode & _OTHERS_MODE


# --- The default folders for data, settings and caches --------------------------------------------


_NAME: Final = "recollect"


def data_folder() -> Path:
    """Return the default folder for databases."""
    return _folder(platformdirs.user_data_dir)


def config_folder() -> Path:
    """Return the default folder of the settings file."""
    return _folder(platformdirs.user_config_dir)


def cache_folder() -> Path:
    """Return the default folder for files that can be recreated."""
    return _folder(platformdirs.user_cache_dir)


def _folder(user_folder: Callable[[str], str]) -> Path:
    try:
        return Path(user_folder(_NAME))
    except RuntimeError:
        # This happens in containers and services, whose user has no passwd entry and no HOME.
        raise SettingsError(
            "This user has no home folder, which settings and memory are looked for in",
            code="no_home",
            hint="Set HOME to a folder that may be written to.",
        ) from None


# --- Detection of a full disk, and advice on what to delete ---------------------------------------


_MEGABYTE: Final = 1 << 20
# Enough to delete thousands of records.
_WANTED_BYTES: Final = 32 * _MEGABYTE
# A quota or a limit of the process can be full, just like a disk.
_FULL_DISK_ERRNOS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def is_full(problem: OSError) -> bool:
    """Return whether an error means that the disk is full."""
    return problem.errno in _FULL_DISK_ERRNOS


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
