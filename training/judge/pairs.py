"""Make the judge's training pairs: `python -m training.judge.pairs SOURCES WORK`.

Our own pairs lie in training/judge/data; SOURCES holds the public sets that `sources.toml` names.
WORK gets judge_train.jsonl.xz, judge_dev.jsonl and judge_aux.tsv.xz. Groups, attributes and
sentences that judge_dev.jsonl is made of never reach the training pairs.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from recollect.language.characters import fold
from training.judge import auxiliary
from training.judge.lives import pairs_of_life, read_lives
from training.judge.look_alikes import pairs_of_look_alikes
from training.judge.own import DATA, read_lines
from training.judge.several import pairs_of_several
from training.judge.slots import Slots
from training.judge.variants import (
    Group,
    Pair,
    Phrasing,
    Variants,
    language,
    read_cards,
    read_groups,
    read_pairs,
)

_WRITTEN_LATER = ("more_zh", "more_en", "extra_zh", "extra_en")
_FRESH = "fresh"
_HELD_BACK = 0.1
_ROUNDS = 8
_COPIES_WRITTEN_LATER = 8
_COPIES_OF_GROUPS = 2
_ROUNDS_OF_LIVES = 4
_ROUNDS_OF_SEVERAL = 3
_ROUNDS_OF_LOOK_ALIKES = 8
_FROM_CARD = {"svc": 6_000, "person": 6_000, "proj": 3_500, "team": 3_000, "shop": 3_000}
_FROM_GROUP, _FROM_GROUP_WITH_SLOTS = 12, 26


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--own", type=Path, default=DATA, help="the folder of our own pairs")
    parser.add_argument("--only-own", action="store_true", help="without the public sets")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    draw = random.Random(17)
    train, dev = own_pairs(given.own, draw)

    with lzma.open(given.work / "judge_train.jsonl.xz", "wt", preset=1, encoding="utf-8") as lines:
        lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in train)
    with (given.work / "judge_dev.jsonl").open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in dev)
    extra = [] if given.only_own else auxiliary.rows(given.sources, draw)
    with lzma.open(given.work / "judge_aux.tsv.xz", "wt", preset=1, encoding="utf-8") as lines:
        lines.writelines("\t".join(map(str, row)) + "\n" for row in extra)

    print("train", len(train), counted(train))
    for part in (False, True):
        measured = [row for row in dev if (row["src"] == _FRESH) is part]
        print("fresh" if part else "dev", len(measured), counted(measured))
    print("aux", len(extra), Counter((row[0], row[3], language(*row[1:3])) for row in extra))


def own_pairs(
    folder: Path, draw: random.Random
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the pairs to train on, and those that the judge is measured on."""
    measured = list(read_lines(folder, "pairs_dev"))
    later, fresh = split_by_old(
        [row for name in _WRITTEN_LATER for row in read_lines(folder, name)], draw
    )
    lives = read_lives(folder)
    held_lives = [life for life in lives if life.get("held")]
    lives = [life for life in lives if not life.get("held")]
    told = [_row(it) for life in held_lives for it in pairs_of_life(life, draw)]
    alike = [_row(pair) for pair in pairs_of_look_alikes(folder, held=True)]
    dev = [folded(row) for row in [*measured, *fresh, *alike]]
    held_back = Measured(dev)
    train = training_pairs(folder, later, held_back, draw)
    train += [
        folded(_row(pair))
        for pair in held_back.without(pairs_of_look_alikes(folder, held=False))
        for _ in range(_ROUNDS_OF_LOOK_ALIKES)
    ]
    train += [
        folded(_row(pair))
        for _ in range(_ROUNDS_OF_LIVES)
        for life in lives
        for pair in pairs_of_life(life, draw)
    ]
    for _ in range(_ROUNDS_OF_SEVERAL):
        train += [folded(_row(pair)) for pair in pairs_of_several(draw, held=False)]
    draw.shuffle(train)
    dev += [folded({**row, "src": "lives"}) for row in told]
    dev += [{**folded(_row(pair)), "auto": True} for pair in pairs_of_several(draw, held=True)]
    return train, dev


def folded(row: dict[str, Any]) -> dict[str, Any]:
    old, new = (fold(" ".join(row[side].split())) for side in ("old", "new"))
    return {**row, "old": old, "new": new, "lang": language(old, new)}


def key(text: str) -> str:
    """Return what two spellings of one sentence have in common."""
    return "".join(letter for letter in fold(text).casefold() if letter.isalnum())


def split_by_old(
    rows: list[dict[str, Any]], draw: random.Random
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows to train on, and those held back; an old statement is on one side only."""
    statements = sorted({key(row["old"]) for row in rows})
    held = set(draw.sample(statements, round(_HELD_BACK * len(statements))))
    fresh = [{**row, "src": _FRESH} for row in rows if key(row["old"]) in held]
    return [row for row in rows if key(row["old"]) not in held], fresh


class Measured:
    """What the judge is measured on, and therefore never sees in training."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        # A card is measured by the attributes that attributes.tsv holds back.
        self.sources = {row["src"] for row in rows if not row["src"].startswith("card-")}
        self.pairs = {(key(row["old"]), key(row["new"])) for row in rows}
        by_hand = [row for row in rows if not row.get("auto")]
        self.sentences = {key(row[side]) for row in by_hand for side in ("old", "new")}

    def holds(self, old: str, new: str) -> bool:
        first, second = key(old), key(new)
        return (
            not self.sentences.isdisjoint((first, second))
            or (first, second) in self.pairs
            or (second, first) in self.pairs
        )

    def without(self, pairs: Iterable[Pair]) -> list[Pair]:
        return [
            it for it in pairs if it.source not in self.sources and not self.holds(it.old, it.new)
        ]

    def without_groups(self, groups: list[Group]) -> list[Group]:
        """Return the other groups, without lines that a measured one has, too."""
        kept = [it for it in groups if it.name not in self.sources]
        for group in kept:
            for part, lines in group.lines.items():
                group.lines[part] = [it for it in lines if key(it) not in self.sentences]
        return [it for it in kept if it.lines["A"]]


def training_pairs(
    folder: Path, later: list[dict[str, Any]], measured: Measured, draw: random.Random
) -> list[dict[str, Any]]:
    groups = measured.without_groups(read_groups(folder / "groups"))
    singles = measured.without(read_pairs(folder / "groups"))
    cards = read_cards(folder / "groups" / "cards.txt")
    filled = measured.without(map(_pair, read_lines(folder, "pairs_train")))
    written = measured.without(map(_pair, later))
    print("pairs by hand", len(written), "of", len(later), "groups' pairs", len(filled))
    texts = [text for it in [*filled, *written] for text in (it.old, it.new)]
    phrasing = Phrasing(draw, texts)
    variants = Variants(draw, Slots(draw), phrasing)

    found = filled * _COPIES_OF_GROUPS + written * 2
    for _ in range(_ROUNDS):
        for group in groups:
            found += map(phrasing.vary, _round_of(variants, group, groups))
        found += [phrasing.vary(it) for pair in singles for it in variants.of_pair(pair)]
    for _ in range(_COPIES_WRITTEN_LATER):
        found += [phrasing.vary(it) for pair in written for it in variants.of_pair(pair)]
    for card, attributes in cards.items():
        found += map(phrasing.vary, variants.of_card(card, attributes, _FROM_CARD[card]))
    return [folded(_row(it)) for it in measured.without(found)]


def _round_of(variants: Variants, group: Group, groups: list[Group]) -> list[Pair]:
    """Return a round's pairs of a group, its labels about equally often."""
    values = variants.slots.values()
    said = variants.of_group(group, values)
    by_label = {
        label: [it for it in said if it.label == label] for label in {it.label for it in said}
    }
    labels = sorted(by_label)
    count = _FROM_GROUP_WITH_SLOTS if group.value else _FROM_GROUP
    found = [variants.draw.choice(by_label[variants.draw.choice(labels)]) for _ in range(count)]
    around = variants.around_group(group, values)
    found += around if group.value else variants.draw.sample(around, min(4, len(around)))
    found += [variants.unrelated(group, groups, values) for _ in range(2)]
    return [replace(it, source=group.name) for it in found]


def _pair(row: dict[str, Any]) -> Pair:
    return Pair(row["label"], row["old"], row["new"], row.get("w", 1.0), row["src"])


def _row(pair: Pair) -> dict[str, Any]:
    return {
        "label": pair.label, "old": pair.old, "new": pair.new,
        "w": round(pair.weight, 2), "src": pair.source,
    }  # fmt: skip


def counted(rows: Iterable[dict[str, Any]]) -> dict[str, int]:
    return dict(sorted(Counter(f"{row['lang']} {row['label']}" for row in rows).items()))


if __name__ == "__main__":
    main()
