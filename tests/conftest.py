"""What every test may ask for: a clock that can be turned, and a memory on a real database file."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from recollect import Memory
from recollect.assemble import memory as assembling
from recollect.cli import command
from recollect.settings import Settings
from recollect.testing import ManualClock as TurnedClock
from tests.built_once import build_once
from tests.database_servers import Running, Server, server_of
from tests.fakes import FakeJudge
from tests.own_settings import own_settings as own_settings
from tests.services import without_background_work

# How long an example takes depends on the machine, and says nothing about the code.
# `make test` plays the same examples each time; `make soak` searches for new ones.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("searching", deadline=None, derandomize=False)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--database",
        default="sqlite",
        choices=("sqlite", "json", "postgresql", "mysql", "seekdb"),
        help="where memories of tests lie; a server is started by the run itself",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Search for no garbage while tests are collected: nearly all of it stays."""
    # What hands out tests collects none, and would never be told that they are collected.
    if hasattr(config, "workerinput"):
        gc.disable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is about another kind of store than the one that memories lie in."""
    kind = config.getoption("--database")
    unfit = {"sqlite": ("server",), "json": ("sqlite", "server", "several_programs")}.get(
        kind, ("sqlite",)
    )
    left_out = [item for item in items if any(map(item.get_closest_marker, unfit))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """Let the search for garbage pass over what was imported and collected: it stays."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _built_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        build_once(patched)
        yield


@pytest.fixture(scope="session", autouse=True)
def database_server(request: pytest.FixtureRequest) -> Iterator[Server | None]:
    """The database server that the run asks for, started on first use; None for SQLite."""
    kind = request.config.getoption("--database")
    if kind == "sqlite":
        yield None
        return
    server = Running.server = server_of(kind)
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def _on_server(database_server: Server | None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a database on the server stand for every file that a test opens as a memory."""
    if database_server is None:
        yield
        return
    found = assembling.settings_at

    def on_server(where: object) -> Settings:
        settings = found(where)
        if settings.is_temporary or settings.server_url:
            return settings
        url = database_server.url_for(settings.database)
        # What lies beside a file is looked for beside it.
        storage = settings.storage.model_validate(
            {**settings.storage.model_dump(), "url": url, "path": None}
        )
        return settings.model_copy(update={"storage": storage})

    monkeypatch.setattr(assembling, "settings_at", on_server)
    # The file that a command looks for is not there.
    monkeypatch.setattr(command, "_has_memory", lambda _: True)
    before = database_server.places
    yield
    database_server.drop_all_but(before)


@pytest.fixture
def real_model(monkeypatch: pytest.MonkeyPatch, own_settings: None) -> None:
    """Search by meaning with the real default model."""
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "local")


@pytest.fixture
async def judged(
    monkeypatch: pytest.MonkeyPatch, real_model: None, database_path: Path, clock: TurnedClock
) -> AsyncIterator[Memory]:
    """A memory as it is by default: the real models search and judge."""
    monkeypatch.setenv("RECOLLECT_WRITING__JUDGE", "auto")
    async with Memory.open(database_path, clock=clock) as opened:
        yield opened


@pytest.fixture
def nobody_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be done in the background, however long a test takes on a busy machine."""
    without_background_work(monkeypatch)


@pytest.fixture
def clock() -> TurnedClock:
    return TurnedClock()


@pytest.fixture
def database_path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def judge() -> FakeJudge:
    """A judge that knows how statements relate as far as a test says so."""
    return FakeJudge()


@pytest.fixture
async def memory(
    database_path: Path, clock: TurnedClock, judge: FakeJudge
) -> AsyncIterator[Memory]:
    async with Memory.open(database_path, clock=clock, judge=judge) as opened:
        yield opened
