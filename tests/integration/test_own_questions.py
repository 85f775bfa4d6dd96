"""`recollect eval FILE` asks one's own questions of one's own memory."""

import json
from pathlib import Path

import pytest

from tests.command_line import CommandLine


@pytest.fixture
def recollect(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]):
    run = CommandLine(capfdbinary)

    def ask(*arguments: str):
        return run("--data", str(tmp_path / "memory.db"), *arguments)

    ask("remember", "Ann moved to Basel", "--user", "ann")
    ask("remember", "安妮对花生过敏", "--user", "ann")
    return ask


def _file(folder: Path, *questions: dict[str, object]) -> str:
    file = folder / "questions.jsonl"
    file.write_text("\n".join(json.dumps(it, ensure_ascii=False) for it in questions), "utf-8")
    return str(file)


def test_what_is_answered_is_counted_and_what_is_not_is_told(recollect, tmp_path: Path):
    file = _file(
        tmp_path,
        {"ask": "Where did Ann move?", "want": ["basel", "bern"], "group": "en"},
        {"ask": "安妮对什么过敏？", "want": "花生", "group": "zh"},
        {"ask": "Who moved to Basel?", "want": ["Zurich"], "group": "en"},
        {"ask": "Which submarine did the admiral sink?", "nothing": True},
    )
    told = recollect("eval", file, "--user", "ann", "--json").json
    assert told["overall"]["questions"] == 4
    assert told["overall"]["first"] == pytest.approx(2 / 3, abs=1e-3)
    assert told["overall"]["silent"] == 1
    assert told["groups"]["zh"]["first"] == 1
    assert [it["question"]["ask"] for it in told["missed"]] == ["Who moved to Basel?"]
    shown = recollect("eval", file, "--user", "ann")
    assert "not answered: Who moved to Basel?" in shown.out
    # For a pipeline: too few answers are an exit code.
    assert recollect("eval", file, "--user", "ann", "--at-least", "0.9").status == 1
    assert recollect("eval", file, "--user", "ann", "--at-least", "0.5").status == 0
    # Somebody else's memory answers none of them.
    assert recollect("eval", file, "--user", "bob", "--json").json["overall"]["found"] == 0


def test_an_id_is_an_answer_too(recollect, tmp_path: Path):
    (ident,) = [
        it["id"]
        for it in recollect("list", "--user", "ann", "--json").json["items"]
        if "Basel" in it["content"]
    ]
    file = _file(tmp_path, {"ask": "Where did Ann move?", "ids": [ident]})
    assert recollect("eval", file, "--user", "ann", "--json").json["overall"]["first"] == 1


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ({"ask": "x"}, "missing_field"),
        ({"want": ["x"]}, "missing_field"),
        ({"ask": "x", "want": ["y"], "nothing": True}, "missing_field"),
        ({"ask": "x", "want": [3]}, "wrong_type"),
        ({"ask": "x", "wants": ["y"]}, "unknown_field"),
    ],
)
def test_a_bad_line_is_told(recollect, tmp_path: Path, question: dict[str, object], code: str):
    file = _file(tmp_path, {"ask": "fine", "want": ["x"]}, question)
    refused = recollect("eval", file, "--json")
    assert refused.error["code"] == code
    assert "Line 2" in refused.error["message"]
