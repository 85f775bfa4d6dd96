"""The place of a memory, as somebody wrote it."""

from __future__ import annotations

import os
import re
from errno import ENAMETOOLONG
from pathlib import Path
from typing import Final

from recollect.errors import SettingsError

_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_USUAL_HINT: Final = "Name a database file or a data folder, or leave it out for the usual place."
_DATABASE_SUFFIXES: Final = frozenset({".db", ".sqlite", ".sqlite3"})
# What a data folder may hold before its database is made: our own, and what file systems put there.
_OURS: Final = frozenset({"memory", "journal", "servers", "logs", "settings.toml", "lost+found"})


def is_database_file(path: Path) -> bool:
    """Return whether a place names a database file; any other is a data folder."""
    return path.suffix.lower() in _DATABASE_SUFFIXES


def checked_place(place: str | Path) -> Path:
    """The path itself; what is meant as something else would become a folder of that name."""
    if not isinstance(place, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _refusal(f"must be a path, not {type(place).__name__}")
    if place == "":
        # A variable of a shell that is not set; the folder it started in is nobody's choice.
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
    # An unknown `~name` is told by whoever expands it.
    _require_own_or_new(Path(os.path.expanduser(path)))  # noqa: PTH111
    return path


def _require_possible(place: str | Path) -> None:
    try:
        str(place).encode()
        os.stat(place)  # noqa: PTH116  (as it is written)
    except ValueError:
        raise _refusal(f"is no name that a file can have: {str(place)!r}") from None
    except OSError as problem:
        # Whatever else keeps it from being used is told by whoever opens it.
        if problem.errno == ENAMETOOLONG:
            raise _refusal("has a longer name than a file can have") from None


def _require_own_or_new(path: Path) -> None:
    """Refuse a place that is more likely a mistake than a wish for a new memory."""
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
    """Return what is in a folder that is no data folder of ours; nothing when it may be one."""
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
        if name not in _OURS
        and not name.startswith(".")
        # Agents may have databases of their own there, with files beside them.
        and not any(suffix in name.lower() for suffix in _DATABASE_SUFFIXES)
    ]


def _refusal(problem: str, *, code: str = "bad_place", hint: str = _USUAL_HINT) -> SettingsError:
    return SettingsError(
        f"The place of the memory {problem}; nothing was opened", code=code, hint=hint
    )
