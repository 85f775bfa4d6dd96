"""Let Recollect hear invented histories, and write what it finds for each question.

`python -m training.answers.candidates FOLDER FILE... ` keeps one memory for each history in FOLDER
(so that asking again is fast) and writes FOLDER/candidates.jsonl: a line for each question, with
the best candidates, their texts as they are remembered, who said them, what was said before, how
long ago that was, and whether they answer.

A message that answers with one of several records leaves open which of them does: those records
are "unknown".
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from recollect import Memory
from recollect.domain.hit import Hit
from recollect.domain.record import Record
from recollect.settings import Settings
from training.answers.histories import Asked, History, Message, read_histories

MOST = 24
_BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
_BETWEEN_MESSAGES = timedelta(seconds=40)
_BEFORE_ASKING = timedelta(days=2)


class Clock:
    """A clock that stands where it was put."""

    def __init__(self) -> None:
        self.time = _BEGIN

    def now(self) -> datetime:
        return self.time


class Heard:
    """A history in a memory: which turn is which message."""

    def __init__(self, history: History, folder: Path) -> None:
        self.history = history
        self.clock = Clock()
        self._file = folder / "memory.db"
        self._turns = folder / "turns.json"
        folder.mkdir(parents=True, exist_ok=True)
        # A history that was written anew is told anew.
        told = folder / "told.txt"
        said = "\n".join(f"{it.name} {it.day} {it.speaker} {it.text}" for it in history.messages)
        if not told.exists() or told.read_text("utf-8") != said:
            for left in folder.iterdir():
                left.unlink()
            told.write_text(said, "utf-8")

    def open(self) -> Memory:
        settings: dict[str, Any] = {
            "storage": {"path": str(self._file)},
            "session": {"prepare_seconds": 60},
            "recall": {"patience": 60},
        }
        return Memory.open(Settings(**settings), clock=self.clock)

    async def hear(self) -> dict[str, Message]:
        """Tell everything, once; return the messages by their turns."""
        messages = {it.name: it for it in self.history.messages}
        if self._turns.exists():
            self.clock.time = self._asked_at()
            known: dict[str, int] = json.loads(self._turns.read_text("utf-8"))
            return {turn: messages[name] for turn, name in known.items()}
        turns: dict[str, int] = {}
        for day in sorted({it.day for it in self.history.messages}):
            self.clock.time = max(self.clock.time, _BEGIN + timedelta(days=day))
            async with self.open() as root:
                memory = root.scope(user="user")
                async with memory.session(f"day {day}") as session:
                    for it in (it for it in self.history.messages if it.day == day):
                        self.clock.time += _BETWEEN_MESSAGES
                        role = "user" if it.speaker == "u" else "assistant"
                        said = {"role": role, "content": it.text, "at": self.clock.now()}
                        for turn in await session.observe(said):
                            turns[turn.id] = it.name
                    await session.end()
        self.clock.time = self._asked_at()
        async with self.open() as root:
            await root.drain()
        self._turns.write_text(json.dumps(turns), "utf-8")
        return {turn: messages[name] for turn, name in turns.items()}

    def _asked_at(self) -> datetime:
        last = max(it.day for it in self.history.messages)
        return _BEGIN + timedelta(days=last) + _BEFORE_ASKING


class Labels:
    """Which of the hits of a question answer it."""

    def __init__(self, asked: Asked, turns: dict[str, Message], records: Counter[str]) -> None:
        self._asked = asked
        self._turns = turns
        self._records = records

    def of(self, hit: Hit) -> tuple[str, Message | None]:
        """Return "right", "old", "wrong" or "unknown", and the message that a hit comes from."""
        ids = [it.turn for it in hit.item.evidence] if isinstance(hit.item, Record) else [hit.id]
        found = [self._turns[it] for it in ids if it in self._turns]
        names = {it.name for it in found}
        for label, wanted in (("right", self._asked.now), ("old", self._asked.was)):
            if names & wanted:
                is_one = len(ids) == 1 and (hit.id == ids[0] or self._records[ids[0]] == 1)
                return (label if is_one else "unknown"), found[0]
        return "wrong", found[0] if found else None


async def candidates_of(heard: Heard) -> list[dict[str, Any]]:
    turns = await heard.hear()
    before = {
        later.name: earlier
        for earlier, later in pairwise(heard.history.messages)
        if earlier.day == later.day
    }
    last = heard.history.messages[-1].day + _BEFORE_ASKING.days
    rows: list[dict[str, Any]] = []
    async with heard.open() as root:
        memory = root.scope(user="user")
        records = await _records(memory)
        for asked in heard.history.asked:
            labels = Labels(asked, turns, records)
            hits = await memory.recall(asked.text, limit=MOST, min_score=0)
            texts: list[dict[str, Any]] = []
            for hit in hits:
                label, message = labels.of(hit)
                if message is None:
                    continue
                is_record = isinstance(hit.item, Record)
                texts.append(
                    {
                        **_read(message, None if is_record else before.get(message.name), last),
                        "text": hit.content,
                        "is": label,
                        "record": is_record,
                        "score": round(hit.score, 4),
                    }
                )
            texts += not_found(asked, heard.history, texts)
            kind = "request" if asked.is_request else "question" if asked.now else "none"
            rows.append({"who": heard.history.who, "kind": kind, "q": asked.text, "texts": texts})
    return rows


def not_found(
    asked: Asked, history: History, texts: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield the messages that answer or did, but were not found."""
    last = history.messages[-1].day + _BEFORE_ASKING.days
    found = {it["message"] for it in texts if not it["record"]}
    before: Message | None = None
    for it in history.messages:
        said = before if before and before.day == it.day else None
        label = "right" if it.name in asked.now else "old" if it.name in asked.was else ""
        if label and it.name not in found:
            yield {**_read(it, said, last), "is": label, "record": False, "score": 0.0}
        before = it


def _read(message: Message, before: Message | None, last: int) -> dict[str, Any]:
    """Return what is known of a message."""
    return {
        "text": message.text,
        "by": message.speaker,
        "days": last - message.day,
        "before": before.text if before else "",
        "before_by": before.speaker if before else "",
        "message": message.name,
    }


async def _records(memory: Any) -> Counter[str]:
    """Return how many records each turn gave."""
    counts: Counter[str] = Counter()
    cursor = None
    while True:
        page = await memory.list(limit=50, cursor=cursor)
        for record in page.items:
            counts.update({it.turn for it in record.evidence})
        cursor = page.next_cursor
        if cursor is None:
            return counts


async def write(folder: Path, files: Iterable[Path], name: str) -> None:
    with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as out:
        for file in files:
            for number, history in enumerate(read_histories(file)):
                heard = Heard(history, folder / f"{file.stem}-{number}")
                for row in await candidates_of(heard):
                    row["from"] = f"{file.stem}-{number}"
                    out.write(json.dumps(row, ensure_ascii=False) + "\n")
                out.flush()
                print(file.stem, number, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--name", default="candidates")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(write(given.folder, given.files, given.name))


if __name__ == "__main__":
    main()
