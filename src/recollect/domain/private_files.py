"""Files and folders that only their owner may read, whatever the process's umask is.

On Windows, where access is inherited from the folder, the modes change nothing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any, Final

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


def make_private(path: Path) -> None:
    """Remove the access of everybody else to a file or folder."""
    path.chmod(_FOLDER_MODE if path.is_dir() else _FILE_MODE)


def is_private(path: Path) -> bool:
    """Return whether only the owner has access, as far as the system can tell."""
    return os.name != "posix" or not path.stat().st_mode & _OTHERS_MODE
