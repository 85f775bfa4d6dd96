"""Real files of many kinds: the right text, or a clear error for that file alone."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from recollect import Memory
from recollect.domain.sections import KnowledgeSettings
from recollect.errors import InvalidInput
from recollect.knowledge.parser import Parser
from tests.office_files import docx, pdf, xlsx, zip_bomb


async def test_a_folder_of_mixed_files(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    good = {
        "travel.pdf": pdf([["第一章 差旅", "机票须提前十天预订。"], ["Hotels cost ninety coins."]]),
        "prices.docx": docx(["# Equipment", [["item", "cost"], ["laptop", "1900"]]]),
        "people.xlsx": xlsx([["name", "city"], ["Ann", "Lisbon"], ["王芳", "北京"]]),
        "page.html": b"<h1>Lights</h1><p>The lantern is lit at dusk.</p>",
        "tool.py": b"def polish(lens):\n    return lens.clean()\n",
        "notes.txt": "仓库的钥匙由李雷保管。".encode("gb18030"),
        "wide.txt": "The umbrella is blue.".encode("utf-16"),
        "rows.csv": b"fruit,shelf\nquince,seven\n",
    }
    bad = {
        "locked.pdf": (pdf([["secret"]], encrypted=True), "password"),
        "cut.docx": (docx(["# Lost"])[:200], "cut off or damaged"),
        "empty.md": (b"", "empty"),
        "bomb.docx": (zip_bomb(600 * 2**20), "unpacked_too_large"),
    }
    for name, data in {**good, **{name: it[0] for name, it in bad.items()}}.items():
        (folder / name).write_bytes(data)

    done = await memory.knowledge.sync(folder)

    errors = {Path(it.source).name: it.error for it in done.files if it.outcome == "failed"}
    assert errors.keys() == bad.keys()
    assert all(told in errors[name] for name, (_, told) in bad.items())
    assert errors["locked.pdf"].count("password-protected") == 1
    assert "Save it again without a password" in errors["locked.pdf"]
    assert "empty.md" not in errors["empty.md"]
    assert done.count("added") == len(good)
    for question, expected, name in (
        ("机票提前几天预订", "十天", "travel.pdf"),
        ("laptop cost", "1900", "prices.docx"),
        ("王芳 city", "北京", "people.xlsx"),
        ("lantern dusk", "lit", "page.html"),
        ("polish lens", "clean", "tool.py"),
        ("仓库钥匙", "李雷", "notes.txt"),
        ("umbrella", "blue", "wide.txt"),
        ("quince shelf", "seven", "rows.csv"),
    ):
        best = (await memory.knowledge.search(question))[0]
        assert expected in best.content, question
        assert Path(best.citation.source).name == name
    hotels = (await memory.knowledge.search("hotels ninety"))[0].citation
    assert hotels.page == 2
    assert not (tmp_path / "escape.txt").exists()


async def test_rows_of_a_table_keep_the_names_of_their_columns(memory: Memory) -> None:
    rows = [f"A{number:03d},widget {number},{number * 3}.50" for number in range(300)]
    await memory.knowledge.add("\n".join(["sku,name,price", *rows]), "prices.csv")
    await memory.knowledge.add("\n".join(rows), "bare.csv")

    found = await memory.knowledge.search("price of widget 277", limit=1)

    assert "A277,widget 277,831.50" in found[0].content
    assert found[0].citation.label == "prices.csv › sku,name,price"
    # The first row of a table without names is no heading.
    bare = await memory.knowledge.search("widget 277", types="csv", limit=50)
    assert {it.citation.path for it in bare if it.citation.title == "bare.csv"} == {()}


async def test_a_page_is_cited_once(memory: Memory) -> None:
    await memory.knowledge.add(pdf([["Cover"], ["Hotels cost ninety coins."]]), "travel.pdf")

    asked = await memory.context("How many coins do hotels cost?")

    assert asked.text.count("p. 2") == 1


async def test_a_reader_that_dies_or_hangs_stops_nothing() -> None:
    parser = Parser(KnowledgeSettings(parse_seconds=0.001))
    with pytest.raises(InvalidInput, match="took more than"):
        await parser.parse(pdf([["slow"]]), "pdf", "slow.pdf")
    await parser.close()
    parser = Parser()
    try:
        assert "one" in (await parser.parse(pdf([["one"]]), "pdf", "a.pdf")).text
        child = parser._child  # pyright: ignore[reportPrivateUsage]
        assert child is not None
        os.kill(child.pid, signal.SIGSTOP)
        os.kill(child.pid, signal.SIGKILL)
        with pytest.raises(InvalidInput, match="crash"):
            await parser.parse(pdf([["two"]]), "pdf", "b.pdf")
        assert "three" in (await parser.parse(pdf([["three"]]), "pdf", "c.pdf")).text
    finally:
        await parser.close()


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(15_000, id="1 MB"),
        pytest.param(1_080_000, id="50 MB", marks=[pytest.mark.soak, pytest.mark.timeout(3_600)]),
    ],
)
async def test_a_large_log_is_read_and_searched(memory: Memory, lines: int) -> None:
    told = (
        f"2026-01-01 12:00:{number % 60:02d} INFO worker {number} is idle"
        for number in range(lines)
    )
    text = "\n".join(told) + "\n2026-01-02 ERROR the zeppelin valve burst\n"

    document = await memory.knowledge.add(text, "service.log")

    assert document.chars == len(text)
    found = await memory.knowledge.search("zeppelin valve")
    assert "burst" in found[0].content
    assert text[found[0].citation.start : found[0].citation.end] == found[0].content
