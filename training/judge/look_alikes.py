"""Pairs of statements that look alike: what changes a fact, and what only mentions its thing.

`data/look_alikes*_{en,zh}.jsonl` have an earlier statement a line, with later ones that update
it, that contradict it, and that tell something else: of another person, of another thing, an event
with the thing, what is only asked or planned. Every fifth line of each file is held back to
measure with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from training.judge.variants import Pair

_LABELS: Final = ("update", "conflict", "different")
_HELD_BACK: Final = 5
_WEIGHT: Final = 2.0


def pairs_of_look_alikes(folder: Path, *, held: bool) -> Iterator[Pair]:
    """Yield the earlier statement of each line with each of the later ones."""
    for file in sorted(folder.glob("look_alikes*.jsonl")):
        for number, line in enumerate(file.read_text("utf-8").splitlines()):
            if (number % _HELD_BACK == 0) is held:
                told = json.loads(line)
                for label in _LABELS:
                    for new in told[label]:
                        yield Pair(label, told["old"], new, _WEIGHT, f"{file.stem}-{number}")
