"""Checks of the place of a memory: a database file or a data folder."""

from __future__ import annotations

import os
import re
from errno import ENAMETOOLONG
from pathlib import Path
from typing import Final

from recollect.errors import SettingsError

_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_DEFAULT_HINT: Final = "Name a database file or a data folder, or leave it out for the usual place."
_DATABASE_SUFFIXES: Final = frozenset({".db", ".sqlite", ".sqlite3"})
# What a data folder may hold before its database exists: our files, and those of file systems.
_OWN_NAMES: Final = frozenset(
    {"memory", "journal", "servers", "logs", "settings.toml", "lost+found"}
)


def is_database_file(path: Path) -> bool:
    """Return whether a place is a database file; otherwise it is a data folder."""
    return path.suffix.lower() in _DATABASE_SUFFIXES


def checked_place(place: str | Path) -> Path:
    """Return the path, or raise an error if it is probably a mistake."""
    if not isinstance(place, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _refusal(f"must be a path, not {type(place).__name__}")
    if place == "":
        # An empty path comes from a shell variable that is not set.
        raise _refusal("is empty", code="no_place")
    if place == ":memory:":
        raise _refusal(
            "is a path, and :memory: is none",
            hint="One that ends with the process: Settings.load({'storage': {'backend': "
            "'in_memory'}}), or RECOLLECT_STORAGE__BACKEND=in_memory.",
        )
    if isinstance(place, str) and _ADDRESS.match(place):
        raise _refusal(f"is a path, and {place.partition('://')[0]}://… is an address")
    _require_possible(place)
    path = Path(place)
    # An unknown `~name` is reported where it is expanded.
    _require_own_or_new(Path(os.path.expanduser(path)))  # noqa: PTH111
    return path


def _require_possible(place: str | Path) -> None:
    try:
        str(place).encode()
        os.stat(place)  # noqa: PTH116  (as it is written)
    except ValueError:
        raise _refusal(f"is no name that a file can have: {str(place)!r}") from None
    except OSError as problem:
        # Other problems are reported when it is opened.
        if problem.errno == ENAMETOOLONG:
            raise _refusal("has a longer name than a file can have") from None


def _require_own_or_new(path: Path) -> None:
    """Raise an error for a place that is more likely a mistake than a new memory."""
    parent = path.absolute().parent
    if not path.exists() and not parent.exists():
        raise _refusal(
            f"would be in {parent}, and there is no such folder",
            code="no_such_folder",
            hint=f"Make the folder first (mkdir -p '{parent}'), or name a place in one that is "
            f"there: '{path.name}' is in the folder you are in; none at all is the usual place.",
        )
    if path.is_dir() and (others := _others_in(path)):
        raise _refusal(
            f"cannot be the folder {path}, which holds other things ({others[0]} …)",
            code="not_a_data_folder",
            hint=f"Name a database file in it, '{path / 'memory.db'}', or a folder for memory "
            f"alone, '{path / 'recollect'}'.",
        )


def _others_in(folder: Path) -> list[str]:
    """Return the files of a folder that cannot be a data folder; none if it may be one."""
    try:
        names = sorted(entry.name for entry in folder.iterdir())
        is_ours = any(folder.glob("memory/memory.db*"))
    except OSError:
        return []
    if is_ours:
        return []
    return [
        name
        for name in names
        if name not in _OWN_NAMES
        and not name.startswith(".")
        # Agents may have their own databases there, with files beside them.
        and not any(suffix in name.lower() for suffix in _DATABASE_SUFFIXES)
    ]


def _refusal(problem: str, *, code: str = "bad_place", hint: str = _DEFAULT_HINT) -> SettingsError:
    return SettingsError(
        f"The place of the memory {problem}; nothing was opened", code=code, hint=hint
    )
