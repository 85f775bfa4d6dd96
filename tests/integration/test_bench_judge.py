"""`recollect bench judge`: what becomes of labelled pairs that are written one after the other."""

import json
from pathlib import Path

import pytest

from recollect.writing.judges import JudgeChain
from tests.command_line import CommandLine
from tests.fakes import FakeJudge

_PAIRS = [
    {"label": "same", "old": "Ann cycles", "new": "ann cycles.", "lang": "en"},
    {"label": "same", "old": "Ann cycles", "new": "Ann rides a bike", "lang": "en", "auto": 1},
    {"label": "update", "old": "Ann lives in Oslo", "new": "Ann moved to Rome", "lang": "en"},
    {"label": "update", "old": "安住在奥斯陆", "new": "安搬到罗马了", "lang": "zh"},
    {"label": "conflict", "old": "安是护士", "new": "安是律师", "lang": "zh"},
    {"label": "different", "old": "Ann has a cat", "new": "Ann has a dog", "lang": "en"},
    {"label": "different", "old": "Port 8080", "new": "4 replicas", "lang": "en"},
    {"label": "different", "old": "安有一只猫", "new": "安有一条狗", "lang": "zh"},
]


@pytest.fixture
def cli(capfdbinary: pytest.CaptureFixture[bytes]) -> CommandLine:
    return CommandLine(capfdbinary)


def test_each_label_is_counted_by_what_became_of_its_pairs(
    cli: CommandLine, judge: FakeJudge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    judge.knows("Ann cycles", "Ann rides a bike", "same")
    judge.knows("Ann lives in Oslo", "Ann moved to Rome", "update", is_sure=True)
    judge.knows("安是护士", "安是律师", "conflict")
    judge.knows("Ann has a cat", "Ann has a dog", "update", is_sure=True)
    judge.knows("安有一只猫", "安有一条狗", "conflict")
    monkeypatch.setattr("recollect.assemble.judge.judge_of", lambda *_: JudgeChain([judge]))
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(map(json.dumps, _PAIRS)), "utf-8")

    told = cli("bench", "judge", str(file), "--json").json

    assert (told["judge"], told["pairs"]) == ("fake-judge", 8)
    hand = told["hand"]["all"]
    assert hand["same"] == {"of": 1, "once": 1.0, "became": {"merged": 1}}
    assert hand["update"] == {"of": 2, "followed": 0.5, "became": {"apart": 1, "replaced": 1}}
    assert hand["conflict"] == {"of": 1, "surfaced": 1.0, "became": {"conflict": 1}}
    assert told["hand"]["zh"]["different"] == {
        "of": 1,
        "lost": 0.0,
        "linked": 1.0,
        "became": {"conflict": 1},
    }
    assert (hand["different"]["lost"], hand["different"]["linked"]) == (0.3333, 0.3333)
    assert told["hand"]["zh"]["update"]["followed"] == 0.0
    assert told["auto"]["en"] == {"same": {"of": 1, "once": 1.0, "became": {"same": 1}}}


def test_a_line_that_is_no_pair_is_told_with_its_number(cli: CommandLine, tmp_path: Path):
    file = tmp_path / "pairs.jsonl"
    for line in ('{"label": "same", "old": "a"}', '{"label": "maybe", "old": "a", "new": "b"}'):
        file.write_text(f'{{"label": "same", "old": "a", "new": "b"}}\n{line}', "utf-8")
        refused = cli("bench", "judge", str(file))
        assert refused.status != 0
        assert "Line 2" in refused.err
