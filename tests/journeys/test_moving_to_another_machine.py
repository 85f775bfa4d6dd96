"""Somebody moves to another machine and takes the whole memory along."""

import asyncio
import gzip
import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import recollect.sync
from recollect import Memory
from recollect.cli.app import run
from recollect.settings import Settings
from tests.database_servers import place_of
from tests.nursery import WARM
from tests.processes import RECOLLECT, Child

_NO_MORE = {
    "archives": 0,
    "conflicts": 0,
    "links": 0,
    "watermarks": 0,
    "proposals": 0,
    "lost": [],
    "documents": 0,
    "items": 0,
}

# Imports a file and says after each batch how far it is.
_IMPORTER = """
import asyncio, sys
from recollect import Memory

async def main():
    async with Memory.open(sys.argv[1]) as memory:
        await memory.import_from(sys.argv[2], progress=lambda *step: print(*step, flush=True))

asyncio.run(main())
"""


class Machine:
    """A computer with Recollect on it, reached through its command line."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[bytes]) -> None:
        self.settings = Settings.load({"data_dir": folder})
        self.database = self.settings.database
        self.database.parent.mkdir(parents=True)
        self._data = ["--data", str(folder)]
        self._capture = capture

    def start(self, *arguments: str) -> Child[bytes]:
        """Run a command in a process of its own."""
        return Child(
            [*RECOLLECT, *arguments, *self._data],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *arguments: str) -> tuple[int, str, str]:
        status = run([*arguments, *self._data])
        out, err = self._capture.readouterr()
        return status, out.decode(), err.decode()

    def json(self, *arguments: str, expected: int = 0) -> Any:
        status, out, err = self.run(*arguments, "--json")
        assert status == expected, err
        return json.loads(out or err)


@pytest.fixture(autouse=True)
def _by_words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """These stories are about moving; embedding would only make them longer."""
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "none")


@pytest.fixture
def laptop(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path / "laptop", capsysbinary)


@pytest.fixture
def server(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path / "server", capsysbinary)


def test_everything_is_there_in_the_new_home(laptop: Machine, server: Machine, tmp_path: Path):
    tea = laptop.json("remember", "安妮早上喝绿茶", "--tag", "茶")["id"]
    laptop.json("edit", tea, "安妮早上喝红茶", "--reason", "she said so")
    code = laptop.json("remember", "The safe's code is in the red book")["id"]
    laptop.json("delete", code)
    laptop.json("observe", "we meet on Tuesday", "--session", "standup")
    boxes = tmp_path / "boxes.jsonl.gz"

    packed = laptop.json("export", str(boxes))
    assert packed == {"path": str(boxes), "records": 2, "versions": 4, "turns": 1, **_NO_MORE}
    unpacked = server.json("import", str(boxes))
    assert unpacked == {
        "added": 3,
        "unchanged": 0,
        "conflicting": 0,
        "lost": 0,
        "bad": 0,
        "problems": [],
    }

    (hit,) = server.json("recall", "红茶")["hits"]
    assert hit["id"] == tea
    assert [it["reason"] for it in server.json("history", tea)["items"]] == ["", "she said so"]
    assert server.json("undo", code)["content"] == "The safe's code is in the red book"
    assert server.json("recall", "when do we meet")["hits"][0]["turn"]["session"] == "standup"

    status, out, _ = server.run("import", str(boxes))
    assert status == 0
    assert "0 added, 3 unchanged, 0 conflicting" in out


async def _work(machine: Machine, result: str) -> None:
    """A session with a tool that gave much, read for what is worth remembering."""
    async with Memory.open(machine.settings) as memory:
        session = memory.session("装修")
        await session.archive.process_tool_result("search", {"query": "窗"}, result, "装修")
        await memory.observe([{"role": "user", "content": "记住：窗户朝南。"}], session="装修")
        await memory.extract("装修")


def test_tool_results_move_too_and_nothing_is_learned_twice(
    laptop: Machine, server: Machine, tmp_path: Path
):
    result = "\n".join(f"window {number} 第{number}扇窗" for number in range(1_000))
    asyncio.run(_work(laptop, result))
    boxes = tmp_path / "boxes.jsonl.gz"
    packed = laptop.json("export", str(boxes))
    assert (packed["archives"], packed["watermarks"], packed["lost"]) == (1, 1, [])
    assert server.json("import", str(boxes))["problems"] == []

    async def unpacked() -> tuple[str, int]:
        async with Memory.open(server.settings) as memory:
            (archive,) = await memory.archives.list()
            loaded = await memory.session("装修").archive.load_tool_result(archive.id)
            return loaded, len(await memory.extract("装修"))

    assert asyncio.run(unpacked()) == (result, 0)


@pytest.mark.sqlite(reason="its machines are folders that other processes open")
def test_a_tool_result_that_is_broken_is_told_at_both_ends(
    laptop: Machine, server: Machine, tmp_path: Path
):
    asyncio.run(_work(laptop, "many words " * 2_000))
    (content,) = Path(laptop.settings.blobs).rglob("*.zst")
    content.unlink()
    boxes = str(tmp_path / "boxes.jsonl")

    status, out, _ = laptop.run("export", boxes)
    assert status == 0
    assert "1 archives have no content in it" in out
    told = server.json("import", boxes, expected=4)
    assert (told["lost"], told["problems"][0]["code"]) == (1, "content_missing")
    assert told["added"] == packed_lines(boxes) - 1
    status, out, _ = server.run("import", boxes)
    assert status == 4
    assert "1 archives without their content" in out


def packed_lines(boxes: str) -> int:
    return len(Path(boxes).read_bytes().splitlines()) - 1


@pytest.mark.sqlite(reason="its machines are folders that other processes open")
def test_two_machines_with_a_pipe_between_them(laptop: Machine, server: Machine):
    laptop.json("remember", "安妮喜欢爵士乐")
    with laptop.start("export", "-", "--json") as exporting:
        lines, told = exporting.communicate(timeout=120)
    assert json.loads(told) == {"records": 1, "versions": 1, "turns": 0, **_NO_MORE}
    with server.start("import", "-", "--json") as importing:
        out, told = importing.communicate(lines, timeout=120)
    assert importing.returncode == 0, told.decode()
    assert json.loads(out)["added"] == 1
    status, again, told = server.run("export", "-")
    assert (status, told) == (
        0,
        "1 records (1 versions), 0 turns, 0 archives, 0 documents and 0 items written.\n",
    )
    assert again.encode().splitlines()[1:] == lines.splitlines()[1:]


def test_what_contradicts_the_new_home_is_told_with_exit_code_4(
    laptop: Machine, server: Machine, tmp_path: Path
):
    note = laptop.json("remember", "The door code is 1234")["id"]
    first, second = str(tmp_path / "monday.jsonl"), str(tmp_path / "friday.jsonl")
    laptop.json("export", first)
    server.json("import", first)
    laptop.json("edit", note, "The door code is 9999")
    server.json("edit", note, "The door code is 5678")
    laptop.json("remember", "The cat is called 小黑")
    laptop.json("export", second)

    done = server.json("import", second, expected=4)
    assert (done["added"], done["conflicting"]) == (1, 1)
    (problem,) = done["problems"]
    assert (problem["line"], problem["code"]) == (2, "id_taken")
    status, out, _ = server.run("import", second)
    assert status == 4
    assert f"line 2: {note} is stored with different content" in out
    assert server.json("show", note)["content"] == "The door code is 5678"


def test_a_bad_line_stops_with_its_number_and_can_be_left_out(
    laptop: Machine, server: Machine, tmp_path: Path
):
    for text in ("one", "two"):
        laptop.json("remember", text)
    header, *lines = laptop.run("export", "-")[1].splitlines(keepends=True)
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text("".join([header, lines[0], "{oops\n", lines[1]]), encoding="utf-8")

    error = server.json("import", str(damaged), expected=2)["error"]
    assert error["code"] == "not_json"
    assert error["message"].startswith("Line 3: ")
    assert "1 added" in error["message"]
    done = server.json("import", str(damaged), "--skip-bad")
    assert (done["added"], done["unchanged"], done["bad"]) == (1, 1, 1)


def test_only_an_operator_moves_what_belongs_to_others(
    laptop: Machine, server: Machine, tmp_path: Path
):
    laptop.json("remember", "mine")
    laptop.json("remember", "hers", "--user", "ann")
    own, everything = str(tmp_path / "own.jsonl"), str(tmp_path / "all.jsonl")
    assert laptop.json("export", own)["records"] == 1
    assert laptop.json("export", everything, "--all")["records"] == 2

    assert server.json("import", everything, expected=7)["error"]["code"] == "not_allowed"
    assert server.json("import", everything, "--all")["added"] == 2
    (record,) = server.json("list", "--user", "ann")["items"]
    assert record["content"] == "hers"


def test_ctrl_c_while_a_pipe_is_silent_ends_at_once(server: Machine):
    with server.start("import", "-") as waiting:
        while not server.database.exists():
            assert waiting.poll() is None
            time.sleep(0.01)
        # Reading begins just after the database is there.
        time.sleep(0.5)
        waiting.send_signal(signal.SIGINT)
        assert waiting.stderr is not None
        told = waiting.stderr.read()
        assert waiting.wait(timeout=120) in {130, -signal.SIGINT}
    assert b"Traceback" not in told
    assert b"Fatal" not in told


async def _pack(machine: Machine, boxes: Path, count: int) -> None:
    async with Memory.open(machine.database) as memory:
        for start in range(0, count, 500):
            await memory.remember_many(
                [f"parcel {number} 第{number}号" for number in range(start, start + 500)]
            )
        await memory.export_to(boxes)


def test_a_killed_import_goes_on_where_it_was(laptop: Machine, server: Machine, tmp_path: Path):
    boxes = tmp_path / "boxes.jsonl.gz"
    asyncio.run(_pack(laptop, boxes, 2_000))
    command = [WARM, "-c", _IMPORTER, place_of(server.database), str(boxes)]
    with Child(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told, _ = map(int, process.stdout.readline().split())
        process.kill()

    with recollect.sync.Memory.open(server.database) as memory:
        kept = memory.stats().store
        assert told <= kept.records < 2_000
        assert kept.units == kept.records
        done = memory.import_from(boxes)
        assert (done.added, done.unchanged) == (2_000 - kept.records, kept.records)
        memory.export_to(tmp_path / "again.jsonl")
        assert len(memory.recall("parcel 1234 第1234号", min_score=0)) > 0
    before = gzip.decompress(boxes.read_bytes()).splitlines()
    assert (tmp_path / "again.jsonl").read_bytes().splitlines()[1:] == before[1:]
