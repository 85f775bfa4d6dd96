"""Memory for blocking code: the calls of `recollect.Memory` without await."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.sync.memory import Memory

if TYPE_CHECKING:
    from recollect.sync.session import Session

__all__ = ["Memory", "Session"]


def __getattr__(name: str) -> Any:
    if name != "Session":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Imported when it is used: a session needs far more than a memory.
    from recollect.sync.session import Session

    return Session
