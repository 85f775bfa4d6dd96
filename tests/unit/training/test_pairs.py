"""The judge's training pairs never hold what the judge is measured on."""

from __future__ import annotations

import json
import lzma
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from training import sample
from training.judge import auxiliary, pairs
from training.judge.look_alikes import pairs_of_look_alikes
from training.judge.own import DATA, read_lines
from training.judge.several import pairs_of_several

GROUPS = """\
@ value=port1 subject=svc1
A {svc1} listens on port {port1}
A {svc1} 监听 {port1} 端口
U We moved {svc1} over to port {port2}
C Port of {svc1}: {port2}
D {svc1} runs with {n2} replicas

@
A I don't eat meat
A I'm vegetarian
A 我吃素
U I've started eating meat again
C I eat steak twice a week
C 我每周吃两次牛排
D I'm allergic to peanuts

@
A I play the cello
A 我拉大提琴
U I sold my cello
C I cannot play any instrument
D My sister plays the flute
"""
SINGLES = """\
s|We ship on Thursdays|Thursday is release day
c|The licence is MIT|The licence is GPL
d|小陈是我表妹|小陈住在上海
"""
CARDS = """\
% svc
port:port|{s} listens on port {x}|The port of {s} is {x}|{s} 的端口是 {x}|{s} 监听 {x}
repl:n|{s} has {x} replicas|We run {x} copies of {s}|{s} 有 {x} 个副本|{s} 跑了 {x} 份
standby:host|{x} is the standby of {s}|If {s} fails, {x} takes over|{s} 的备机是 {x}|备机 {x} 顶 {s}
owner:person|{x} is responsible for {s}|{s} belongs to {x}|{s} 归 {x} 管|{s} 的负责人是 {x}
"""
# The third group is measured, and so is one of the single pairs.
DEV = [
    {"label": "same", "old": "I play the cello", "new": "我拉大提琴", "src": "g1-2"},
    {"label": "update", "old": "I play the cello", "new": "I sold my cello", "src": "g1-2"},
    {"label": "conflict", "old": "The licence is MIT", "new": "The licence is GPL", "src": "p1-1"},
]
TRAIN = [
    {"label": "same", "old": "I don't eat meat", "new": "我吃素", "w": 1.0, "src": "g1-1"},
    # A measured sentence in another spelling, under another name.
    {"label": "same", "old": "i play the cello.", "new": "Cello is mine", "w": 1.0, "src": "x-1"},
]
LATER = [
    {"label": label, "old": f"Fact {number} of Ghent", "new": f"{label} {number}"}
    for number in range(20)
    for label in ("same", "update", "conflict", "different")
]


def write_pairs(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    with lzma.open(folder / f"{name}.jsonl.xz", "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    (folder / "groups").mkdir()
    for name, text in {"g1": GROUPS, "p1": SINGLES, "cards": CARDS}.items():
        (folder / "groups" / f"{name}.txt").write_text(text, "utf-8")
    files = {"pairs_dev": DEV, "pairs_train": TRAIN, "more_zh": LATER}
    for name in ("more_en", "extra_zh", "extra_en"):
        files[name] = []
    for name, rows in files.items():
        write_pairs(folder, name, rows)
    return folder


@pytest.fixture(scope="module")
def made(own: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    with pytest.MonkeyPatch.context() as patch:
        _make_few(patch)
        return pairs.own_pairs(own, random.Random(1))


def _make_few(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pairs, "_FROM_CARD", {"svc": 400})
    patch.setattr(pairs, "_ROUNDS_OF_SEVERAL", 0)


def test_no_measured_sentence_is_trained_on(made):
    train, dev = made
    # Of what there may be several of only the pairs are new: a sentence may stand in another one.
    by_hand = [row for row in dev if row["src"] != "several"]
    measured = {pairs.key(row[side]) for row in by_hand for side in ("old", "new")}
    trained = {pairs.key(row[side]) for row in train for side in ("old", "new")}
    assert len(train) > 500
    assert measured.isdisjoint(trained)


def test_no_measured_group_is_trained_on_in_any_phrasing(made):
    train, _ = made
    assert not any("cello" in (row["old"] + row["new"]).lower() for row in train)
    assert any("vegetarian" in (row["old"] + row["new"]).lower() for row in train)


def test_no_attribute_that_is_held_back_is_trained_on(made):
    train, _ = made
    texts = " ".join(row["old"] + row["new"] for row in train).lower()
    assert "standby" not in texts
    assert "备机" not in texts
    assert "replicas" in texts


def test_what_there_may_be_several_of_is_measured_with_other_sentences():
    trained, held = (list(pairs_of_several(random.Random(1), held=held)) for held in (False, True))
    assert {pair.label for pair in [*trained, *held]} == {"different"}
    assert any("I speak " in pair.old for pair in held)
    texts = {text for pair in trained for text in (pair.old, pair.new)}
    assert texts.isdisjoint(text for pair in held for text in (pair.old, pair.new))


def test_a_look_alike_is_measured_beside_another_statement_than_it_is_trained_beside():
    trained, held = (list(pairs_of_look_alikes(DATA, held=held)) for held in (False, True))
    assert {it.label for it in held} == {"update", "conflict", "different"}
    assert {it.old for it in trained}.isdisjoint(it.old for it in held)
    assert {it.new for it in trained}.isdisjoint(it.new for it in held)


def test_every_fifth_look_alike_of_each_file_is_held_back(tmp_path: Path):
    told = {"old": "I live in Ghent.", "update": ["I moved to Turin."], "conflict": []}
    line = json.dumps({**told, "different": []}) + "\n"
    for name in ("look_alikes_en", "look_alikes_more_en", "look_alikes_zh", "look_alikes_more_zh"):
        (tmp_path / f"{name}.jsonl").write_text(line * 6, encoding="utf-8")
    held = {pair.source for pair in pairs_of_look_alikes(tmp_path, held=True)}
    assert {"look_alikes_more_en-0", "look_alikes_more_en-5", "look_alikes_more_zh-5"} <= held
    assert len(held) == 8


def test_an_old_statement_is_on_one_side_only(made):
    train, dev = made
    fresh = {row["old"] for row in dev if row["src"] == "fresh"}
    assert len(fresh) == 2
    assert fresh.isdisjoint(row["old"] for row in train)
    for old in fresh:
        assert {row["label"] for row in dev if row["old"] == old} == {
            "same", "update", "conflict", "different",
        }  # fmt: skip


def test_no_label_is_rare(made):
    train, _ = made
    weights = Counter[str]()
    for row in train:
        weights[row["label"]] += row["w"]
    total = sum(weights.values())
    assert all(0.1 < weight / total < 0.5 for weight in weights.values())
    assert len(weights) == 4


def test_the_same_draw_makes_the_same_pairs(own: Path, made, monkeypatch: pytest.MonkeyPatch):
    _make_few(monkeypatch)
    assert pairs.own_pairs(own, random.Random(1)) == made


def test_the_measured_pairs_of_the_repository_are_of_other_groups_than_the_trained_ones():
    by_hand = [row for row in read_lines(DATA, "pairs_dev") if not row.get("auto")]
    trained = {row["src"] for row in read_lines(DATA, "pairs_train")}
    assert len(by_hand) == 1_479
    assert trained.isdisjoint(row["src"] for row in by_hand if not row["src"].startswith("card-"))


def test_public_pairs_hold_for_both_heads_and_each_only_once(tmp_path: Path):
    sample.write_sources(tmp_path, count=60)
    rows = auxiliary.rows(tmp_path, random.Random(1))
    assert len(set(rows)) == len(rows)
    kinds = Counter((kind, label) for kind, _, _, label in rows)
    assert set(kinds) == {("n", 0), ("n", 1), ("n", 2), ("p", 0), ("p", 1)}
