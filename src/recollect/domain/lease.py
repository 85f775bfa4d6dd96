"""Names of lease holders, so that the lease of a dead process is free at once."""

from __future__ import annotations

import os
import platform
from typing import Final

from recollect.domain.ids import new_id

_MAX_NAME_CHARACTERS: Final = 20


def new_holder() -> str:
    """Return the name of a new holder: its machine, its process and a number."""
    return f"{_machine()}/{os.getpid()}/{new_id('job')}"


def is_gone(holder: str) -> bool:
    """Return whether the process of a holder is known to have ended."""
    machine, _, rest = holder.partition("/")
    process = rest.partition("/")[0]
    # Other machines cannot be asked, and on Windows `os.kill` would end the process.
    if machine != _machine() or not process.isdecimal() or os.name != "posix":
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _machine() -> str:
    return platform.node()[:_MAX_NAME_CHARACTERS].replace("/", "-")
