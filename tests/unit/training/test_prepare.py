"""Preparing the embedder's texts, on a tiny folder of sources."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path

import pytest

from training import sample
from training.answers.groups import DATA, read_scenes
from training.embedder import prepare


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    sample.write_sources(folder, count=20)
    return folder


@pytest.fixture
def own(tmp_path: Path) -> Path:
    rows = {
        "pairs_train": [
            {"label": "same", "old": "I live in Ghent", "new": "我住在根特"},
            {"label": "same", "old": "我住在根特", "new": "我家在根特"},
            {"label": "update", "old": "I live in Ghent", "new": "我搬到了布鲁日"},
        ],
        "more_zh": [{"label": "same", "old": "鑰匙在門後", "new": "The key is behind the door"}],
        "more_en": [{"label": "same", "old": "I sail", "new": "Sailing is what I do"}],
        "pairs_dev": [{"label": "same", "old": "测量", "new": "to measure"}],
    }
    for name, pairs in rows.items():
        with lzma.open(tmp_path / f"{name}.jsonl.xz", "wt", encoding="utf-8") as lines:
            lines.writelines(json.dumps(pair) + "\n" for pair in pairs)
    return tmp_path


def test_texts_are_folded_as_the_model_reads_them(tmp_path: Path):
    file = tmp_path / "rows.tsv.xz"
    with lzma.open(file, "wt", encoding="utf-8") as lines:
        lines.write("tatoeba\t備用鑰匙\tSpare ｋｅｙ\nbroken line\n")
    assert prepare.read_rows(file) == [["tatoeba", "备用钥匙", "Spare key"]]


def test_rows_come_back_as_they_were_written(tmp_path: Path):
    file = tmp_path / "rows.tsv.xz"
    prepare.write_rows(file, [["own", "两\t行\n文字", "x"]])
    assert prepare.read_rows(file) == [["own", "两 行 文字", "x"]]


def test_our_own_pairs_become_translations_and_paraphrases(own: Path):
    *written, home, key = prepare.own_translations(own)
    assert len(written) > 2_000
    assert all(source == "own" and chinese and english for source, chinese, english in written)
    assert [home, key] == [
        ["own", "我住在根特", "I live in Ghent"],
        ["own", "钥匙在门后", "The key is behind the door"],
    ]
    assert list(prepare.own_paraphrases(own)) == [["own", "我住在根特", "我家在根特"]]


def test_questions_come_with_their_passage(sources: Path):
    rows = list(prepare.reading_comprehension(sources))
    # The sample has the same questions in both of its parts.
    assert len(rows) == 40
    assert all(source == "drcd" and asked.endswith("吗?") and told for source, asked, told in rows)


def test_our_own_questions_come_with_what_answers_them():
    rows = list(prepare.own_answers())
    held_back = {scene["told"][0] for scene in read_scenes(DATA)[9::10]}
    assert len(rows) > 1_000
    assert all(source == "answers" for source, _, _ in rows)
    assert not held_back & {text for _, _, text in rows}


def test_dialogues_are_what_people_say(sources: Path):
    said = {english[0] for english, _ in sample.sentences(20)}
    assert set(prepare.dialogues(sources)) == said


def test_no_source_counts_for_more_than_its_share(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(prepare, "_SAMPLE_A_SOURCE", 50)
    many = [["mdn_docs", "一二三四五六七八九十", "text"]] * 100
    few = [["tatoeba", "厨房", "kitchen"]] * 10
    taken = list(prepare._sampled([*many, ["cedict", "词条", "entry"], *few], []))
    assert taken.count("一二三四五六七八九十") == 5
    assert 0 < taken.count("厨房") <= 10
    assert "词条" not in taken


def test_recall_sets_keep_scope_gold_and_text(tmp_path: Path):
    unit = {"scope": "ann", "id": "u1", "text": "備用鑰匙"}
    asked = {"scope": "ann", "gold": ["u1"], "query": "Spare key?"}
    for name in prepare._BENCH_SETS:
        for kind, row in (("corpus", unit), ("queries", asked)):
            data = gzip.compress((json.dumps(row) + "\n").encode())
            (tmp_path / f"{name}.{kind}.jsonl.gz").write_bytes(data)
    sets = prepare.recall_sets(tmp_path)
    assert set(sets) == set(prepare._BENCH_SETS)
    assert sets["locomo"] == {
        "units": [("ann", "u1", "备用钥匙")],
        "queries": [("ann", ["u1"], "Spare key?")],
    }
