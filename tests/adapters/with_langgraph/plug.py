"""Put our store in the place of LangGraph's own, for the tests of langgraph-checkpoint."""

import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import langgraph.store.memory

from recollect.adapters.langgraph import RecollectStore
from recollect.sync import Memory

_folder = tempfile.TemporaryDirectory(prefix="recollect-store-")
_memory = Memory.open(Path(_folder.name) / "memory.db")
_users = count()


class StoreOfAUser(RecollectStore):
    """Our store for somebody new, so that every store begins empty."""

    def __init__(self, **options: Any) -> None:
        super().__init__(_memory.scope(user=f"user-{next(_users)}"), **options)


langgraph.store.memory.InMemoryStore = StoreOfAUser


def pytest_sessionfinish() -> None:
    _memory.close()
    _folder.cleanup()
