"""Pairs made from invented lives: what people tell an assistant over months, as they tell it.

A life has attributes, each with its earlier value (`old`), the later one as a note and as told in
chat (`new`), statements that look alike and change nothing (`alike`), and the earlier value said
again (`again`). What belongs to other attributes of the same life is different from it. A life
that is `held` back is measured with and never trained on.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from training.judge.slots import is_chinese
from training.judge.variants import Pair

Life = dict[str, Any]

_FROM_OTHERS = 10
_AMONG_CHATTER = 0.4


def read_lives(folder: Path) -> list[Life]:
    """Return the lives of all files, each with a name of its own."""
    return [
        {"name": f"{file.stem}-{number}", **json.loads(line)}
        for file in sorted(folder.glob("lives_*.jsonl"))
        for number, line in enumerate(file.read_text("utf-8").splitlines())
    ]


def pairs_of_life(life: Life, draw: random.Random) -> Iterator[Pair]:
    """Yield a round of pairs; each round puts other chatter around what was said."""
    attributes = life["attributes"]
    for place, attribute in enumerate(attributes):
        others = attributes[:place] + attributes[place + 1 :]
        beside = [*life["noise"], *(text for other in others for text in other["alike"])]
        for pair in _pairs_of_attribute(attribute, others, life["noise"], draw):
            old, new = pair.old, _among(pair.new, beside, draw)
            if pair.label != "same":
                old = _among(old, beside, draw, share=_AMONG_CHATTER / 2)
            else:
                new = pair.new
            yield Pair(pair.label, old, new, pair.weight, life["name"])


def _pairs_of_attribute(
    attribute: Life, others: list[Life], noise: list[str], draw: random.Random
) -> Iterator[Pair]:
    before = [*attribute["old"], *attribute["again"]]
    for old, new in itertools.product(before, attribute["new"]):
        yield Pair("update", old, new)
    for old, new in itertools.product(before, attribute["alike"]):
        yield Pair("different", old, new)
    for new, alike in itertools.product(attribute["new"], attribute["alike"]):
        if draw.random() < 0.3:
            yield Pair("different", *draw.sample((new, alike), 2))
    for old, new in itertools.permutations(before, 2):
        yield Pair("same", old, new)
    elsewhere = [text for other in others for text in (*other["old"], *other["new"])]
    for text in draw.sample(elsewhere, min(_FROM_OTHERS, len(elsewhere))):
        yield Pair("different", draw.choice([*before, *attribute["new"]]), text)
    for text in draw.sample(noise, 2):
        yield Pair("different", draw.choice(before), text)


def _among(text: str, beside: list[str], draw: random.Random, share: float = _AMONG_CHATTER) -> str:
    """Return the text, sometimes in a message that also says something else."""
    if draw.random() >= share:
        return text
    between = "。" if is_chinese(text) else ". "
    parts = draw.sample((text, draw.choice(beside)), 2)
    return between.join(part.rstrip("。. ") for part in parts)
