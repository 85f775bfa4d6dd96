"""How often an everyday memory answers right: 28 invented lives with an assistant.

Each life is told in the order of its events, notes as they are saved and conversations as they are
observed, with the clock at the time of each. Then its questions are asked. A hit is right when it
contains one of `want`, outdated when it contains one of `stale` and none of `want`.

    first     the best hit is right
    in three  one of the best three is
    outdated  of the questions whose answer changed: an outdated hit comes before every right one
    prompt    the block for a message contains what matters for it
    silent    the block is empty, since nothing was ever said about it

    python benchmarks/everyday.py [benchmarks/everyday/en.jsonl …] [--failures]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from recollect import Memory
from recollect.settings import Settings

LIVES = Path(__file__).with_name("everyday")
BETWEEN_MESSAGES = timedelta(seconds=40)


class Clock:
    """A clock that stands where it was put."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


async def tell(memory: Memory, clock: Clock, life: dict[str, Any]) -> None:
    for number, event in enumerate(life["events"]):
        clock.time = datetime.fromisoformat(event["at"])
        if "save" in event:
            await memory.write(event["save"])
            continue
        session = event.get("session", f"talk {number}")
        for message in event["messages"]:
            await memory.observe({**message, "at": clock.now()}, session=session)
            clock.time += BETWEEN_MESSAGES
        await memory.extract(session)
    clock.time += timedelta(hours=1)
    await memory.drain()


async def figures(memory: Memory, check: dict[str, Any]) -> dict[str, bool]:
    """Return what a check says under each figure."""
    kind, want = check["kind"], check.get("want", ())
    if kind == "prefetch":
        return {"prompt": says((await memory.context(check["message"])).text, want)}
    if kind == "silent":
        return {"silent": not (await memory.context(check["ask"])).text.strip()}
    if kind != "answer":
        return {}
    hits = [hit.content for hit in await memory.recall(check["ask"])]
    first = next((place for place, text in enumerate(hits) if says(text, want)), len(hits))
    is_found = first < len(hits)
    found = {"first": is_found and first == 0, "in three": is_found and first < 3}
    if stale := check.get("stale"):
        found["outdated"] = any(says(text, stale) for text in hits[:first])
    return found


def says(text: str, wanted: Iterable[str]) -> bool:
    plain = " ".join(text.casefold().split())
    return any(" ".join(one.casefold().split()) in plain for one in wanted)


async def live(life: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, bool]]]:
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock()
        async with Memory.open(Settings.load({"data_dir": folder}), clock=clock) as root:
            memory = root.scope(user=life["id"])
            await tell(memory, clock, life)
            return [(check, await figures(memory, check)) for check in life["checks"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=sorted(LIVES.glob("*.jsonl")))
    parser.add_argument("--failures", action="store_true", help="list what went wrong")
    given = parser.parse_args()
    for file in given.files:
        counted: dict[str, list[bool]] = defaultdict(list)
        for line in file.read_text("utf-8").splitlines():
            life = json.loads(line)
            for check, found in asyncio.run(live(life)):
                for figure, value in found.items():
                    counted[figure].append(value)
                    if given.failures and value == (figure == "outdated"):
                        print(life["id"], figure, check.get("ask") or check.get("message"))
        shares = (f"{name} {sum(it) / len(it):.3f} ({len(it)})" for name, it in counted.items())
        print(f"{file.stem}: " + "  ".join(shares), flush=True)


if __name__ == "__main__":
    main()
