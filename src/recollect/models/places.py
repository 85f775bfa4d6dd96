"""Where models lie, and how something made once is found again or made."""

from __future__ import annotations

import importlib.util
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from recollect.domain.usual_places import cache_folder
from recollect.models.faults import ModelDamaged
from recollect.models.sealed_folder import is_sealed, read_sealed, write_sealed

_log = logging.getLogger(__name__)

# Our own data package: prepared folders, ready to be used in place.
DATA_PACKAGE: Final = "recollect_minilm"


def folder_named(name: str) -> Path:
    """The folder that somebody named; a `~name` that nobody has is left as it is."""
    return Path(os.path.expanduser(name))  # noqa: PTH111  (pathlib fails on an unknown one)


def is_folder(path: Path) -> bool:
    """Whether a folder is there; pathlib fails on a name that no file could have."""
    return os.path.isdir(path)  # noqa: PTH112


def is_file(path: Path) -> bool:
    """Whether a file is there; pathlib fails on a name that no file could have."""
    return os.path.isfile(path)  # noqa: PTH113


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The folder that settings name, if any, and the folder for what is made here."""

    given: Path | None = None
    cache: Path

    @classmethod
    def at(cls, *, given: Path | None, cache: Path | None) -> Places:
        return cls(given=given, cache=(cache or cache_folder()) / "models")

    def roots(self) -> list[Path]:
        """The folders that may hold prepared ones, first choice first."""
        named = [self.given, package_folder(DATA_PACKAGE), self.cache]
        return [root for root in named if root is not None]

    def prepared(self, name: str) -> Path | None:
        """Where the prepared folder of this name is, not yet looked into."""
        return next((root / name for root in self.roots() if is_sealed(root / name)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Files of a prepared folder, and what was noticed on the way to them."""

    files: dict[str, bytes]
    notes: tuple[str, ...] = ()


def find_or_make(places: Places, name: str, make: Callable[[], dict[str, bytes]]) -> Prepared:
    """The first whole folder of this name; otherwise make its files and keep them in the cache."""
    damaged: list[str] = []
    for root in places.roots():
        try:
            files = read_sealed(root / name)
        except ModelDamaged as problem:
            _log.warning("%s; looking further", problem.message)
            damaged.append(problem.message)
            continue
        if files is not None:
            return Prepared(files=files, notes=tuple(damaged))
    files = make()
    try:
        write_sealed(places.cache / name, files)
    except OSError as problem:
        note = (
            f"{places.cache} cannot be written ({problem.strerror}), so every process prepares "
            f"{name} anew: make the folder writable, or name another with embedding.cache_dir"
        )
        _log.warning("%s", note)
        return Prepared(files=files, notes=(note,))
    return Prepared(files=files)


def package_folder(package: str) -> Path | None:
    """The folder of an installed package, which is not imported for this."""
    found = importlib.util.find_spec(package)
    locations = (found.submodule_search_locations or []) if found else []
    return next((Path(location) for location in locations), None)
