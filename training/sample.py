"""A tiny SOURCES folder to try the recipe on: made-up sentences in the real sources' form."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from training.answers.groups import PUBLIC
from training.judge.own import DATA, read_lines
from training.judge.slots import Slots
from training.judge.variants import read_cards

_NLI = ("entailment", "neutral", "contradiction")


def write_sources(folder: Path, count: int = 240) -> None:
    """Write about so many sentences of each kind: enough for batches, soon trained on."""
    said = sentences(count)
    parallel = [("tatoeba", chinese[0], english[0]) for english, chinese in said]
    parallel += [("3am_captions", chinese[1], english[1]) for english, chinese in said]
    together = [("kdconv", *chinese) for _, chinese in said]
    _write_rows(folder / "par.tsv.xz", parallel)
    _write_rows(folder / "zz.tsv.xz", together)
    for name in PUBLIC:
        _write_json(folder / name, {"data": [_article(said)]})
    with lzma.open(folder / "said.txt.xz", "wt", encoding="utf-8") as lines:
        lines.writelines(f"{english[0]}\n" for english, _ in said)
    _write(folder / "glosses.tsv", ["钥匙\tkey", "住\tlive"])
    words = {word: len(said) for _, chinese in said for word in chinese[0][:2]}
    _write(folder / "jieba" / "dict.txt", (f"{word} {times} n" for word, times in words.items()))
    _write_nli(folder / "nli", [english for english, _ in said])


def write_own(folder: Path, count: int = 200) -> None:
    """Write the first of our own pairs, groups and cards."""
    for file in (DATA / "groups").glob("*.txt"):
        blocks = file.read_text("utf-8").split("\n\n" if file.stem.startswith("g") else "\n")
        few = blocks if file.stem == "cards" else blocks[: count // 10]
        joint = "\n\n" if file.stem.startswith("g") else "\n"
        _write(folder / "groups" / file.name, [joint.join(few)])
    for file in DATA.glob("*.jsonl.xz"):
        name = file.name.removesuffix(".jsonl.xz")
        with lzma.open(folder / file.name, "wt", encoding="utf-8") as lines:
            for row in islice(read_lines(DATA, name), count):
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")


def sentences(count: int) -> list[tuple[list[str], list[str]]]:
    """Return statements, each in two English and two Chinese sentences."""
    draw = random.Random(5)
    slots, cards = Slots(draw), read_cards(DATA / "groups" / "cards.txt")
    found = list[tuple[list[str], list[str]]]()
    for _ in range(count):
        card = draw.choice(sorted(cards))
        it, values = draw.choice(cards[card]), slots.values()
        values |= {"s": values[f"{card}1"], "x": values[f"{it.kind}2"]}
        english, chinese = (
            [slots.fill(template, values) for template in said] for said in (it.english, it.chinese)
        )
        found.append((english, chinese))
    return found


def _article(said: list[tuple[list[str], list[str]]]) -> dict[str, Any]:
    return {
        "paragraphs": [
            {
                "context": f"{chinese[1]}。{chinese[0]}。",
                "qas": [
                    {
                        "id": str(at),
                        "question": f"{chinese[0]}吗？",
                        "answers": [{"answer_start": 0}],
                    }
                ],
            }
            for at, (_, chinese) in enumerate(said)
        ]
    }


def _write_nli(folder: Path, said: list[list[str]]) -> None:
    rows = [(first, second, _NLI[at % 3]) for at, (first, second) in enumerate(said)]
    for part in ("train", "dev", "test"):
        table = ["sentence1\tsentence2\tgold_label", *("\t".join(row) for row in rows)]
        _write(folder / f"cad_{part}.tsv", table)
    for part in ("dev", "test"):
        for name, column in zip(("s1", "s2", "labels"), zip(*rows, strict=True), strict=True):
            _write(folder / f"snli_{name}.{part}", column)
    table = ["Text\tHypothesis\tgold_label", *("\t".join(row) for row in rows)]
    _write(folder / "neg_snli.txt", table)


def _write(file: Path, lines: Iterable[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", "utf-8")


def _write_json(file: Path, value: object) -> None:
    _write(file, [json.dumps(value, ensure_ascii=False)])


def _write_rows(file: Path, rows: Iterable[tuple[str, ...]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(file, "wt", preset=1, encoding="utf-8") as lines:
        lines.writelines("\t".join(row) + "\n" for row in rows)
