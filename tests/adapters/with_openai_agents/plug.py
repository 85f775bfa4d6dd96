"""Put our session in the place of the SDK's own, for the tests of openai-agents.

Tests of SQLite itself look into a database of the SDK; they are left out by name.
"""

import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import agents
import pytest

from recollect.adapters.openai_agents import RecollectSession
from recollect.sync import Memory

_folder = tempfile.TemporaryDirectory(prefix="recollect-session-")
_memory = Memory.open(Path(_folder.name) / "memory.db")
_users = count()

# What they test is the class they patch or read: its files, locks, connections and threads.
INTERNAL = (
    "await_mutation",
    "worker_thread",
    "retired_connections",
    "closed_rejects",
    "corrupt",
    "file_lock",
    "session_failed",
    "rollback_failure",
    "quarantined",
    "post_commit",
)


class SessionOfAFile(RecollectSession):
    """Our session where the SDK opens a file: the same name, the same memory."""

    def __init__(
        self, session_id: str, db_path: str | Path = ":memory:", *, session_settings: Any = None
    ) -> None:
        where = f"user-{next(_users)}" if str(db_path) == ":memory:" else str(db_path)
        user = where.replace("/", "_")[-100:]
        super().__init__(session_id, _memory.scope(user=user), session_settings)

    def close(self) -> None:
        """Do nothing: the memory is closed in the end."""


class SessionWithHistory(RecollectSession):
    """Our session with a history to begin with."""

    def __init__(self, session_id: str = "test", history: list[Any] | None = None) -> None:
        super().__init__(session_id, _memory.scope(user=f"user-{next(_users)}"))
        if history:
            self._bridge.run(lambda: self.add_items(history))


agents.SQLiteSession = SessionOfAFile


def pytest_configure() -> None:
    """Replace the list that the tests keep a history in."""
    from tests.utils import simple_session

    simple_session.SimpleListSession = SessionWithHistory


def pytest_collection_modifyitems(config: Any, items: list[pytest.Item]) -> None:
    left_out = [it for it in items if any(word in it.name for word in INTERNAL)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [it for it in items if it not in left_out]


def pytest_sessionfinish() -> None:
    _memory.close()
    _folder.cleanup()
