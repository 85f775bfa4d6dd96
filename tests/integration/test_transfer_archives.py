"""Archived tool results move with their contents: once, checked, and never for a hash alone."""

import asyncio
import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recollect import Memory
from recollect.backends.folder_blobs import FolderBlobs
from recollect.domain.archive import Archive
from recollect.errors import StorageError
from recollect.transfer import archive_format
from tests.conftest import TurnedClock
from tests.database_servers import ask
from tests.integration.archive_texts import manual

ENGLISH, CHINESE = manual("en", 12_000), manual("zh", 12_000)
BINARY = np.random.default_rng(1).bytes(12_000)


@pytest.fixture
async def other(tmp_path: Path, clock: TurnedClock):
    async with Memory.open(tmp_path / "other.db", clock=clock) as opened:
        yield opened


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_format, "_PART_BYTES", 300)


async def archived(
    memory: Memory, result: Any, asked: Any = None, session: str = "晨会"
) -> Archive:
    known = {it.id for it in await memory.archives.list(limit=1_000)}
    manager = memory.session(session).archive
    await manager.process_tool_result("search", asked, result, session, "thread")
    (new,) = [it for it in await memory.archives.list(limit=1_000) if it.id not in known]
    return new


async def loaded(memory: Memory, archive_id: str) -> Any:
    return await memory.session("any").archive.load_tool_result(archive_id)


async def lines_of(memory: Memory, *, all_scopes: bool = True) -> list[bytes]:
    written = io.BytesIO()
    await memory.export_to(written, all_scopes=all_scopes)
    return written.getvalue().splitlines(keepends=True)


async def take_in(memory: Memory, lines: list[bytes], **options: Any):
    return await memory.import_from(io.BytesIO(b"".join(lines)), **{"all_scopes": True, **options})


def types_of(lines: list[bytes]) -> list[str]:
    return [json.loads(line)["type"] for line in lines[1:]]


def blob_files(memory: Memory) -> list[Path]:
    return sorted(Path(memory.settings.blobs).rglob("*.zst"))


def rows(database: Path, query: str) -> list[tuple[Any, ...]]:
    return sorted(ask(database, query))


@pytest.mark.usefixtures("small_parts")
async def test_archives_move_with_their_contents_byte_for_byte(
    memory: Memory, other: Memory, clock: TurnedClock, database_path: Path, tmp_path: Path
):
    results: list[Any] = [CHINESE, {"rows": [{"名": f"第{it}行 row"} for it in range(900)]}, BINARY]
    kept = [await archived(memory, it, {"query": "税率 \x00 tax"}) for it in results]
    await archived(memory.scope(user="ann"), ENGLISH)
    await loaded(memory, kept[0].id)
    before = await lines_of(memory)
    clock.turn(days=2)

    done = await take_in(other, before)
    assert (done.added, done.lost, done.bad, done.problems) == (4, 0, 0, ())
    assert (await lines_of(other))[1:] == before[1:]
    assert [await loaded(other, it.id) for it in kept] == results
    assert await loaded(other.scope(user="ann"), (await _only(other, "ann")).id) == ENGLISH
    blobs = (
        "SELECT org, workspace, hash, size, stored_size, stored_hash, reference_count FROM blobs"
    )
    new = tmp_path / "other.db"
    assert rows(new, blobs) == rows(database_path, blobs)
    assert [it.read_bytes() for it in blob_files(other)] == [
        it.read_bytes() for it in blob_files(memory)
    ]
    assert json.loads(before[0])["counts"]["archives"] == 4


async def _only(memory: Memory, user: str) -> Archive:
    (archive,) = await memory.scope(user=user).archives.list()
    return archive


async def test_what_moved_is_found_by_its_words(memory: Memory, other: Memory, tmp_path: Path):
    await archived(memory, CHINESE)
    await take_in(other, await lines_of(memory))
    await other.drain()
    await memory.drain()
    units = "SELECT owner_kind, owner_id, ordinal, u.start, u.end, terms FROM units u"
    assert rows(tmp_path / "other.db", units) == rows(tmp_path / "memory.db", units) != []


@pytest.mark.usefixtures("small_parts")
async def test_the_same_content_is_written_once_a_workspace(
    memory: Memory, other: Memory, tmp_path: Path
):
    ann, elsewhere = memory.scope(user="ann"), memory.scope(workspace="two", user="ann")
    for view in (ann, memory.scope(user="bob"), elsewhere):
        await archived(view, ENGLISH)
    await archived(ann, ENGLISH, session="another")
    lines = await lines_of(memory)
    forms = [json.loads(line) for line in lines[1:]]
    parts = [form for form in forms if form["type"] == "content"]

    assert [form["workspace"] for form in parts if form["part"] == 1] == ["default", "two"]
    assert len(parts) == 2 * parts[0]["parts"] > 2
    assert (await take_in(other, lines)).added == 4
    assert [
        count for (count,) in rows(tmp_path / "other.db", "SELECT reference_count FROM blobs")
    ] == [
        1,
        3,
    ]
    assert (await lines_of(other))[1:] == lines[1:]


async def test_importing_again_stores_no_content_twice(
    memory: Memory, other: Memory, tmp_path: Path
):
    archive = await archived(memory, ENGLISH)
    lines = await lines_of(memory)
    await take_in(other, lines)
    before = blob_files(other)
    await loaded(other, archive.id)

    again = await take_in(other, lines)
    assert (again.added, again.unchanged, again.conflicting) == (0, 1, 0)
    assert blob_files(other) == before
    changed = lines[-1].replace(b'"tool":"search"', b'"tool":"other"')
    third = await take_in(other, [*lines[:-1], changed])
    assert (third.conflicting, third.problems[0].code) == (1, "id_taken")


async def test_a_content_that_is_gone_or_damaged_is_told_and_the_rest_goes_on(
    memory: Memory, other: Memory, database_path: Path, caplog: pytest.LogCaptureFixture
):
    gone = await archived(memory, ENGLISH)
    (gone_file,) = blob_files(memory)
    damaged = await archived(memory, CHINESE)
    (damaged_file,) = set(blob_files(memory)) - {gone_file}
    sound = await archived(memory, BINARY)
    await memory.remember("后面的一条 comes after")
    gone_file.unlink()
    damaged_file.write_bytes(b"x" + damaged_file.read_bytes()[1:])

    written = io.BytesIO()
    counts = await memory.export_to(written)
    assert set(counts.lost) == {gone.id, damaged.id}
    assert gone.id in caplog.text
    done = await other.import_from(io.BytesIO(written.getvalue()))
    assert (done.added, done.lost, done.bad) == (2, 2, 0)
    assert {it.code for it in done.problems} == {"content_missing"}
    assert {it.message.split()[3] for it in done.problems} == {gone.id, damaged.id}
    assert [it.id for it in await other.archives.list()] == [sound.id]
    assert len(await other.list()) == 1


def _other_byte(form: dict[str, Any]) -> None:
    form["data"] = ("B" if form["data"][0] == "A" else "A") + form["data"][1:]


_DAMAGES: dict[str, Any] = {
    "another byte": _other_byte,
    "no base64": lambda form: form.update(data="??"),
    "no ASCII": lambda form: form.update(data="数据"),
    "another size": lambda form: form.update(size=form["size"] + 1),
    "another hash": lambda form: form.update(hash="0" * 64),
}


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("what", _DAMAGES)
@pytest.mark.parametrize("place", [1, 2, -1])
async def test_a_content_damaged_in_the_file_is_told_and_the_rest_goes_on(
    what: str, place: int, memory: Memory, other: Memory, tmp_path: Path
):
    await archived(memory, ENGLISH)
    await archived(memory.scope(user="ann"), ENGLISH)
    sound = await archived(memory, BINARY)
    lines = await lines_of(memory)
    shared_hash = json.loads(lines[1])["hash"]
    parts = [it for it, line in enumerate(lines) if f'"hash":"{shared_hash}"'.encode() in line]
    at = parts[place if place < 0 else place - 1]
    form = json.loads(lines[at])
    _DAMAGES[what](form)
    lines[at] = json.dumps(form).encode() + b"\n"
    assert len(parts) > 2

    done = await take_in(other, lines)
    assert (done.added, done.lost, done.bad) == (1, 2, 0)
    assert {it.code for it in done.problems} <= {"content_damaged", "content_missing"}
    assert [it.id for it in await other.archives.list()] == [sound.id]
    assert len(blob_files(other)) == 1


@pytest.mark.usefixtures("small_parts")
async def test_a_missing_part_a_bomb_and_a_wrong_size_are_damage(memory: Memory, other: Memory):
    await archived(memory, ENGLISH)
    lines = await lines_of(memory)
    missing = await take_in(other, [*lines[:2], *lines[3:]])
    assert (missing.lost, missing.problems[0].code) == (1, "content_damaged")
    assert "part 3 does not follow part 2" in missing.problems[0].message
    sizes = [line.replace(b'"bytes":', b'"bytes":1') for line in lines]
    wrong = await take_in(other, sizes)
    assert (wrong.lost, wrong.problems[0].code) == (1, "content_damaged")

    import base64

    from recollect.domain.compression import compressed

    small = json.loads(lines[1]) | {"part": 1, "parts": 1}
    bomb = compressed(bytes(200_000_000), 3)
    small["data"] = base64.b64encode(bomb).decode()
    tracemalloc.start()
    try:
        burst = await take_in(other, [lines[0], json.dumps(small).encode() + b"\n", lines[-1]])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (burst.lost, burst.problems[0].code) == (1, "content_damaged")
    assert peak < 20_000_000
    assert (await take_in(other, lines)).added == 1


async def test_whoever_knows_only_the_hash_of_a_content_does_not_get_it(memory: Memory):
    secret = await archived(memory.scope(user="ann"), ENGLISH)
    line = (await lines_of(memory))[-1]
    stolen = line.replace(secret.id.encode(), b"arc_stolen").replace(b'"ann"', b'"bob"')
    header = b'{"recollect": "export", "format": 3}\n'

    bob = memory.scope(user="bob")
    done = await bob.import_from(io.BytesIO(header + stolen))
    assert (done.added, done.lost, done.problems[0].code) == (0, 1, "content_missing")
    assert (await bob.archives.list()).items == ()


async def test_contents_that_no_archive_came_to_need_are_removed(
    memory: Memory, other: Memory, tmp_path: Path
):
    archive = await archived(memory, ENGLISH)
    lines = await lines_of(memory)
    foreign = await other.scope(user="bob").import_from(io.BytesIO(b"".join(lines)), skip_bad=True)
    assert (foreign.added, foreign.bad) == (0, 1)
    assert blob_files(other) == []

    await take_in(other, lines)
    await other.forget(session=archive.session)
    await other.drain()
    forgotten = await take_in(other, lines)
    assert (forgotten.added, forgotten.conflicting) == (0, 1)
    assert forgotten.problems[0].code == "forgotten"
    assert (await other.archives.list()).items == ()
    assert blob_files(other) == []


async def test_a_content_refused_for_one_archive_is_there_for_the_next(
    memory: Memory, other: Memory
):
    first = await archived(memory, ENGLISH)
    second = await archived(memory, ENGLISH, session="second")
    lines = await lines_of(memory)
    taken = lines[2].replace(b'"lines":', b'"lines":9')
    await take_in(other, [*lines[:2], taken], skip_bad=True)
    await other.archives.sweep()

    done = await take_in(other, lines)
    assert (done.added, done.conflicting) == (1, 1)
    assert {it.id for it in await other.archives.list()} == {first.id, second.id}
    assert await loaded(other, second.id) == ENGLISH


async def test_a_caller_moves_the_archives_of_its_own(memory: Memory, other: Memory):
    ann = memory.scope(user="ann")
    mine = await archived(ann, CHINESE)
    await archived(memory.scope(user="bob"), ENGLISH)
    await archived(memory.scope(user="ann", agent="sql"), BINARY)

    lines = await lines_of(ann, all_scopes=False)
    assert types_of(lines) == ["content", "archive"]
    done = await take_in(other.scope(user="ann"), lines, all_scopes=False)
    assert (done.added, done.bad) == (1, 0)
    assert await loaded(other.scope(user="ann"), mine.id) == CHINESE


async def test_a_stopped_import_with_contents_goes_on_later(
    memory: Memory, other: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from recollect.transfer import importer

    monkeypatch.setattr(importer, "_BATCH_LINES", 2)
    for number in range(4):
        await archived(memory, f"{number} {ENGLISH}")
    lines = await lines_of(memory)

    def stop(done: int, total: int) -> None:
        assert total == 4
        if done == 2:
            importing.cancel()

    importing = asyncio.create_task(take_in(other, lines, progress=stop))
    with pytest.raises(asyncio.CancelledError):
        await importing
    assert len(await other.archives.list()) == 2
    rest = await take_in(other, lines)
    assert (rest.added, rest.unchanged) == (2, 2)
    assert (await lines_of(other))[1:] == lines[1:]
    assert len(blob_files(other)) == 4


async def test_a_file_cut_off_in_a_content_is_told_as_such(memory: Memory, other: Memory):
    await archived(memory, ENGLISH)
    lines = await lines_of(memory)
    cut = await take_in(other, lines[:-1], skip_bad=True)
    assert [it.code for it in cut.problems] == ["file_truncated"]
    assert "0 of its 1 entries" in cut.problems[0].message


async def test_a_blob_store_that_cannot_be_reached_fails_the_export(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    await archived(memory, ENGLISH)

    async def unreachable(self: FolderBlobs, key: str) -> bytes:
        raise StorageError(f"no way to {key}", code="blobs_unreachable")

    monkeypatch.setattr(FolderBlobs, "get", unreachable)
    with pytest.raises(StorageError) as broken:
        await memory.export_to(tmp_path / "out.jsonl")
    assert broken.value.code == "blobs_unreachable"
    assert not list(tmp_path.glob("out.jsonl*"))


async def test_one_content_at_a_time_is_held_in_memory(
    memory: Memory, other: Memory, tmp_path: Path
):
    random = np.random.default_rng(2)
    size, count = 3_000_000, 12
    for _ in range(count):
        await archived(memory, random.bytes(size))
    file = tmp_path / "large.jsonl"
    tracemalloc.start()
    try:
        await memory.export_to(file)
        _, exporting = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        await other.import_from(file)
        _, importing = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert file.stat().st_size > count * size
    assert max(map(len, file.read_bytes().splitlines())) < 1_100_000
    assert max(exporting, importing) < 8 * size
