"""Where models lie."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path


def folder_named(name: str) -> Path:
    """The folder that somebody named; a `~name` that nobody has is left as it is."""
    return Path(os.path.expanduser(name))  # noqa: PTH111  (pathlib fails on an unknown one)


def is_folder(path: Path) -> bool:
    """Whether a folder is there; pathlib fails on a name that no file could have."""
    return os.path.isdir(path)  # noqa: PTH112


def is_file(path: Path) -> bool:
    """Whether a file is there; pathlib fails on a name that no file could have."""
    return os.path.isfile(path)  # noqa: PTH113


def package_folder(package: str) -> Path | None:
    """The folder of an installed package, which is not imported for this."""
    found = importlib.util.find_spec(package)
    locations = (found.submodule_search_locations or []) if found else []
    return next((Path(location) for location in locations), None)
