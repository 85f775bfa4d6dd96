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
    return Path(place)


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


def _refusal(problem: str, *, code: str = "bad_place", hint: str = _USUAL_HINT) -> SettingsError:
    return SettingsError(
        f"The place of the memory {problem}; nothing was opened", code=code, hint=hint
    )
