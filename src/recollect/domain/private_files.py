"""Files and folders that only their owner may read, whatever the process's umask is.

On Windows, where access is inherited from the folder, the modes change nothing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any, Final

_FILE: Final = 0o600
_FOLDER: Final = 0o700
_OTHERS: Final = 0o077


def make_folder(folder: Path) -> None:
    """Make a folder and those above it that are missing; one that is there stays as it is."""
    for missing in reversed([it for it in (folder, *folder.parents) if not it.exists()]):
        try:
            missing.mkdir(_FOLDER)
        except FileExistsError:
            continue
        # The umask may have taken even the owner's own rights away.
        missing.chmod(_FOLDER)
    # Told as `mkdir` tells it when something else lies in its place.
    folder.mkdir(exist_ok=True)


def make_file(path: Path) -> None:
    """Make an empty file, unless there is one."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _FILE)
    except FileExistsError:
        return
    os.close(handle)
    path.chmod(_FILE)


def open_new(path: Path, mode: str, **options: Any) -> IO[Any]:
    """Open a file to write to, like `Path.open`; if it is new, only its owner may read it."""
    make_file(path)
    return path.open(mode, **options)


def make_private(path: Path) -> None:
    """Take away everybody else's access to a file or a folder."""
    path.chmod(_FOLDER if path.is_dir() else _FILE)


def is_private(path: Path) -> bool:
    """Return whether nobody but the owner has access, as far as the system can tell."""
    return os.name != "posix" or not path.stat().st_mode & _OTHERS
