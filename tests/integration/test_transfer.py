"""Memory moves to another database line by line: nothing lost, nothing overwritten."""

import asyncio
import gzip
import io
import json
import time
import tracemalloc
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect import Evidence, Memory, RecollectError, Record
from recollect.backends.sql import schema
from recollect.errors import Conflict, InvalidInput, NotAllowed, NotFound, StorageError
from recollect.transfer import exporter, importer
from tests.conftest import TurnedClock
from tests.database_servers import Running, ask, is_sound
from tests.fakes import FakeEmbedder


@pytest.fixture(autouse=True)
def _by_words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors are not moved but made anew, which a test of its own holds."""
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "none")


@pytest.fixture
async def other(tmp_path: Path, clock: TurnedClock):
    async with Memory.open(tmp_path / "other.db", clock=clock) as opened:
        yield opened


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "_BATCH_LINES", 2)
    monkeypatch.setattr(exporter, "_PROGRESS_EVERY_LINES", 2)


async def lines_of(memory: Memory, *, all_scopes: bool = True) -> list[bytes]:
    written = io.BytesIO()
    await memory.export_to(written, all_scopes=all_scopes)
    return written.getvalue().splitlines(keepends=True)


async def items_of(memory: Memory) -> list[bytes]:
    return (await lines_of(memory))[1:]


async def take_in(memory: Memory, lines: list[bytes], **options: Any):
    return await memory.import_from(io.BytesIO(b"".join(lines)), all_scopes=True, **options)


async def some_memories(memory: Memory, clock: TurnedClock) -> list[Record]:
    """One of everything: all kinds, several scopes, changed, deleted, undone, with turns."""
    ann, sql = memory.scope(user="ann"), memory.scope(user="ann", agent="sql")
    turns = await ann.observe(
        [
            {"role": "user", "name": "安妮", "content": "我喜欢绿茶 ☕", "at": clock.now()},
            {"role": "assistant", "content": [{"type": "text", "text": "noted"}], "task": "t"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "n": 1.5}]},
        ],
        session="晨会",
    )
    clock.turn(minutes=1)
    fact = await ann.remember(
        "安妮喜欢绿茶",
        title="Tea",
        category="preference",
        description="what she drinks",
        tags=["tea", "早上"],
        confidence=0.1 + 0.2,
        importance=1,
        evidence_count=3,
        evidence=[Evidence(turn=turns[0].id, start=0, end=5), Evidence(turn="turn_x")],
        source="chat",
        related=["mem_1"],
        session="晨会",
        task="t",
        created_at=datetime(1969, 7, 20, 20, 17, 40, 123456, tzinfo=UTC),
        valid_from=datetime(2020, 1, 1, tzinfo=UTC),
        valid_to=datetime(2030, 1, 1, tzinfo=UTC),
        expires_at=datetime(2040, 1, 1, tzinfo=UTC),
        tier="short",
        metadata={"深": {"list": [1, 2.5, None, True, "\u2028"]}, "z": 1, "a": 2},
    )
    clock.turn(minutes=1)
    fact = await ann.update(fact.id, "安妮喜欢红茶", tags=["tea"], reason="she said so")
    clock.turn(minutes=1)
    event = await sql.remember(
        "Release 2.1 went out",
        kind="episodic",
        participants=["ann", "bob"],
        outcome="done\nand well",
        artifacts=["v2.1.0"],
        timestamp=clock.now() - timedelta(days=2),
    )
    procedure = await sql.remember(
        "How to deploy",
        kind="procedural",
        trigger="deploy",
        steps=["build", "push"],
        success_rate=0.75,
        usage_count=4,
    )
    await sql.delete(event.id, reason="wrong date")
    clock.turn(minutes=1)
    gone = await memory.remember("Gone and back")
    await memory.delete(gone.id)
    await memory.undo(gone.id)
    await memory.purge((await memory.delete((await memory.remember("Purged")).id)).id)
    return [fact, event, procedure, gone]


async def test_export_import_export_gives_the_same_lines(
    memory: Memory, other: Memory, clock: TurnedClock
):
    await some_memories(memory, clock)
    before = await lines_of(memory)
    clock.turn(days=30)
    done = await take_in(other, before)
    after = await lines_of(other)

    assert (done.added, done.unchanged, done.conflicting, done.bad) == (7, 0, 0, 0)
    assert after[1:] == before[1:]
    assert json.loads(after[0])["counts"] == json.loads(before[0])["counts"]


async def test_the_new_home_knows_all_the_old_one_knew(
    memory: Memory, other: Memory, clock: TurnedClock
):
    fact, event, _, _ = await some_memories(memory, clock)
    await take_in(other, await lines_of(memory))
    old, new = memory.scope(user="ann"), other.scope(user="ann")

    assert await new.get(fact.id) == await old.get(fact.id)
    assert await new.history(fact.id) == await old.history(fact.id)
    early = fact.recorded_at - timedelta(seconds=1)
    assert (await new.get(fact.id, as_of=early)).content == "安妮喜欢绿茶"
    assert list(await new.turns(session="晨会")) == list(await old.turns(session="晨会"))
    assert [(hit.id, hit.score) for hit in await new.recall("红茶")] == [
        (hit.id, hit.score) for hit in await old.recall("红茶")
    ]
    assert [it.id for it in await new.list(tags="tea")] == [fact.id]
    assert len(await new.list(tags="早上")) == 0

    back = await other.scope(user="ann", agent="sql").undo(event.id)
    assert (back.version, back.content) == (3, event.content)
    (said,) = await new.observe([{"role": "user", "content": "one more"}], session="晨会")
    assert said.ordinal == 4


async def test_the_file_is_readable_utf8_with_a_header(memory: Memory, clock: TurnedClock):
    await some_memories(memory, clock)
    header, *lines = await lines_of(memory)
    forms = [json.loads(line) for line in lines]

    assert json.loads(header) == {
        "recollect": "export",
        "format": 6,
        "schema": json.loads(header)["schema"],
        "exported_at": clock.now().isoformat().replace("+00:00", "Z"),
        "counts": {
            "records": 4,
            "versions": 8,
            "turns": 3,
            "archives": 0,
            "conflicts": 0,
            "watermarks": 0,
            "proposals": 0,
            "links": 0,
            "documents": 0,
            "items": 0,
        },
    }
    assert "安妮喜欢红茶".encode() in b"".join(lines)
    assert [form["type"] for form in forms] == ["record"] + ["turn"] * 3 + ["record"] * 3
    first, second = forms[0]["versions"]
    assert first["replaced_at"] == second["recorded_at"]
    assert (second["reason"], second["changed_by"], second["version"]) == ("she said so", "ann", 2)
    assert second["created_at"] == "1969-07-20T20:17:40.123456Z"


async def test_every_field_of_a_record_is_written(memory: Memory):
    await memory.remember("x")
    form = json.loads((await items_of(memory))[0])
    written = {*form, *form["versions"][0]}
    assert {field.name for field in fields(Record)} - written == {"details", "links", "spooled"}


async def test_a_name_in_gz_is_compressed_and_equal_exports_are_equal_files(
    memory: Memory, other: Memory, clock: TurnedClock, tmp_path: Path
):
    await some_memories(memory, clock)
    first, second = tmp_path / "new folder" / "a.jsonl.gz", tmp_path / "b.jsonl.gz"
    counts = await memory.export_to(first, all_scopes=True)
    await memory.export_to(str(second), all_scopes=True)

    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes()) == b"".join(await lines_of(memory))
    assert (await other.import_from(first, all_scopes=True)).added == counts.records + counts.turns


async def test_a_caller_exports_what_it_may_bring_back_and_an_operator_all(
    memory: Memory, clock: TurnedClock
):
    await some_memories(memory, clock)

    async def scopes(view: Memory, *, all_scopes: bool) -> set[tuple[str | None, str | None]]:
        forms = [json.loads(it) for it in (await lines_of(view, all_scopes=all_scopes))[1:]]
        return {(form["scope"]["agent"], form["scope"]["user"]) for form in forms}

    mine, anns, sqls = (None, "me"), (None, "ann"), ("sql", "ann")
    assert await scopes(memory.scope(user="ann"), all_scopes=False) == {anns}
    # What is the user's own belongs to the user, not to every agent: the preference only.
    assert await scopes(memory.scope(user="ann", agent="sql"), all_scopes=False) == {anns, sqls}
    assert await scopes(memory.scope(user="bob"), all_scopes=False) == set()
    assert await scopes(memory, all_scopes=True) == {mine, anns, sqls}


async def test_a_caller_imports_into_its_own_scopes_only(
    memory: Memory, other: Memory, clock: TurnedClock
):
    await some_memories(memory, clock)
    lines = b"".join(await lines_of(memory, all_scopes=True))
    own = b"".join(await lines_of(memory, all_scopes=False))

    assert (await other.import_from(io.BytesIO(own))).added == 1
    with pytest.raises(NotAllowed, match=r"Line 2: .*me may not write to .*ann") as refused:
        await other.import_from(io.BytesIO(lines))
    assert all(it in refused.value.hint for it in ("--user", "--agent", "--all-scopes"))
    assert (await other.scope(user="ann").stats()).store.records == 0
    skipped = await other.import_from(io.BytesIO(lines), skip_bad=True)
    assert (skipped.added, skipped.unchanged, skipped.bad) == (0, 1, 6)
    assert {problem.code for problem in skipped.problems} == {"not_allowed"}


async def test_an_agent_takes_along_the_users_profile_and_nothing_else_of_the_user(
    memory: Memory, other: Memory
):
    agent, ann = memory.scope(user="ann", agent="sql"), memory.scope(user="ann")
    await agent.remember("Ann is left-handed 左撇子", category="user-profile")
    note = await ann.remember("Ann's own note")
    once_a_note = await ann.remember("Ann is tall", category="general")
    await ann.update(once_a_note.id, category="user-profile")
    await ann.observe([{"role": "user", "content": "said to nobody"}], session="s")
    lines = b"".join(await lines_of(agent, all_scopes=False))
    everything = b"".join(await lines_of(memory))

    moved = other.scope(user="ann", agent="sql")
    assert (await moved.import_from(io.BytesIO(lines))).added == 1
    assert [it.content for it in await other.scope(user="ann").list()] == [
        "Ann is left-handed 左撇子"
    ]
    more = await moved.import_from(io.BytesIO(everything), skip_bad=True)
    assert (more.added, more.unchanged, more.bad) == (0, 1, 3)
    assert note.id.encode() not in lines


@pytest.mark.usefixtures("small_batches")
async def test_importing_again_adds_only_what_is_missing(
    memory: Memory, other: Memory, clock: TurnedClock, tmp_path: Path
):
    await some_memories(memory, clock)
    lines = await lines_of(memory)
    await take_in(other, lines[:4], skip_bad=True)
    rest = await take_in(other, lines)
    versions = _rows(tmp_path / "other.db", "SELECT id, version FROM scopes")
    again = await take_in(other, lines)

    assert (rest.added, rest.unchanged) == (4, 3)
    assert (again.added, again.unchanged, again.conflicting) == (0, 7, 0)
    assert await items_of(other) == lines[1:]
    assert _rows(tmp_path / "other.db", "SELECT id, version FROM scopes") == versions


async def test_what_has_moved_on_since_is_left_as_it_is(memory: Memory, other: Memory):
    record = await memory.remember("version one")
    lines = await lines_of(memory)
    await take_in(other, lines)
    await other.update(record.id, "version two")

    again = await take_in(other, lines)
    assert (again.unchanged, again.conflicting) == (1, 0)
    assert (await other.get(record.id)).content == "version two"


async def test_other_content_under_the_same_id_is_a_conflict_and_stays(
    memory: Memory, other: Memory, clock: TurnedClock
):
    record = await memory.remember("The door code is 1234")
    await take_in(other, await lines_of(memory))
    clock.turn(hours=1)
    await memory.update(record.id, "The door code is 9999")
    await other.update(record.id, "The door code is 5678")
    await memory.remember("Something new", created_at=clock.now())

    done = await take_in(other, await lines_of(memory))
    assert (done.added, done.unchanged, done.conflicting) == (1, 0, 1)
    (problem,) = done.problems
    assert (problem.line, problem.code) == (2, "id_taken")
    assert record.id in problem.message
    assert (await other.get(record.id)).content == "The door code is 5678"


async def test_a_record_of_another_scope_under_the_same_id_is_a_conflict(
    memory: Memory, other: Memory
):
    await memory.remember("mine")
    lines = await lines_of(memory)
    await take_in(other, lines)
    theirs = lines[1].replace(b'"user":"me"', b'"user":"bob"')

    done = await take_in(other, [lines[0], theirs])
    assert (done.added, done.conflicting) == (0, 1)
    assert (await other.scope(user="bob").stats()).store.records == 0


async def test_a_turn_whose_place_is_taken_is_a_conflict(memory: Memory, other: Memory):
    await memory.observe([{"role": "user", "content": "first here"}], session="s")
    await other.observe([{"role": "user", "content": "first there"}], session="s")
    lines = await lines_of(memory)

    done = await take_in(other, lines)
    assert (done.conflicting, done.problems[0].code) == (1, "place_taken")
    assert [turn.content for turn in await other.turns(session="s")] == ["first there"]


async def test_a_file_may_say_the_same_twice_but_not_two_things(memory: Memory, other: Memory):
    await memory.remember("said")
    await memory.observe([{"role": "user", "content": "said"}], session="s")
    lines = await lines_of(memory)
    changed = [line.replace(b'"said"', b'"unsaid"') for line in lines[1:]]

    done = await take_in(other, [*lines, *lines[1:], *changed])
    assert (done.added, done.unchanged, done.conflicting) == (2, 2, 2)
    assert [problem.line for problem in done.problems] == [6, 7]
    assert await items_of(other) == lines[1:]


async def test_vectors_are_made_anew_in_the_background(memory: Memory, tmp_path: Path):
    await memory.remember("安妮喜欢绿茶")
    await memory.observe([{"role": "user", "content": "green tea"}])
    lines = await lines_of(memory)

    async with Memory.open(tmp_path / "vectors.db", embedder=FakeEmbedder()) as other:
        await take_in(other, lines)
        await other.drain()
    assert _rows(tmp_path / "vectors.db", "SELECT count(*) FROM vectors") == [(2,)]


def _rows(database: Path, query: str) -> list[tuple[Any, ...]]:
    return sorted(ask(database, query), key=repr)


@pytest.mark.usefixtures("small_batches")
async def test_the_tables_are_as_if_everything_had_been_written_here(
    memory: Memory, other: Memory, clock: TurnedClock, database_path: Path, tmp_path: Path
):
    await some_memories(memory, clock)
    await take_in(other, await lines_of(memory))
    new = tmp_path / "other.db"
    units = "owner_kind, owner_id, ordinal, u.start, u.end, terms, analyzer, observed_at"
    words = ["SELECT count(*), sum(doc) FROM unit_vocabulary"] if Running.server is None else []
    for query in (
        "SELECT record_id, tag FROM record_tags",
        f"SELECT {units} FROM units u",
        "SELECT record_id, version, recorded_at, replaced_at FROM versions",
        "SELECT org, workspace, agent, s.user, unit_count, unit_length FROM scopes s",
        *words,
    ):
        assert _rows(new, query) == _rows(database_path, query)
    assert _rows(new, "SELECT id FROM scopes WHERE unit_count >= next_unit") == []
    assert is_sound(new)
    listed = _rows(new, "SELECT entity, id FROM changes WHERE op = 'put'")
    stored = _rows(new, "SELECT 'record', id FROM records UNION SELECT 'turn', id FROM turns")
    assert listed == stored
    bodies = _rows(new, "SELECT body FROM versions")
    columns = set(schema.records.columns.keys())
    assert all(json.loads(body).keys() == columns for (body,) in bodies)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("bad_line", [b"{not json\n", b'{"type": "dream"}\n'])
async def test_a_damaged_line_is_named_and_what_stands_before_it_is_kept(
    bad_line: bytes, memory: Memory, other: Memory
):
    await memory.remember_many(["one", "two", "three", "four"])
    lines = await lines_of(memory)
    lines[4:4] = [bad_line]

    with pytest.raises(InvalidInput, match=r"Line 5: .* 3 added, 0 unchanged") as stopped:
        await take_in(other, lines)
    assert stopped.value.code in {"not_json", "unknown_type"}
    assert "Importing again adds only what is missing" in stopped.value.hint
    assert await items_of(other) == lines[1:4]

    done = await take_in(other, lines, skip_bad=True)
    assert (done.added, done.unchanged, done.bad) == (1, 3, 1)
    (problem,) = done.problems
    assert (problem.line, problem.code) == (5, stopped.value.code)


_HEADERS: dict[str, tuple[str, bytes]] = {
    "an empty file": ("not_an_export", b""),
    "another file": ("not_an_export", b"id,content\n"),
    "lines without a header": ("not_an_export", b'{"type": "record"}\n'),
    "a newer format": ("format_newer", b'{"recollect": "export", "format": 7}\n'),
    "no format": ("not_an_export", b'{"recollect": "export"}\n'),
    "compressed bytes": ("not_an_export", gzip.compress(b'{"recollect": "export"}\n')),
    "counts of something else": (
        "missing_field",
        b'{"recollect": "export", "format": 1, "counts": {}}\n',
    ),
}


@pytest.mark.parametrize("what", _HEADERS)
async def test_a_file_that_is_not_ours_is_refused_at_its_first_line(what: str, memory: Memory):
    code, content = _HEADERS[what]
    with pytest.raises(InvalidInput) as refused:
        await memory.import_from(io.BytesIO(content))
    assert refused.value.code == code
    assert (await memory.stats()).store.records == 0


async def test_a_hand_made_file_needs_no_counts_and_may_have_blank_lines(
    memory: Memory, other: Memory
):
    await memory.remember("edited on Windows")
    lines = await lines_of(memory)
    edited = b"\xef\xbb\xbf" + b'{"recollect": "export", "format": 1}\r\n\r\n' + lines[1].strip()

    assert (await take_in(other, [edited])).added == 1
    assert await items_of(other) == lines[1:]


async def test_a_file_of_the_format_before_is_read_whole(other: Memory):
    kept = Path(__file__).parents[1] / "data" / "export_format_2.jsonl"
    before = kept.read_bytes().splitlines(keepends=True)
    assert json.loads(before[0])["format"] == 2

    done = await other.import_from(kept, all_scopes=True)
    assert (done.added, done.unchanged, done.conflicting, done.bad) == (7, 0, 0, 0)
    told = [json.loads(line) for line in await items_of(other)]
    # What was done by saying a turn is decided when it comes from a format without it.
    assert {it.pop("act") for it in told if it["type"] == "turn"} == {"statement", "request"}
    # So is which attribute a record states, where models can tell.
    versions = [it for record in told for it in record.get("versions", ())]
    stated = {(it.pop("facet"), it.pop("about"), it.pop("facet_fixed")) for it in versions}
    assert stated == {(None, "", False)}
    assert told == [json.loads(line) for line in before[1:]]
    cut = await take_in(other, before[:-1], skip_bad=True)
    assert cut.problems[0].code == "file_truncated"


async def test_a_file_that_was_cut_off_is_told_as_such(
    memory: Memory, other: Memory, tmp_path: Path
):
    await memory.remember_many(["one", "two", "three"])
    lines = await lines_of(memory)
    whole = b"".join(lines)

    async def message(content: bytes, name: str) -> str:
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(InvalidInput) as cut:
            await other.import_from(path)
        assert cut.value.code == "file_truncated"
        return cut.value.message

    assert "Line 4: the file ends in the middle of this line" in await message(
        whole[:-9], "a.jsonl"
    )
    assert "2 of its 3 entries" in await message(b"".join(lines[:3]), "b.jsonl")
    assert "ends in the middle" in await message(gzip.compress(whole)[:-20], "c.jsonl.gz")
    assert (await other.import_from(io.BytesIO(whole[:-1]))).added == 1


async def test_files_that_cannot_be_read_have_codes_of_their_own(other: Memory, tmp_path: Path):
    with pytest.raises(NotFound) as missing:
        await other.import_from(tmp_path / "nowhere.jsonl")
    with pytest.raises(StorageError) as folder:
        await other.import_from(tmp_path)
    plain = tmp_path / "plain.jsonl.gz"
    plain.write_bytes(b'{"recollect": "export", "format": 1}\n')
    with pytest.raises(InvalidInput) as damaged:
        await other.import_from(plain)
    codes = [it.value.code for it in (missing, folder, damaged)]
    assert codes == ["file_missing", "file_unreadable", "file_damaged"]


async def test_an_export_never_overwrites_a_file_and_leaves_none_behind_when_it_fails(
    memory: Memory, tmp_path: Path
):
    await memory.remember("x")
    there = tmp_path / "there.jsonl"
    there.write_text("precious")
    with pytest.raises(Conflict) as exists:
        await memory.export_to(there)
    with pytest.raises(StorageError) as impossible:
        await memory.export_to(there / "below a file.jsonl")

    class FullDisk(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(StorageError) as full:
        await memory.export_to(FullDisk())  # type: ignore[arg-type]
    codes = [it.value.code for it in (exists, impossible, full)]
    assert codes == ["file_exists", "file_unwritable", "disk_full"]
    assert there.read_text() == "precious"
    assert not list(tmp_path.glob("*.unfinished"))


async def test_an_export_is_one_moment_even_while_others_write(memory: Memory):
    await memory.remember_many([f"note {number}" for number in range(300)])
    written = _SlowFile()

    async def keep_writing() -> int:
        count = 0
        while not written.is_done:
            await memory.remember(f"later {count}")
            count += 1
        return count

    writing = asyncio.create_task(keep_writing())
    counts = await memory.export_to(written)  # type: ignore[arg-type]
    assert await writing > 0
    header, *lines = written.getvalue().splitlines()
    assert counts.records == json.loads(header)["counts"]["records"] == len(lines)


class _SlowFile(io.BytesIO):
    """Slow enough that something else happens meanwhile."""

    is_done = False

    def write(self, data: Any) -> int:
        if self.tell() % 7 == 0:
            time.sleep(0.001)
        return super().write(data)

    def flush(self) -> None:
        self.is_done = True


async def test_what_is_held_in_memory_does_not_grow_with_the_file(
    memory: Memory, other: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(importer, "_BATCH_LINES", 50)
    file = tmp_path / "large.jsonl"
    pad = {"pad": "x" * 20_000}
    await memory.remember_many(
        [{"content": f"note {number}", "metadata": pad} for number in range(1_000)]
    )

    tracemalloc.start()
    try:
        await memory.export_to(file)
        _, exporting_peak = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        await other.import_from(file)
        _, importing_peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert max(exporting_peak, importing_peak) < file.stat().st_size / 2


@pytest.mark.usefixtures("small_batches")
async def test_progress_is_told_from_the_first_to_the_last(memory: Memory, other: Memory):
    await memory.remember_many([f"note {number}" for number in range(5)])
    exported: list[tuple[int, int]] = []
    imported: list[tuple[int, int]] = []
    file = io.BytesIO()

    await memory.export_to(file, progress=lambda *step: exported.append(step))
    await other.import_from(
        io.BytesIO(file.getvalue()), progress=lambda *step: imported.append(step)
    )
    assert exported == [(0, 5), (2, 5), (4, 5), (5, 5)]
    assert imported == [(2, 5), (4, 5), (5, 5)]


@pytest.mark.usefixtures("small_batches")
async def test_a_stopped_import_leaves_whole_batches_and_goes_on_later(
    memory: Memory, other: Memory
):
    await memory.remember_many([f"note {number}" for number in range(9)])
    lines = await lines_of(memory)
    seen: list[int] = []

    def stop(done: int, total: int) -> None:
        seen.append(done)
        if done == 4:
            importing.cancel()

    importing = asyncio.create_task(take_in(other, lines, progress=stop))
    with pytest.raises(asyncio.CancelledError):
        await importing
    assert seen == [2, 4]
    assert await items_of(other) == lines[1:5]
    assert (await take_in(other, lines)).added == 5
    assert await items_of(other) == lines[1:]


@pytest.mark.usefixtures("small_batches")
async def test_a_stopped_export_leaves_no_file(memory: Memory, tmp_path: Path):
    await memory.remember_many([f"note {number}" for number in range(2_000)])
    target = tmp_path / "stopped.jsonl"
    exporting_task = asyncio.create_task(
        memory.export_to(target, progress=lambda done, total: exporting_task.cancel())
    )
    with pytest.raises(asyncio.CancelledError):
        await exporting_task
    for _ in range(200):
        if not (left := list(tmp_path.glob("stopped*"))):
            break
        await asyncio.sleep(0.01)
    assert left == []


async def test_nothing_to_export_is_a_file_with_a_header_only(memory: Memory, other: Memory):
    lines = await lines_of(memory)
    assert len(lines) == 1
    assert await take_in(other, lines) == await take_in(other, lines)


async def test_many_problems_are_counted_and_the_first_hundred_listed(memory: Memory):
    header = b'{"recollect": "export", "format": 1}\n'
    done = await take_in(memory, [header, *[b"{}\n"] * 250], skip_bad=True)
    assert (done.bad, len(done.problems), done.problems[-1].line) == (250, 100, 101)


async def test_a_broken_store_is_told_by_its_own_error(memory: Memory, tmp_path: Path):
    await memory.close()
    with pytest.raises(RecollectError) as closed:
        await memory.export_to(tmp_path / "late.jsonl")
    assert closed.value.code == "closed"
