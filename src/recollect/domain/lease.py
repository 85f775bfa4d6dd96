"""Who holds a lease, so that nobody waits for the end of a dead process's."""

from __future__ import annotations

import os
import platform
from typing import Final

from recollect.domain.ids import new_id

_LONGEST_NAME: Final = 20


def new_holder() -> str:
    """Return a name for a new holder: its machine, its process and a number."""
    return f"{_machine()}/{os.getpid()}/{new_id('job')}"


def is_gone(holder: str) -> bool:
    """Return whether the process behind a name is known to have ended."""
    machine, _, rest = holder.partition("/")
    process = rest.partition("/")[0]
    # Elsewhere nobody can know, and on Windows asking would end it.
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
    return platform.node()[:_LONGEST_NAME].replace("/", "-")
