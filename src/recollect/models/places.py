"""Paths of model folders."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path


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
