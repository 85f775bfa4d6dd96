"""The schema only ever moves forward, with data, and never behind the code's back."""

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from recollect import Memory, RecollectError
from recollect.backends.sql.migrate import alembic_config, bring_up_to_date, create, upgrade
from recollect.backends.sql.schema import HEAD_REVISION, metadata
from recollect.backends.sql.sqlite_database import SqliteDatabase
from tests.database_servers import ask

# One small database for every schema version that was ever released, each with the same content.
_RELEASED = sorted((Path(__file__).parent.parent / "data" / "schemas").glob("*.db.gz"))


def _full_text(connection: Connection) -> list[str]:
    made = "SELECT sql FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%' ORDER BY name"
    return list(connection.scalars(text(made)))


def _tables(connection: Connection) -> dict[str, list[tuple[object, ...]]]:
    names = connection.scalars(text("SELECT name FROM sqlite_master WHERE type='table'")).all()
    return {
        name: [tuple(row) for row in connection.execute(text(f"PRAGMA table_info('{name}')"))]
        for name in names
    }


def test_migrations_lead_to_the_schema_that_the_code_knows(tmp_path: Path):
    migrated, created = (
        SqliteDatabase(tmp_path / "migrated.db"),
        SqliteDatabase(tmp_path / "created.db"),
    )
    try:
        migrated.write_here(lambda connection: upgrade(connection, migrated.path))
        created.write_here(create)

        def drift(connection: Connection) -> list[object]:
            context = MigrationContext.configure(
                connection,
                opts={"include_object": lambda it, name, kind, *_: "unit_" not in (name or "")},
            )
            return list(compare_metadata(context, metadata))

        assert migrated.read_here(drift) == []
        assert migrated.read_here(_full_text) == created.read_here(_full_text)
        assert migrated.read_here(_tables) == created.read_here(_tables)
    finally:
        migrated.close_here()
        created.close_here()


def test_the_newest_migration_is_the_one_the_code_expects(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "any.db")
    try:
        scripts = database.read_here(
            lambda connection: ScriptDirectory.from_config(alembic_config(connection))
        )
        assert scripts.get_current_head() == HEAD_REVISION
        assert _RELEASED[-1].name == f"{HEAD_REVISION}.db.gz"
    finally:
        database.close_here()


@pytest.mark.sqlite(reason="files of earlier releases")
@pytest.mark.parametrize("released", _RELEASED, ids=lambda path: path.name)
async def test_a_database_of_every_released_schema_opens_with_its_data(
    released: Path, database_path: Path
):
    database_path.write_bytes(gzip.decompress(released.read_bytes()))
    async with Memory.open(database_path) as memory:
        await memory.drain()
        assert (await memory.recall("where are the spare keys"))[0].record is not None
        assert (await memory.recall("备用钥匙在哪里"))[0].content == "备用钥匙在蓝色抽屉里"
        assert (await memory.recall("blue drawer of the desk"))[0].turn is not None
        record = (await memory.recall("where are the spare keys"))[0]
        assert [version.number for version in await memory.history(record.id)] == [1, 2]
        saved = await memory.remember("Something new after the upgrade")
        assert (await memory.recall("something new after upgrade"))[0].id == saved.id


def test_the_model_that_embedded_last_goes_on_answering_in_its_scope(database_path: Path):
    (before,) = [it for it in _RELEASED if it.name == "0004.db.gz"]
    database_path.write_bytes(gzip.decompress(before.read_bytes()))
    with closing(sqlite3.connect(database_path)) as connection:
        connection.execute("INSERT INTO embedding_models VALUES (1, 'old', 2), (2, 'new', 2)")
        made = "INSERT INTO vectors SELECT id, {}, x'00000000' FROM units WHERE scope_id = {}"
        scopes = [row[0] for row in connection.execute("SELECT DISTINCT scope_id FROM units")]
        connection.execute(made.format(1, scopes[0]))
        connection.execute(made.format(2, scopes[0]))
        connection.execute(
            "INSERT INTO scopes SELECT 99, org, workspace, 'empty', user, 1, 1, 0, 0"
            f" FROM scopes WHERE id = {scopes[0]}"
        )
        connection.commit()
    database = SqliteDatabase(database_path)
    try:
        bring_up_to_date(database)
    finally:
        database.close_here()
    with closing(sqlite3.connect(database_path)) as connection:
        served = dict(connection.execute("SELECT id, model_id FROM scopes"))
    assert (served[scopes[0]], served[99]) == (2, None)


async def test_a_database_of_a_newer_version_is_refused_untouched(database_path: Path):
    async with Memory.open(database_path) as memory:
        await memory.remember("From the future")
    stored = "SELECT version_num FROM alembic_version"
    ((ours,),) = ask(database_path, stored)
    ask(database_path, "UPDATE alembic_version SET version_num = '9999'")
    before = ask(database_path, "SELECT * FROM records")

    with pytest.raises(RecollectError) as refused:
        await Memory.open(database_path)
    assert refused.value.code == "database_newer"
    assert "9999" in refused.value.message
    assert ask(database_path, stored) == [("9999",)]
    assert ask(database_path, "SELECT * FROM records") == before
    # A server's database is used again, by the next test.
    ask(database_path, f"UPDATE alembic_version SET version_num = '{ours}'")


def test_bringing_up_to_date_twice_changes_nothing(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "twice.db")
    try:
        bring_up_to_date(database)
        tables = database.read_here(_tables)
        bring_up_to_date(database)
        assert database.read_here(_tables) == tables
    finally:
        database.close_here()
