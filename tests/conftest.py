"""What every test may ask for: a clock that can be turned, and a memory on a real database file."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect import Memory


class TurnedClock:
    """A clock that stands still until a test turns it."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def turn(self, **by: float) -> datetime:
        self.time += timedelta(**by)
        return self.time


@pytest.fixture(scope="session")
def prepared_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the embedding model is prepared, once for all tests."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test sees or touches the settings and data of the person who runs it.

    Search goes by words unless a test asks for `real_model`: most stories are not about meaning,
    and are told faster without.
    """
    for variable in (*os.environ,):
        if variable.upper().startswith(("RECOLLECT_", "MEMORY_", "EMBEDDING_", "QDRANT_")):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "none")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home" / "data"))


@pytest.fixture
def real_model(monkeypatch: pytest.MonkeyPatch, prepared_models: Path, _own_settings: None) -> None:
    """Search by meaning with the real default model."""
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "local")
    monkeypatch.setenv("RECOLLECT_EMBEDDING__CACHE_DIR", str(prepared_models))


@pytest.fixture
def clock() -> TurnedClock:
    return TurnedClock()


@pytest.fixture
def database_path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
async def memory(database_path: Path, clock: TurnedClock) -> AsyncIterator[Memory]:
    async with Memory.open(database_path, clock=clock) as opened:
        yield opened
