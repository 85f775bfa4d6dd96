"""Every kind of bad input has a code of its own and changes nothing."""

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory, RecollectError
from recollect.domain.record import Evidence
from recollect.errors import InvalidInput
from recollect.settings import Settings
from tests.services import database_of

_NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001  (the point of the test)
_WEST = timezone(timedelta(hours=-5))


def _nested(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(depth):
        inner = {"a": inner}
    return inner


async def _async(value: object) -> object:
    return value


_BAD: dict[str, tuple[str, Callable[[Memory], Awaitable[Any]]]] = {
    "empty text": ("empty_text", lambda m: m.remember("")),
    "blank text": ("empty_text", lambda m: m.remember(" \n\t ")),
    "a record of 100,001 characters": ("text_too_large", lambda m: m.remember("x" * 100_001)),
    "a statement of 100,001 characters": ("text_too_large", lambda m: m.write("x" * 100_001)),
    "a proposal of 100,001 characters": (
        "text_too_large",
        lambda m: m.shared.propose("x" * 100_001, "convention"),
    ),
    "10 MB of text": ("text_too_large", lambda m: m.remember("x" * 10_000_000)),
    "NUL byte": ("nul_byte", lambda m: m.remember("a\x00b")),
    "lone surrogate": ("invalid_unicode", lambda m: m.remember("a\udc80b")),
    "not text at all": ("wrong_type", lambda m: m.remember(42)),  # type: ignore[arg-type]
    "unknown kind": ("unknown_value", lambda m: m.remember("x", kind="dream")),
    "unknown field": ("unknown_field", lambda m: m.remember("x", colour="red")),
    "settable recorded_at": (
        "unknown_field",
        lambda m: m.remember("x", recorded_at=datetime.now(UTC)),
    ),
    "steps of a fact": ("wrong_kind_fields", lambda m: m.remember("x", steps=["a"])),
    "outcome of a procedure": (
        "wrong_kind_fields",
        lambda m: m.remember("x", kind="procedural", outcome="done"),
    ),
    "confidence of 2": ("out_of_range", lambda m: m.remember("x", confidence=2)),
    "naive time": ("naive_datetime", lambda m: m.remember("x", created_at=_NAIVE)),
    "validity that ends first": (
        "bad_interval",
        lambda m: m.remember(
            "x",
            valid_from=datetime(2026, 2, 1, tzinfo=UTC),
            valid_to=datetime(2026, 1, 1, tzinfo=UTC),
        ),
    ),
    "title too long": ("text_too_large", lambda m: m.remember("x", title="t" * 256)),
    "metadata that is no JSON": ("wrong_type", lambda m: m.remember("x", metadata={"a": {1}})),
    "one bad of many": ("empty_text", lambda m: m.remember_many(["good", ""])),
    "unknown role": ("unknown_role", lambda m: m.observe([{"role": "god", "content": "x"}])),
    "text instead of messages": ("wrong_type", lambda m: m.observe("x")),  # type: ignore[arg-type]
    "empty message": ("empty_text", lambda m: m.observe([{"role": "user", "content": ""}])),
    "naive message time": (
        "naive_datetime",
        lambda m: m.observe([{"role": "user", "content": "x", "at": _NAIVE}]),
    ),
    "empty query": ("empty_text", lambda m: m.recall("  ")),
    "negative limit": ("bad_limit", lambda m: m.recall("x", limit=-1)),
    "limit of zero": ("bad_limit", lambda m: m.list(limit=0)),
    "score beyond one": ("out_of_range", lambda m: m.recall("x", min_score=1.5)),
    "naive filter": ("naive_datetime", lambda m: m.recall("x", since=_NAIVE)),
    "bad cursor": ("bad_cursor", lambda m: m.list(cursor="junk")),
    "unknown status": ("unknown_value", lambda m: m.list(status="asleep")),
    "unknown id": ("not_found", lambda m: m.get("mem_nothing")),
    "unknown id to change": ("not_found", lambda m: m.update("mem_nothing", "x")),
    "unknown id to delete": ("not_found", lambda m: m.delete("mem_nothing")),
    "unknown turn": ("not_found", lambda m: m.turn("turn_nothing")),
    "metadata without a bottom": ("too_deep", lambda m: m.remember("x", metadata=_nested(300))),
    "metadata beyond Python's own limit": (
        "too_deep",
        lambda m: m.remember("x", metadata=_nested(100_000)),
    ),
    "message without a bottom": (
        "too_deep",
        lambda m: m.observe([{"role": "user", "content": "x", "extra": _nested(300)}]),
    ),
    "key that is no text": ("wrong_type", lambda m: m.remember("x", metadata={1: "a", "b": 2})),
    "cursor in other digits": ("bad_cursor", lambda m: m.list(cursor="²~x")),
    "cursor of 40 digits": ("bad_cursor", lambda m: m.list(cursor="9" * 40 + "~x")),
    "cursor with broken text": ("bad_cursor", lambda m: m.turns(cursor="1~\udc80")),
    "cursor that is no text": ("bad_cursor", lambda m: m.list(cursor=5)),  # type: ignore[arg-type]
    "count beyond any database": ("out_of_range", lambda m: m.remember("x", evidence_count=10**30)),
    "time beyond UTC": (
        "bad_time",
        lambda m: m.remember("x", created_at=datetime.max.replace(tzinfo=_WEST)),
    ),
    "filter beyond UTC": (
        "bad_time",
        lambda m: m.list(until=datetime.max.replace(tzinfo=_WEST)),
    ),
    "lone surrogate in a message": (
        "invalid_unicode",
        lambda m: m.observe([{"role": "user", "content": "x", "extra": "a\udc80"}]),
    ),
    "lone surrogate in a reason": ("invalid_unicode", lambda m: m.remember("x", reason="\udc80")),
    "lone surrogate in an id": ("invalid_unicode", lambda m: m.get("\udc80")),
    "lone surrogate in a filter": ("invalid_unicode", lambda m: m.turns(session="\udc80")),
    "lone surrogate in a category": ("invalid_unicode", lambda m: m.list(category="\udc80")),
    "role that is no text": ("unknown_role", lambda m: m.observe([{"role": [], "content": "x"}])),
    "category that is no text": ("wrong_type", lambda m: m.list(category=5)),  # type: ignore[arg-type]
    "kind that is no text": ("wrong_type", lambda m: m.list(kind=5)),  # type: ignore[arg-type]
    "number among many": ("wrong_type", lambda m: m.remember_many([5])),  # type: ignore[list-item]
    "one text instead of many": ("wrong_type", lambda m: m.remember_many("abc")),
    "children as one text": ("wrong_type", lambda m: _async(m.scope(children="sql"))),
    "namespace that is a number": ("bad_namespace", lambda m: m.remember("x", namespace=5)),  # type: ignore[arg-type]
    "namespace of three parts": (
        "bad_namespace",
        lambda m: m.list(namespace=("a", "b", "c")),  # type: ignore[arg-type]
    ),
    "namespace without a user": ("bad_namespace", lambda m: m.list(namespace="sql")),
    "reason that is no text": ("wrong_type", lambda m: m.remember("x", reason=None)),  # type: ignore[arg-type]
    "reason of 5 MB": ("text_too_large", lambda m: m.remember("x", reason="y" * 5_000_000)),
    "message of 20 MB": (
        "text_too_large",
        lambda m: m.observe([{"role": "user", "content": "x", "extra": "y" * 20_000_000}]),
    ),
    "evidence without a turn": (
        "wrong_type",
        lambda m: m.remember("x", evidence=[Evidence(turn=5)]),  # type: ignore[arg-type]
    ),
    "evidence from somewhere": (
        "out_of_range",
        lambda m: m.remember("x", evidence=[Evidence(turn="turn_1", start="a")]),  # type: ignore[arg-type]
    ),
}


@pytest.mark.parametrize("case", _BAD)
async def test_bad_input_is_told_and_changes_nothing(memory: Memory, case: str):
    kept = await memory.remember("This stays as it is")
    before = (await memory.stats()).store
    code, call = _BAD[case]
    with pytest.raises(RecollectError) as refused:
        await call(memory)
    assert refused.value.code == code
    assert (await memory.stats()).store == before
    assert await memory.get(kept.id) == kept


async def test_a_text_too_long_for_a_record_is_a_document(memory: Memory):
    record = await memory.remember("x" * 100_000)
    with pytest.raises(RecollectError, match="at most 100,000") as refused:
        await memory.update(record.id, "x" * 100_001)
    assert (refused.value.code, "recollect kb add" in refused.value.hint) == (
        "text_too_large",
        True,
    )
    assert await memory.get(record.id) == record


@pytest.mark.parametrize(
    "query",
    [
        '"unbalanced',
        "a AND NOT b OR",
        "NEAR(a b, 5)",
        "content:x*",
        "^(((",
        "'; DROP TABLE",
        "-- %_",
    ],
)
async def test_search_syntax_in_a_query_is_only_text(memory: Memory, query: str):
    saved = await memory.remember(f"The note says {query} literally")
    found = await memory.recall(query, min_score=0)
    assert [hit.id for hit in found] in ([saved.id], [])
    assert len(await memory.list()) == 1


async def test_another_body_under_the_same_idempotency_key_is_refused(memory: Memory):
    first = await memory.remember("Pay the invoice", idempotency_key="k1", tags=["b", "a"])
    again = await memory.remember("Pay the invoice", idempotency_key="k1", tags=["b", "a"])
    assert again == first
    with pytest.raises(RecollectError) as refused:
        await memory.remember("Pay it twice", idempotency_key="k1")
    assert refused.value.code == "idempotency_mismatch"
    assert len(await memory.list()) == 1

    other = await memory.scope(user="bob").remember("Something else", idempotency_key="k1")
    assert other.content == "Something else"

    said = [{"role": "user", "content": "hello"}]
    turns = await memory.observe(said, session="s", idempotency_key="k2")
    assert await memory.observe(said, session="s", idempotency_key="k2") == turns
    assert len(await memory.turns(session="s")) == 1


async def test_an_idempotency_key_is_free_again_after_a_day(memory: Memory, clock: Any):
    await memory.remember("Monday's note", idempotency_key="daily")
    clock.turn(hours=25)
    await memory.remember("Tuesday's note", idempotency_key="daily")
    assert len(await memory.list()) == 2


@pytest.mark.sqlite(reason="it is about a file")
async def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path):
    path = tmp_path / "letter.db"
    path.write_bytes(b"Dear reader, this is not a database. " * 100)
    with pytest.raises(RecollectError) as refused:
        await Memory.open(path)
    assert refused.value.code == "database_corrupt"
    assert path.read_bytes().startswith(b"Dear reader")


async def _read_everything(path: Path) -> None:
    async with Memory.open(path) as memory:
        await memory.list(limit=1000)
        await memory.recall("note 7", limit=1000)


@pytest.mark.sqlite(reason="it is about a file")
async def test_a_damaged_database_is_told(database_path: Path):
    async with Memory.open(database_path) as memory:
        await memory.remember_many([f"note {number} " + "x" * 500 for number in range(200)])
    damaged = bytearray(database_path.read_bytes())
    damaged[20 * 4096 : 60 * 4096] = b"\xff" * (40 * 4096)
    database_path.write_bytes(damaged)
    with pytest.raises(RecollectError) as refused:
        await _read_everything(database_path)
    assert refused.value.code == "database_corrupt"


@pytest.mark.sqlite(reason="it is about a file")
async def test_a_read_only_database_refuses_writes_and_keeps_what_it_has(database_path: Path):
    async with Memory.open(database_path) as memory:
        await memory.remember("Carved in stone")
    settings = Settings.load({"storage": {"path": database_path}})
    async with Memory.open(settings) as memory:
        # As root no file is read-only by its permissions, so the database itself is told to be.
        database_of(memory)._writing.dispose()  # type: ignore[attr-defined]
        from sqlalchemy import event

        event.listen(
            database_of(memory)._writing,  # type: ignore[attr-defined]
            "connect",
            lambda connection, _: connection.execute("PRAGMA query_only=ON"),
        )
        with pytest.raises(RecollectError) as refused:
            await memory.remember("Too late")
        assert refused.value.code == "database_read_only"
        assert len(await memory.list()) == 1


@pytest.mark.sqlite(reason="it is about a file")
async def test_a_full_disk_loses_nothing_that_was_acknowledged(database_path: Path):
    async with Memory.open(database_path) as memory:
        kept = await memory.remember("Written while there was room")

        def limit(connection: Any) -> None:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")

        await database_of(memory).write(limit)
        with pytest.raises(RecollectError) as refused:
            await memory.remember("x" * 100_000)
        assert refused.value.code == "disk_full"
        assert await memory.get(kept.id) == kept
        assert [hit.id for hit in await memory.recall("written room")] == [kept.id]
    connection = sqlite3.connect(database_path)
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    connection.close()


@pytest.mark.sqlite(reason="a server needs no folder")
async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RecollectError) as refused:
        await Memory.open(Settings.load({"data_dir": tmp_path / "file" / "sub"}))
    assert refused.value.code == "database_unreachable"


async def test_a_mistyped_place_makes_nothing(tmp_path: Path):
    with pytest.raises(RecollectError) as refused:
        await Memory.open(tmp_path / "nonexistent" / "x.db")
    assert refused.value.code == "no_such_folder"
    (tmp_path / "passwd").touch()
    with pytest.raises(RecollectError) as refused:
        await Memory.open(tmp_path)
    assert refused.value.code == "not_a_data_folder"
    assert [it.name for it in tmp_path.iterdir()] == ["passwd"]


@pytest.mark.sqlite(reason="it is about a file")
async def test_the_database_of_another_program_is_left_alone(tmp_path: Path):
    path = tmp_path / "songs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE songs (title)")
        connection.execute("INSERT INTO songs VALUES ('Blue in Green')")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(RecollectError) as refused:
        await Memory.open(path)
    assert refused.value.code == "not_our_database"
    assert path.read_bytes() == before


@pytest.mark.sqlite(reason="it is about a file")
@pytest.mark.parametrize("name", ["what?.db", "no#1.db", "100%25.db", "file:x?mode=ro.db"])
async def test_a_path_is_taken_as_it_is_written(tmp_path: Path, name: str):
    async with Memory.open(tmp_path / name) as memory:
        await memory.remember("Kept here and nowhere else")
    # The database, and beside it where the audit stands.
    assert {path.name for path in tmp_path.iterdir()} == {name, f"{name}-audit-anchor.json"}
    async with Memory.open(tmp_path / name) as memory:
        assert len(await memory.list()) == 1


async def test_a_memory_that_was_not_awaited_says_how_it_is_opened(database_path: Path):
    opening: Any = Memory.open(database_path)
    with pytest.raises(InvalidInput) as of_a_call:
        await opening.remember("我喜欢绿茶")
    with pytest.raises(InvalidInput) as of_a_plain_with, opening:
        pass
    for refused in (of_a_call, of_a_plain_with):
        assert refused.value.code == "not_open"
        assert "async with" in refused.value.hint
        assert "recollect.sync" in refused.value.hint
    assert not hasattr(opening, "__len__")
