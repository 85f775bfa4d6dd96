"""Benchmark of extraction: talks with what is worth keeping, and what is not, marked in them."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from recollect.errors import InvalidInput
from recollect.evaluation.scratch import empty_memory
from recollect.settings import Settings

Place = tuple[int, int, int]
"""The number of a turn, and the characters of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A conversation, and the places in it that are to be kept or skipped."""

    turns: Sequence[tuple[str, str]]
    keep: Sequence[Place]
    skip: Sequence[Place]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionResult:
    """What became records: right and wrong ones, and those of which the talk says nothing."""

    items: int
    found: int
    right: int
    wrong: int
    unmarked: int
    empty: int
    """The talks with nothing to keep, and how many of them left no record (`silent`)."""
    silent: int
    turns: int
    seconds: float

    def as_json(self) -> dict[str, Any]:
        return {
            "items": self.items,
            "recall": _share(self.found, self.items),
            "precision": _share(self.right, self.right + self.wrong),
            "records": {"right": self.right, "wrong": self.wrong, "unmarked": self.unmarked},
            "silent": _share(self.silent, self.empty),
            "ms_a_turn": round(1000 * self.seconds / max(1, self.turns), 1),
        }


def read_talks(file: Path) -> list[Talk]:
    """Return the talks of a file of JSON lines with turns, keep and skip."""
    talks: list[Talk] = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            form = cast("dict[str, Any]", json.loads(line))
            turns = [(str(turn["role"]), str(turn["content"])) for turn in form["turns"]]
            talks.append(
                Talk(
                    turns=turns,
                    keep=[_place(turns, it) for it in form["keep"]],
                    skip=[_place(turns, it) for it in form["skip"]],
                )
            )
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as problem:
            raise InvalidInput(
                f"Line {number} of {file.name} is not a marked talk: {problem!r}",
                code="bad_talk",
                hint='A line is {"turns": [{"role": …, "content": …}], "keep": [{"turn": …, '
                '"span": …}], "skip": […]}.',
            ) from None
    return talks


async def measure_extraction(
    talks: Sequence[Talk], settings: Settings, *, done: Callable[[int], None]
) -> ExtractionResult:
    """Observe each talk as a user of its own, read it, and see which places became records."""
    counts: Counter[str] = Counter()
    seconds = 0.0
    async with empty_memory(settings) as root:
        for number, talk in enumerate(talks):
            memory = root.scope(user=f"talk-{number}")
            messages = [{"role": role, "content": content} for role, content in talk.turns]
            turns = await memory.observe(messages, session="talk")
            told = {turn.id: place for place, turn in enumerate(turns)}
            started = time.perf_counter()
            await memory.extract("talk")
            seconds += time.perf_counter() - started
            records = (await memory.list()).items
            kept = [
                (told[it.turn], it.start, it.end)
                for record in records
                for it in record.evidence[:1]
                if it.turn in told and it.start is not None and it.end is not None
            ]
            _count(counts, talk, [it for it in kept if talk.turns[it[0]][0] == "user"])
            done(1)
    said = sum(len(talk.turns) for talk in talks)
    return ExtractionResult(
        items=counts["items"],
        found=counts["found"],
        right=counts["right"],
        wrong=counts["wrong"],
        unmarked=counts["unmarked"],
        empty=counts["empty"],
        silent=counts["silent"],
        turns=said,
        seconds=seconds,
    )


def _count(counts: Counter[str], talk: Talk, kept: Sequence[Place]) -> None:
    counts["items"] += len(talk.keep)
    counts["found"] += sum(_meets(item, kept) for item in talk.keep)
    for place in kept:
        is_right, is_wrong = _meets(place, talk.keep), _meets(place, talk.skip)
        counts["right" if is_right else "wrong" if is_wrong else "unmarked"] += 1
    if not talk.keep:
        counts["empty"] += 1
        counts["silent"] += not kept


def _meets(place: Place, others: Sequence[Place]) -> bool:
    return any(
        place[0] == other[0] and place[1] < other[2] and other[1] < place[2] for other in others
    )


def _place(turns: Sequence[tuple[str, str]], item: dict[str, Any]) -> Place:
    turn, span = int(item["turn"]), str(item["span"])
    start = turns[turn][1].index(span)
    return turn, start, start + len(span)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0
