"""The services behind an open memory, for tests that arrange what no verb does.

This is the only place where a test reaches behind the facade.
"""

from __future__ import annotations

import pytest

from recollect import Memory
from recollect.assemble.container import Wiring
from recollect.assemble.lifetime import Lifetime
from recollect.backends.sql.database import Database
from recollect.backends.sql.store import SqlStore


def services(memory: Memory) -> Wiring:
    """Return the services that a memory delegates to."""
    found = memory._parts
    assert isinstance(found, Wiring)
    return found


def store_of(memory: Memory) -> SqlStore:
    """Return the store that holds the records of this memory."""
    return services(memory).here.store


def database_of(memory: Memory) -> Database:
    """Return the database that this memory is stored in."""
    return services(memory).database


def without_background_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let memories that are opened from now on run no jobs by themselves."""
    monkeypatch.setattr(Lifetime, "start", lambda self: None)
