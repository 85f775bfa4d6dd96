"""Make what the answerer is trained with: `python -m training.answers.groups SOURCES WORK`.

A group is a question with texts that answer it and texts that do not. Our own come from invented
scenes (training/answers/data) and from the judge's invented lives; SOURCES holds the public sets
that `sources.toml` names for `answers`. WORK gets answers_train.jsonl.xz and answers_dev.jsonl,
which has the scenes and lives that are held back.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from recollect.language.characters import fold
from recollect.recall.passages import in_context
from training.judge.lives import Life, read_lives
from training.judge.own import DATA as JUDGE_DATA
from training.judge.slots import is_chinese

Group = dict[str, Any]
Scene = dict[str, Any]

DATA = Path(__file__).with_name("data")
_ROUNDS = 4
_AMONG = 0.3
_MOST_WRONG = 44
_HELD_EVERY = 10
_HELD_HISTORY = 6
_SENTENCE = re.compile(r"[^.!?。!?;\n]+(?:[.!?。!?;\n]+[\"”』」)]*|$)(?=\s|$|[^\x00-\x7f])|[^\n]+")
PUBLIC = ("squad_dev_v2.json", "squad_dev_v1.json", "xquad_en.json", "xquad_zh.json")
PUBLIC += ("DRCD/DRCD_dev.json", "DRCD/DRCD_test.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path)
    parser.add_argument("work", type=Path)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    draw = random.Random(23)
    train, dev = own_groups(draw)
    for kind, groups in (("contrast", contrast_groups()), ("history", history_groups(given.work))):
        for held, group in groups:
            (dev if held else train).append({**group, "from": f"{kind} {group['from']}"})
    train += public_groups(given.sources, draw)
    with lzma.open(given.work / "answers_train.jsonl.xz", "wt", preset=6, encoding="utf-8") as file:
        file.writelines(json.dumps(it, ensure_ascii=False) + "\n" for it in train)
    with (given.work / "answers_dev.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(it, ensure_ascii=False) + "\n" for it in dev)
    for name, groups in (("train", train), ("dev", dev)):
        kinds = sorted({it["from"] for it in groups})
        print(name, {kind: sum(it["from"] == kind for it in groups) for kind in kinds})


def own_groups(draw: random.Random) -> tuple[list[Group], list[Group]]:
    """Return the groups of our own to train with, and those that are held back."""
    train: list[Group] = []
    dev: list[Group] = []
    for kind, groups_of in (("scenes", scene_groups), ("changes", change_groups)):
        for number, scene in enumerate(read_scenes(DATA, kind)):
            if number % _HELD_EVERY == _HELD_EVERY - 1:
                dev += groups_of(scene)
            else:
                for _ in range(_ROUNDS):
                    train += (among_others(it, scene["told"], draw) for it in groups_of(scene))
    for life in read_lives(JUDGE_DATA):
        if life.get("held"):
            dev += life_groups(life, draw)
        else:
            for _ in range(_ROUNDS):
                beside = [text for it in life["attributes"] for text in it["alike"]]
                told = [*life["noise"], *beside]
                train += (among_others(it, told, draw) for it in life_groups(life, draw))
    return train, dev


def own_questions() -> Iterator[tuple[str, str]]:
    """Yield question and text that answers it, of our own groups that are trained with."""
    seen = set[tuple[str, str]]()
    for group in own_groups(random.Random(23))[0]:
        for text in group["right"]:
            if (group["q"], text) not in seen:
                seen.add((group["q"], text))
                yield group["q"], text


def read_scenes(folder: Path, kind: str = "scenes") -> list[Scene]:
    """Return the scenes of a kind: those where nothing changes ("scenes"), or "changes"."""
    files = sorted(folder.glob(f"{kind}_*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def scene_groups(scene: Scene) -> Iterator[Group]:
    """Yield every question of a scene with all that was told in it."""
    told = [folded(text) for text in scene["told"]]
    unanswered = [{"q": question, "a": []} for question in scene["none"]]
    for kind, asked in (("ask", scene["ask"]), ("task", scene["tasks"]), ("none", unanswered)):
        for question in asked:
            right = set(question["a"])
            yield _group(
                f"scene {kind}",
                question["q"],
                [text for place, text in enumerate(told) if place in right],
                [text for place, text in enumerate(told) if place not in right],
            )


def change_groups(scene: Scene) -> Iterator[Group]:
    """Yield every question of a scene in which things change.

    What answers it in the end (`now`) and what answered it before (`was`) are both right: which of
    them holds, mostly their times tell.
    """
    told = [folded(text) for text in scene["told"]]
    asked = [
        ("change", question, {*it["now"], *it["was"]}, {*it["was"]} - {*it["now"]})
        for it in scene["ask"]
        for question in it["q"]
    ]
    asked += [
        ("change task", question, set(it["a"]), set[int]())
        for it in scene["tasks"]
        for question in it["q"]
    ]
    asked += [("change none", question, set[int](), set[int]()) for question in scene["none"]]
    for kind, question, right, old in asked:
        yield _group(
            kind,
            question,
            [text for place, text in enumerate(told) if place in right],
            [text for place, text in enumerate(told) if place not in right],
            [told[place] for place in old],
        )


def contrast_groups() -> Iterator[tuple[bool, Group]]:
    """Yield questions with few texts that all look like answers, and whether they are held back."""
    for file in sorted(DATA.glob("contrast_*.jsonl.xz")):
        with lzma.open(file, "rt", encoding="utf-8") as lines:
            for number, it in enumerate(map(json.loads, lines)):
                right, old, wrong = ([*map(folded, it[name])] for name in ("right", "old", "wrong"))
                group = _group(it["kind"], it["q"], [*right, *old], wrong, old)
                yield number % _HELD_EVERY == _HELD_EVERY - 1, group


def history_groups(work: Path) -> Iterator[tuple[bool, Group]]:
    """Yield the questions of invented histories with what recall found, and which are held back.

    WORK/candidates.jsonl is what `training.answers.candidates` wrote.
    """
    file = work / "candidates.jsonl"
    for row in map(json.loads, file.read_text("utf-8").splitlines() if file.exists() else ()):
        texts = {name: [*map(_read, it)] for name, it in _by_label(row["texts"]).items()}
        old = texts["old"]
        group = _group(row["kind"], row["q"], [*texts["right"], *old], texts["wrong"], old)
        held = int(row["from"].rpartition("-")[2]) % _HELD_HISTORY == _HELD_HISTORY - 1
        yield held, group


def _by_label(texts: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return {name: [it for it in texts if it["is"] == name] for name in ("right", "old", "wrong")}


def _read(it: dict[str, Any]) -> str:
    role = "assistant" if it["by"] == "a" else "user"
    age = timedelta(days=it["days"])
    return folded(in_context(it["text"], age=age, role=role, before=it["before"]))


def life_groups(life: Life, draw: random.Random) -> Iterator[Group]:
    """Yield the questions about each attribute of a life, with what looks like an answer."""
    attributes = life["attributes"]
    for place, attribute in enumerate(attributes):
        others = attributes[:place] + attributes[place + 1 :]
        elsewhere = [text for it in others for text in (*it["old"], *it["new"], *it["ask"])]
        right = [*attribute["old"], *attribute["new"], *attribute["again"]]
        for question in attribute["ask"]:
            again = [it for it in attribute["ask"] if it != question]
            wrong = [*attribute["alike"], *again, *draw.sample(life["noise"], 2)]
            wrong += draw.sample(elsewhere, min(12, len(elsewhere)))
            old = [*map(folded, attribute["old"])]
            yield _group("life", question, map(folded, right), map(folded, wrong), old)


def among_others(group: Group, told: list[str], draw: random.Random) -> Group:
    """Return the group with some of its texts in messages that say something else, too."""
    wrong = group["wrong"]

    def message(text: str) -> str:
        if draw.random() >= _AMONG or not wrong:
            return text
        between = "。" if is_chinese(text) else ". "
        parts = draw.sample((text, draw.choice(wrong)), 2)
        return between.join(part.rstrip("。. ") for part in parts)

    return {**group, "right": [*map(message, group["right"])], "wrong": [*map(message, wrong)]}


def public_groups(sources: Path, draw: random.Random) -> list[Group]:
    """Return the questions of the public sets that are there, with their paragraph's sentences."""
    found: list[Group] = []
    english: dict[str, Group] = {}
    for name in (it for it in PUBLIC if (sources / it).is_file()):
        for key, group in _paragraphs(json.loads((sources / name).read_text("utf-8"))):
            group["from"] = name.partition("_")[0].partition("/")[0].lower()
            found.append(group)
            if name == "xquad_en.json":
                english[key] = group
            elif name == "xquad_zh.json" and key in english:
                # The same question in the other language.
                found.append({**group, "q": english[key]["q"]})
                found.append({**english[key], "q": group["q"]})
    draw.shuffle(found)
    return found


def _paragraphs(data: dict[str, Any]) -> Iterator[tuple[str, Group]]:
    for paragraph in (it for article in data["data"] for it in article["paragraphs"]):
        context: str = paragraph["context"]
        sentences = [(it.start(), it.end()) for it in _SENTENCE.finditer(context)]
        for question in paragraph["qas"]:
            places = {it["answer_start"] for it in question["answers"]}
            right = [(a, b) for a, b in sentences if any(a <= it < b for it in places)]
            texts = {part: folded(context[slice(*part)]) for part in sentences}
            yield (
                question["id"],
                _group(
                    "public",
                    question["question"],
                    (texts[it] for it in right),
                    (text for part, text in texts.items() if part not in right),
                ),
            )


def folded(text: str) -> str:
    """Return the text as the model reads it."""
    return fold(" ".join(text.split()))


def _group(
    kind: str, question: str, right: Iterable[str], wrong: Iterable[str], old: Sequence[str] = ()
) -> Group:
    answers = [text for text in dict.fromkeys(right) if text]
    return {
        "from": kind,
        "q": folded(question),
        "right": answers,
        "old": [place for place, text in enumerate(answers) if text in old],
        "wrong": [text for text in dict.fromkeys(wrong) if text][:_MOST_WRONG],
    }


if __name__ == "__main__":
    main()
