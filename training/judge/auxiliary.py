"""Entailment and paraphrase pairs for the judge's first phase, from public sets.

Chinese entailment comes from captions and their translations: a translation is entailed, an
exchanged word or number contradicts, a caption's first clause is entailed by the whole.
"""

from __future__ import annotations

import csv
import lzma
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from recollect.language.characters import fold
from training.judge.slots import is_chinese, read_table

Row = tuple[str, str, str, int]
Translation = tuple[str, str]

ENTAILED, NEUTRAL, CONTRADICTED = range(3)
_NLI = {"entailment": ENTAILED, "neutral": NEUTRAL, "contradiction": CONTRADICTED}
_TAKEN = {"tatoeba": 21_000, "3am_captions": 24_000, "k8s_docs": 4_000, "mdn_docs": 4_000}
_TAKEN |= {"python_docs": 4_000, "django_docs": 3_000}
_SHORTEST, _LONGEST = 4, 220
_NUMBER = re.compile(r"\d+")
_BEFORE_PUNCTUATION = re.compile(r"\s+([.,!?;:%)\]]|n't\b|'(?:s|m|re|ve|d|ll)\b)")
_CAPTIONS = "3am_captions"


def rows(sources: Path, draw: random.Random) -> list[Row]:
    """Return kind (n entailment, p paraphrase), two texts and the label, each row once.

    Sources that are only copied have no translations, hence no paraphrases.
    """
    has_translations = (sources / "par.tsv.xz").exists()
    translated = _translated(sources, draw) if has_translations else ()
    found = list(dict.fromkeys([*_english(sources / "nli"), *translated]))
    found = [row for row in found if row[1] and row[2] and "\t" not in row[1] + row[2]]
    draw.shuffle(found)
    return found


def _english(folder: Path) -> Iterator[Row]:
    """Yield public entailment pairs; without ShareAlike sources there are none."""
    if not folder.is_dir():
        return
    for part in ("train", "dev", "test"):
        for row in _table(folder / f"cad_{part}.tsv"):
            yield _nli(row["sentence1"], row["sentence2"], _NLI[row["gold_label"]])
    for part in ("dev", "test"):
        columns = [
            (folder / f"snli_{column}.{part}").read_text("utf-8").splitlines()
            for column in ("s1", "s2", "labels")
        ]
        for first, second, label in zip(*columns, strict=True):
            if label in _NLI:
                yield _nli(first, second, _NLI[label])
    for row in _table(folder / "neg_snli.txt"):
        yield _nli(row["Text"], row["Hypothesis"], _NLI[row["gold_label"]])


def _nli(first: str, second: str, label: int) -> Row:
    return "n", _tidied(first), _tidied(second), label


def _table(file: Path, encoding: str = "utf-8") -> Iterator[dict[str, str]]:
    with file.open(encoding=encoding, newline="") as lines:
        yield from csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)


def _tidied(text: str) -> str:
    """Return the text without the spaces that a tokenizer left before punctuation."""
    text = fold(text).replace("``", '"').replace("''", '"').replace("-LRB-", "(")
    text = text.replace("-RRB-", ")").replace("( ", "(")
    return _BEFORE_PUNCTUATION.sub(r"\1", " ".join(text.split()))


def _translated(sources: Path, draw: random.Random) -> Iterator[Row]:
    for source, pairs in _translations(sources / "par.tsv.xz", draw).items():
        for place, (chinese, english) in enumerate(pairs):
            yield _turned("p", chinese, english, 1, draw)
            number = _other_number(english, draw)
            other = number or _neighbour(pairs, place, draw)[1]
            if other:
                yield _turned("p", chinese, other, 0, draw)
            if number and draw.random() < 0.5:
                yield _turned("n", chinese, number, CONTRADICTED, draw)
        if source == _CAPTIONS:
            yield from _chinese_nli(pairs, draw)


def _translations(file: Path, draw: random.Random) -> dict[str, list[Translation]]:
    """Return each source's share of the translations, in their order."""
    found = defaultdict[str, list[Translation]](list)
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            source, chinese, english = line.rstrip("\n").split("\t")
            fits = len(chinese) >= _SHORTEST and len(english) <= _LONGEST
            if source in _TAKEN and fits and is_chinese(chinese):
                found[source].append((chinese, english))
    for source, pairs in found.items():
        kept = sorted(draw.sample(range(len(pairs)), min(_TAKEN[source], len(pairs))))
        found[source] = [(fold(pairs[it][0]), fold(pairs[it][1])) for it in kept]
    return found


def _chinese_nli(pairs: list[Translation], draw: random.Random) -> Iterator[Row]:
    swaps = [tuple(map(fold, row)) for row in read_table("swaps.tsv")]
    for place, (chinese, english) in enumerate(pairs):
        chance = draw.random()
        if chance < 0.12:
            yield _turned("n", chinese, english, ENTAILED, draw)
        elif chance < 0.35:
            yield _turned(
                "n", chinese, _any_side(_neighbour(pairs, place, draw), draw), NEUTRAL, draw
            )
        clause = chinese.split(",")[0]
        if clause != chinese and len(clause) >= 8:
            whole = english if draw.random() < 0.25 else chinese
            yield "n", whole, f"{clause}。", ENTAILED
            yield "n", f"{clause}。", whole, NEUTRAL
        changed = _exchanged((chinese, english), swaps, draw)
        if changed and draw.random() < 0.6:
            first = english if draw.random() < 0.25 else chinese
            yield _turned("n", first, changed, CONTRADICTED, draw)
        elif "正在" in chinese:
            denied = chinese.replace("正在", "没有在", 1)
            yield _turned("n", chinese, denied, CONTRADICTED, draw)


def _exchanged(pair: Translation, swaps: list[tuple[str, ...]], draw: random.Random) -> str | None:
    """Return the Chinese text with one word exchanged for another that excludes it."""
    fitting = [
        (chinese, other)
        for one, one_chinese, two, two_chinese in swaps
        for english, chinese, other in (
            (one, one_chinese, two_chinese),
            (two, two_chinese, one_chinese),
        )
        if chinese in pair[0] and other not in pair[0] and re.search(rf"\b{english}", pair[1], re.I)
    ]
    return pair[0].replace(*draw.choice(fitting)) if fitting else None


def _neighbour(pairs: list[Translation], place: int, draw: random.Random) -> Translation:
    """Return a translation nearby that does not look like this one, or empty texts."""
    own = set(pairs[place][0])
    for _ in range(4):
        other = pairs[(place + draw.randint(1, 40)) % len(pairs)]
        near = set(other[0])
        if len(own & near) < 0.6 * len(own | near) and other[1] != pairs[place][1]:
            return other
    return "", ""


def _other_number(text: str, draw: random.Random) -> str | None:
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return None
    one = draw.choice(numbers)
    other = str(int(one[0][:9]) + draw.choice((1, 2, 3, 7, 10)))
    return text[: one.start()] + other + text[one.end() :]


def _any_side(pair: Translation, draw: random.Random) -> str:
    return pair[1] if draw.random() < 0.3 else pair[0]


def _turned(kind: str, first: str, second: str, label: int, draw: random.Random) -> Row:
    """Return the row in either order, for relations that hold both ways."""
    return (kind, first, second, label) if draw.random() < 0.5 else (kind, second, first, label)
