"""A process that is killed while it reads documents leaves whole ones, and the work goes on."""

from __future__ import annotations

import asyncio
import random
import signal
from pathlib import Path

from recollect import Memory
from tests.database_servers import environment_of, place_of
from tests.nursery import WARM

_OLD, _NEW = "heron", "magpie"
_READER = """
import asyncio, sys
from recollect import Memory

async def main():
    async with Memory.open(sys.argv[1]) as memory:
        print("open", flush=True)
        await memory.knowledge.sync(sys.argv[2])
        print("done", flush=True)

asyncio.run(main())
"""


def _text(bird: str, number: int) -> str:
    return "".join(
        f"# Part {part}\n\nThe {bird} of file {number} sits on pole {part}. {'It waits. ' * 40}\n\n"
        for part in range(30)
    )


async def test_no_half_document_ever_answers_and_the_run_resumes(
    database_path: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "birds"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.md").write_text(_text(_OLD, number))
    async with Memory.open(database_path) as memory:
        await memory.knowledge.sync(folder)
        whole = (await memory.knowledge.list()).items[0].chunks
    # Four are swapped, and two are new.
    for number in range(6):
        (folder / f"{number}.md").write_text(_text(_NEW, number))

    dice = random.Random(7)
    for _ in range(3):
        await _killed(database_path, folder, dice.uniform(0.0, 0.4))
        async with Memory.open(database_path) as memory:
            await _require_whole(memory, whole)

    async with Memory.open(database_path) as memory:
        done = await memory.knowledge.sync(folder)
        assert done.count("failed") == 0
        assert {it.status for it in (await memory.knowledge.list()).items} == {"ready"}
        await _require_whole(memory, whole)
        assert not any(
            _OLD in passage.content for passage in await memory.knowledge.search(_NEW, limit=20)
        )


async def _killed(database: Path, folder: Path, after: float) -> None:
    """Start a process that brings the folder up to date, and kill it some seconds later."""
    child = await asyncio.create_subprocess_exec(
        WARM,
        "-c",
        _READER,
        place_of(database),
        str(folder),
        stdout=asyncio.subprocess.PIPE,
        env=environment_of(database),
    )
    assert child.stdout is not None
    assert await child.stdout.readline() == b"open\n"
    await asyncio.sleep(after)
    if child.returncode is None:
        child.send_signal(signal.SIGKILL)
    await child.wait()


async def _require_whole(memory: Memory, whole: int) -> None:
    """Require that each document is all old or all new, in its sections and in the search."""
    for document in (await memory.knowledge.list()).items:
        if document.status == "pending":
            assert document.chunks == 0
            assert await memory.knowledge.sections(document.id) == ()
            continue
        assert document.chunks == whole
        text = "".join(it.text for it in await memory.knowledge.sections(document.id))
        birds = [bird for bird in (_OLD, _NEW) if bird in text]
        assert len(birds) == 1
        assert text.count(birds[0]) == 30
        assert len(await memory.knowledge.chunks(document.id)) == whole
    for bird in (_OLD, _NEW):
        for passage in await memory.knowledge.search(f"{bird} pole", limit=5):
            sections = await memory.knowledge.sections(passage.citation.document)
            text = "".join(it.text for it in sections)
            assert text[passage.citation.start : passage.citation.end] == passage.content
