"""A server that lacks what a memory needs is refused; nothing half-made is taken for a memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, inspect

from recollect import Memory
from recollect.assemble.doctor import diagnose
from recollect.assemble.stores import copy_store
from recollect.backends.sql.dialects import mysql_kinds
from recollect.domain.stats import Finding
from recollect.errors import StorageError
from recollect.settings import Settings
from recollect.settings.place import driver_url
from tests.database_servers import Server, storage_of

pytestmark = pytest.mark.server

_KIND_TOLD = mysql_kinds.kind_told
_NAME = "unfit"


@pytest.fixture
def settings(server: Server, tmp_path: Path) -> Iterator[Settings]:
    """An empty database on a server that speaks MySQL's protocol."""
    if server.root != "mysql":
        pytest.skip("PostgreSQL makes all tables in one transaction")
    server.run(f"CREATE DATABASE {_NAME}", server.root)
    yield Settings.load({"storage": {"url": server.url(_NAME)}, "data_dir": tmp_path / "data"})
    server.run(f"DROP DATABASE {_NAME}", server.root)


def _lack(monkeypatch: pytest.MonkeyPatch, **needed: Any) -> None:
    """Let the server be one that lacks something: ask more of it than it has."""
    monkeypatch.setattr(mysql_kinds, "kind_told", lambda told: replace(_KIND_TOLD(told), **needed))


def _tables(settings: Settings) -> list[str]:
    engine = create_engine(driver_url(settings.server_url))
    try:
        return inspect(engine).get_table_names()
    finally:
        engine.dispose()


async def _database(settings: Settings) -> Finding:
    return next(it for it in (await diagnose(settings)).findings if it.part == "database")


_LACKING = pytest.mark.parametrize(
    ("needed", "words"),
    [
        ({"oldest": (99, 1)}, "it is older than .* 99.1"),
        ({"collation": "utf8mb4_exact_bin"}, "it has no utf8mb4_exact_bin"),
    ],
)


@_LACKING
async def test_nothing_is_made_on_a_server_that_lacks_something(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    needed: dict[str, Any],
    words: str,
):
    _lack(monkeypatch, **needed)
    with pytest.raises(StorageError, match=f"{words}.*Nothing was made") as refused:
        await Memory.open(settings)
    assert refused.value.code == "database_unfit"
    assert refused.value.hint
    assert _tables(settings) == []
    found = await _database(settings)
    assert found.verdict == "problem"
    assert re.search(words, found.message)


@_LACKING
async def test_nothing_is_copied_to_a_server_that_lacks_something(
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    needed: dict[str, Any],
    words: str,
):
    source = Settings.load({"storage": storage_of(tmp_path / "source.db")})
    async with Memory.open(source) as memory:
        await memory.remember("Ann keeps a teapot")
    _lack(monkeypatch, **needed)
    with pytest.raises(StorageError, match=words):
        await copy_store(source, settings)
    assert _tables(settings) == []


async def test_tables_that_were_only_begun_are_no_memory(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as lacking:
        _lack(lacking, parser=" WITH PARSER unheard_of")
        for _ in range(2):
            with pytest.raises(StorageError):
                await Memory.open(settings)
        assert "records" in _tables(settings)
        assert "alembic_version" not in _tables(settings)
        assert "tables are created with the first write" in (await _database(settings)).message
    # Once the server has what was lacking, the rest is made.
    async with Memory.open(settings) as memory:
        await memory.remember("Ann drinks green tea")
        assert len(await memory.list()) == 1
