"""Count the modules and stack frames of Recollect that one warm call passes.

    python tools/count_frames.py [--stack]

    files    modules of the package that run at least one function
    calls    function calls inside the package
    deepest  the most frames of the package on the stack at the same time
    at SQL   the most of them when a statement is executed

`100 records` is a recall among them that no model reads, with a vector that is known.

With `--stack`, the deepest stack at a statement is printed too.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import httpx

import recollect
from recollect import Memory
from recollect.evaluation.speed import Writer
from recollect.server.app import create_app
from recollect.settings import Settings

PACKAGE = str(Path(recollect.__file__).parent)
FACTS = ["I live in Lisbon", "My sister Clara is a nurse", "我喜欢靠窗的座位"]
QUESTION = "Where do I live?"
WARM_CALLS = 3
COUNTED_CALLS = 10


@dataclass
class Counted:
    """What one call passed."""

    files: set[str] = field(default_factory=set[str])
    calls: int = 0
    deepest: int = 0
    at_sql: list[str] = field(default_factory=list[str])

    def see(self, frame: FrameType, event: str, called: Any) -> None:
        """Count one event of the profiler."""
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            self.files.add(frame.f_code.co_filename)
            self.calls += 1
            self.deepest = max(self.deepest, len(own_frames(frame)))
        elif event == "c_call" and called.__name__ in ("execute", "executemany"):
            self.at_sql = max(self.at_sql, own_frames(frame), key=len)


def own_frames(frame: FrameType | None) -> list[str]:
    """Return the frames of the package on the stack, outermost first."""
    found: list[str] = []
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(PACKAGE):
            found.append(f"{name[len(PACKAGE) + 1 :]}:{frame.f_code.co_qualname}")
        frame = frame.f_back
    return found[::-1]


class Profiler:
    """A profiler of every thread, which counts while a call is made."""

    def __init__(self) -> None:
        self._counted: Counted | None = None
        threading.setprofile(self._see)
        sys.setprofile(self._see)

    async def count(self, call: Callable[[], Awaitable[object]]) -> Counted:
        """Return what a warm call passes; the least of several, since jobs may run beside it."""
        for _ in range(WARM_CALLS):
            await call()
        seen: list[Counted] = []
        for _ in range(COUNTED_CALLS):
            self._counted = Counted()
            seen.append(self._counted)
            await call()
            self._counted = None
        return min(seen, key=lambda one: one.calls)

    def _see(self, frame: FrameType, event: str, called: Any) -> None:
        if self._counted is not None:
            self._counted.see(frame, event, called)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stack", action="store_true", help="print the deepest stack at SQL")
    given = parser.parse_args()
    # Before any thread is started.
    profiler = Profiler()

    async def report(name: str, call: Callable[[], Awaitable[object]]) -> None:
        seen = await profiler.count(call)
        print(
            f"{name:12} files {len(seen.files):3}  calls {seen.calls:5}  "
            f"deepest {seen.deepest:2}  at SQL {len(seen.at_sql):2}"
        )
        if given.stack:
            print("".join(f"    {frame}\n" for frame in seen.at_sql), end="")

    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.load({"data_dir": folder, "recall": {"cache_seconds": 0}})
        async with Memory.open(settings) as memory:
            await memory.remember_many(FACTS)
            await memory.drain()
            await report("recall", lambda: memory.recall(QUESTION))
            await report("remember", lambda: memory.remember("The bike is green"))
        writer = Writer()
        unread = {"recall": {"cache_seconds": 0, "read_hits": 0}, "data_dir": f"{folder}/more"}
        async with Memory.open(Settings.load(unread)) as memory:
            await memory.remember_many([writer.text(number) for number in range(100)])
            await memory.drain()
            asked = writer.question(0)
            await report("100 records", lambda: memory.recall(asked, min_score=0))
        app = create_app(settings)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:7077"
            ) as client,
        ):
            body = {"query": QUESTION}
            await report("HTTP recall", lambda: client.post("/v1/recall", json=body))


if __name__ == "__main__":
    asyncio.run(main())
