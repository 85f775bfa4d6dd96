"""Model folders: their paths, and sealed ones, read only if every file is intact."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from recollect.models.faults import ModelDamaged
from recollect.models.read_files import note_read, state_of, was_read

SEAL: Final = "sha256.json"


class SealedFiles(Mapping[str, bytes]):
    """The files of a sealed folder by name, each read and verified when it is wanted.

    None is held: a model of which a session was opened is in memory already.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            seal: Any = json.loads((folder / SEAL).read_bytes())
            self._seal = dict(cast("dict[str, str]", seal))
        except (OSError, ValueError, TypeError) as problem:
            raise ModelDamaged(f"{folder} cannot be read: {problem}") from None

    def __getitem__(self, name: str) -> bytes:
        return self.place(name).read_bytes()

    def place(self, name: str) -> Path:
        """Return where a verified file is, for those who map it or read it piece by piece."""
        expected, file = self._seal[name], self._folder / name
        return file if was_read(file, expected) else self.read_through(name)

    def read_through(self, name: str) -> Path:
        """Return where a file is, which is verified however often it was before."""
        expected, file = self._seal[name], self._folder / name
        try:
            state = state_of(file)
            with file.open("rb") as opened:
                found = hashlib.file_digest(opened, "sha256").hexdigest()
        except (FileNotFoundError, NotADirectoryError):
            raise ModelDamaged(f"{self._folder} lacks {name}") from None
        except OSError as problem:
            raise ModelDamaged(f"{self._folder} cannot be read: {problem}") from None
        if found != expected:
            raise ModelDamaged(f"{file} is damaged (its sha256 is not the recorded one)")
        note_read(file, expected, state)
        return file

    def __contains__(self, name: object) -> bool:
        return name in self._seal

    def __iter__(self) -> Iterator[str]:
        return iter(self._seal)

    def __len__(self) -> int:
        return len(self._seal)


def is_whole(folder: Path) -> bool:
    """Return whether the folder exists with every file intact."""
    try:
        files = SealedFiles(folder)
        for name in files:
            files.read_through(name)
    except ModelDamaged:
        return False
    return True


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# --- Paths of model folders -----------------------------------------------------------------------


def folder_named(name: str) -> Path:
    """Return the path of a folder with `~` expanded; an unknown `~name` is left as it is."""
    return Path(os.path.expanduser(name))  # noqa: PTH111  (pathlib fails on an unknown one)


def is_folder(path: Path) -> bool:
    """Return whether a folder exists, also for names that make pathlib fail."""
    return os.path.isdir(path)  # noqa: PTH112


def is_file(path: Path) -> bool:
    """Return whether a file exists, also for names that make pathlib fail."""
    return os.path.isfile(path)  # noqa: PTH113


def package_folder(package: str) -> Path | None:
    """Return the folder of an installed package without importing it."""
    found = importlib.util.find_spec(package)
    locations = (found.submodule_search_locations or []) if found else []
    return next((Path(location) for location in locations), None)
