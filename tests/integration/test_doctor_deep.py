"""`doctor --deep` reads everything, and what cannot be written can still be read."""

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recollect import Memory
from recollect.assemble.doctor import diagnose
from recollect.backends.sql import commit
from recollect.backends.sql.dialects.base import tokens
from recollect.settings import Settings
from tests.processes import RECOLLECT

pytestmark = pytest.mark.sqlite(reason="it damages the file")


async def _filled(folder: Path) -> Settings:
    settings = Settings.load({"data_dir": folder, "storage": {"path": folder / "memory.db"}})
    async with Memory.open(settings) as memory:
        await memory.remember_many(
            [f"Boat {number} lies in harbour {number}" for number in range(20)]
        )
        for number in range(3):
            await memory.knowledge.add(f"# Whale {number}\n\nIt sings.", f"{number}.md")
        await memory.drain()
    return settings


async def _problems(settings: Settings) -> dict[str, str]:
    found = await diagnose(settings, deep=True)
    parts = ("contents", "archived contents", "search index", "database")
    return {it.part: it.message for it in found.findings if it.part in parts and it.verdict != "ok"}


def _contents(folder: Path) -> list[Path]:
    return sorted((folder / "memory.db-blobs").rglob("*.zst"))


def _break(folder: Path) -> None:
    first = _contents(folder)[0]
    first.write_bytes(first.read_bytes()[:-3] + b"xyz")


def _lose(folder: Path) -> None:
    _contents(folder)[0].unlink()


def _swap(folder: Path) -> None:
    first, second, _ = _contents(folder)
    kept = first.read_bytes()
    shutil.copy(second, first)
    second.write_bytes(kept)


@pytest.mark.parametrize(
    ("hurt", "told", "count"),
    [(_break, "is not what was stored", 1), (_lose, "is missing", 1), (_swap, "not what was", 2)],
)
async def test_a_content_that_is_broken_missing_or_another_is_found(
    tmp_path: Path, hurt: Callable[[Path], None], told: str, count: int
):
    settings = await _filled(tmp_path)
    assert await _problems(settings) == {}
    hurt(tmp_path)
    problems = await _problems(settings)
    assert [*problems] == ["archived contents"]
    assert problems["archived contents"].count(told) == count


@pytest.mark.usefixtures("real_model")
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            "UPDATE vectors SET vector = zeroblob(length(vector))"
            " WHERE unit_id = (SELECT min(unit_id) FROM vectors)",
            "the vector of",
        ),
        (
            "UPDATE units SET terms = zeroblob(length(terms)) WHERE owner_kind = 'record'",
            "terms of",
        ),
    ],
)
async def test_what_is_searched_and_does_not_follow_from_the_texts_is_found(
    tmp_path: Path, change: str, told: str
):
    settings = await _filled(tmp_path)
    with sqlite3.connect(tmp_path / "memory.db") as rows:
        rows.execute(change)
    problems = await _problems(settings)
    assert [*problems] == ["search index"]
    assert told in problems["search index"]


async def _mended(settings: Settings) -> list[str]:
    """Let the command mend what it finds; return what it says of the index before and after."""
    told: list[str] = []
    command = [*RECOLLECT, "doctor", "--deep", "--json", "--data", str(settings.database)]
    again = [*RECOLLECT, "reindex", "--data", str(settings.database)]
    for words in (command, [*command, "--fix"], again, command):
        done = await asyncio.to_thread(
            subprocess.run, words, check=False, capture_output=True, text=True
        )
        if words is not again:
            (index,) = (
                it for it in json.loads(done.stdout)["findings"] if it["part"] == "search index"
            )
            told.append(index["message"])
            assert (done.returncode == 5) == (index["verdict"] == "problem")
            wanted = {0: "doctor --deep --fix", 1: "reindex"}.get(len(told) - 1, "")
            assert wanted in index["hint"]
    return told


@pytest.mark.usefixtures("real_model")
async def test_vectors_of_other_texts_are_found_and_made_anew(tmp_path: Path):
    settings = await _filled(tmp_path)
    with sqlite3.connect(tmp_path / "memory.db") as rows:
        (first, one), (second, other) = rows.execute(
            "SELECT unit_id, vector FROM vectors ORDER BY unit_id LIMIT 2"
        ).fetchall()
        swap = "UPDATE vectors SET vector = ? WHERE unit_id = ?"
        rows.executemany(swap, [(other, first), (one, second)])
    before, fixed, after = await _mended(settings)
    assert before.count("is of another text") == 2
    assert "2 were removed" in fixed
    assert "the vectors of 20 of 20 records" in after


@pytest.mark.usefixtures("real_model")
async def test_search_terms_of_another_text_are_made_anew(tmp_path: Path):
    settings = await _filled(tmp_path)
    with sqlite3.connect(tmp_path / "memory.db") as rows:
        rows.execute(
            "UPDATE units SET terms = (SELECT terms FROM units WHERE ordinal = 0 LIMIT 1) "
            "WHERE id = (SELECT max(id) FROM units WHERE owner_kind = 'record')"
        )
    problems = await _problems(settings)
    assert problems["search index"].count("the search terms of mem_") == 1
    await diagnose(settings, deep=True, mend=True)
    async with Memory.open(settings) as memory:
        await memory.reindex()
    assert await _problems(settings) == {}


def _swap_tokens(rows: sqlite3.Connection) -> None:
    """Let two units stand in the full text for each other."""
    (one, scope, its), (other, _, theirs) = rows.execute(
        "SELECT id, scope_id, terms FROM units WHERE owner_kind = 'record' ORDER BY id LIMIT 2"
    ).fetchall()
    words = {unit: " ".join(tokens(scope, terms)) for unit, terms in ((one, its), (other, theirs))}
    for unit in words:
        rows.execute(
            "INSERT INTO unit_tokens(unit_tokens, rowid, tokens) VALUES ('delete', ?, ?)",
            (unit, words[unit]),
        )
    for unit, at in ((one, other), (other, one)):
        rows.execute("INSERT INTO unit_tokens(rowid, tokens) VALUES (?, ?)", (at, words[unit]))


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO unit_tokens(rowid, tokens) VALUES (4294967297, '0000000100000000000000aa')",
        "INSERT INTO unit_tokens(unit_tokens) VALUES ('delete-all')",
        # Two texts that stand for each other: each term is there as often as before.
        "swap",
    ],
)
async def test_a_full_text_that_is_not_that_of_its_units_is_found_and_made_anew(
    tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(commit, "_LARGE_SCOPE_TERMS", 20)
    monkeypatch.setattr(commit, "_BEHIND", 2)
    settings = await _filled(tmp_path)
    assert await _problems(settings) == {}
    with sqlite3.connect(tmp_path / "memory.db") as rows:
        if change == "swap":
            _swap_tokens(rows)
        else:
            rows.execute(change)
    problems = await _problems(settings)
    assert "the full text" in problems["search index"]
    mended = await diagnose(settings, deep=True, mend=True)
    assert "were removed" in str(mended.findings)
    assert await _problems(settings) == {}


def _verdict(database: Path, pragma: str) -> str:
    with sqlite3.connect(database) as rows:
        return rows.execute(f"PRAGMA {pragma}").fetchone()[0]


def _damage_an_index(database: Path, damaged: Path) -> None:
    """Change one byte of an index, so that only reading all of it shows that."""
    with sqlite3.connect(database) as rows:
        rows.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        rows.execute("PRAGMA journal_mode = DELETE")
        size = rows.execute("PRAGMA page_size").fetchone()[0]
        roots = rows.execute("SELECT rootpage FROM sqlite_master WHERE type = 'index'").fetchall()
    sound = database.read_bytes()
    for (root,) in roots:
        for back in (2, 12, 20, 40):
            content = bytearray(sound)
            content[root * size - back] ^= 1
            damaged.write_bytes(bytes(content))
            if _verdict(damaged, "quick_check") == "ok" != _verdict(damaged, "integrity_check"):
                return
    pytest.fail("no byte of an index could be changed")


async def test_a_damaged_page_of_an_index_is_found(tmp_path: Path):
    settings = await _filled(tmp_path)
    database, damaged = tmp_path / "memory.db", tmp_path / "damaged.db"
    _damage_an_index(database, damaged)
    damaged.replace(database)
    problems = await _problems(settings)
    assert "the pages of the database" in problems["search index"]


async def test_a_read_only_file_system_can_be_listed_asked_and_exported(tmp_path: Path):
    kept, mounted = tmp_path / "kept", tmp_path / "mounted"
    kept.mkdir()
    mounted.mkdir()
    async with Memory.open(kept / "memory.db") as memory:
        await memory.remember("Ann likes green tea")
    commands = [["list"], ["recall", "tea"], ["export", "-"], ["remember", "Ann likes rye"]]
    script = (
        f"mount --bind '{kept}' '{mounted}' && mount -o remount,ro,bind '{mounted}' || exit 99\n"
    )
    # One after the other in one process: each would import everything anew.
    (tmp_path / "commands.py").write_text(
        "import contextlib, pathlib\n"
        "from recollect.cli.app import run\n"
        f"for number, command in enumerate({commands!r}):\n"
        f"    with (pathlib.Path({str(tmp_path)!r}) / str(number)).open('w') as told:\n"
        "        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):\n"
        f"            status = run([*command, '--data', {f'{mounted}/memory.db'!r}])\n"
        "        told.write(f'{status}\\n')\n"
    )
    script += f"'{sys.executable}' '{tmp_path}/commands.py'\n"
    shell = ["unshare", "-m", "sh", "-c", script]
    done = await asyncio.to_thread(subprocess.run, shell, check=False)
    if done.returncode == 99:
        pytest.skip("this machine lets nobody mount")
    told = [(tmp_path / str(number)).read_text() for number in range(4)]
    for text in told[:3]:
        assert "Ann likes green tea" in text
        assert text.endswith("\n0\n")
    assert "database_read_only" in told[3]
    assert json.loads(told[2].splitlines()[0])["counts"]["records"] == 1
