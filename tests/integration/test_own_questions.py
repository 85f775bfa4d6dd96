"""`recollect eval FILE`: one's own questions of one's own memory, and public benchmarks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.chat_server import Answer, ChatServer, chat_server, openai_text, refusal
from tests.command_line import CommandLine

if TYPE_CHECKING:
    from tests.real_model import RealModelServer

pytest_plugins = ("tests.real_model",)


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


# --- LoCoMo and LongMemEval in the files that their authors publish, made up here -----------------

_LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Caroline",
            "speaker_b": "Melanie",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {
                    "speaker": "Caroline",
                    "dia_id": "D1:1",
                    "text": "I adopted a puppy called Rex today!",
                    "blip_caption": "a small dog on a rug",
                },
                {"speaker": "Melanie", "dia_id": "D1:2", "text": "Congratulations!"},
            ],
            # Sessions are in the order of their numbers, not of their names.
            "session_10_date_time": "3:12 pm on 2 June, 2023",
            "session_10": [
                {"speaker": "Caroline", "dia_id": "D10:1", "text": "My pottery class began in May."}
            ],
            "session_2_date_time": "9:00 am on 20 May, 2023",
            "session_2": [{"speaker": "Melanie", "dia_id": "D2:1", "text": "I ran a marathon."}],
        },
        "qa": [
            {"question": "What is Caroline's puppy called?", "answer": "Rex", "evidence": ["D1:1"]}
            | {"category": 4},
            {
                "question": "Which year did Caroline begin pottery?",
                "answer": 2023,
                "evidence": ["D10:01; D1:1"],
                "category": 2,
            },
            {
                "question": "What is Caroline's boat called?",
                "adversarial_answer": "Sea Breeze",
                "evidence": ["D1:1"],
                "category": 5,
            },
        ],
        "event_summary": {},
    }
]
_LONGMEMEVAL: list[dict[str, Any]] = [
    {
        "question_id": ident,
        "question_type": "single-session-user",
        "question": question,
        "answer": answer,
        "question_date": "2023/06/25 (Sun) 10:00",
        "haystack_session_ids": ["s2", "s1"],
        "haystack_dates": ["2023/06/03 (Sat) 08:00", "2023/06/01 (Thu) 08:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "What is a good soup for the winter?"}],
            [
                {"role": "user", "content": "I play the cello every evening.", "has_answer": True},
                {"role": "assistant", "content": "That is a fine habit."},
            ],
        ],
        "answer_session_ids": ["s1"],
    }
    for ident, question, answer in (
        ("q1", "Which instrument do I play?", "the cello"),
        ("q2_abs", "Which boat do I sail?", "You did not mention a boat."),
    )
]


@pytest.fixture
def published(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]):
    """Run `eval` on a file of a benchmark."""
    run = CommandLine(capfdbinary)

    def ask(samples: object, *arguments: str):
        file = tmp_path / "published.json"
        file.write_text(json.dumps(samples), "utf-8")
        return run("eval", str(file), *arguments)

    return ask


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """A model that knows what a puppy is called, and judges by whether the words are there."""

    def answer(body: dict[str, Any]) -> Answer:
        asked = str(body["messages"][-1]["content"])
        if "Given answer: " not in asked:
            return openai_text("Rex" if "puppy" in asked.split("Question:")[1] else "Sea Breeze")
        expected, given = asked.split("Expected answer: ")[1].split("\nGiven answer: ")
        return openai_text("Yes." if given.startswith(expected) else "no")

    with chat_server() as server:
        server.answers_to = answer
        monkeypatch.setenv("RECOLLECT_MODELS__REASONING", "openai:scripted")
        monkeypatch.setenv("RECOLLECT_MODELS__PROVIDERS__OPENAI__BASE_URL", f"{server.url}/v1")
        yield server


@pytest.mark.parametrize(
    ("samples", "categories"),
    [
        (_LOCOMO, {"adversarial", "single-hop", "temporal"}),
        (_LONGMEMEVAL, {"abstention", "single-session-user"}),
    ],
)
def test_without_a_model_it_is_told_how_often_the_evidence_is_found(
    published, samples: list[dict[str, Any]], categories: set[str]
):
    told = published(samples, "--json").json
    assert set(told["categories"]) == categories
    assert told["overall"]["some_in_5"] == told["overall"]["all_in_10"] == 1
    assert told["overall"]["right"] is None
    assert told["categories"][min(categories)]["all_in_5"] is None, "it has no evidence"
    lines = [json.loads(it) for it in Path(told["results"]).read_text("utf-8").splitlines()[1:]]
    assert lines[0]["gold"] == (["D1:1"] if samples is _LOCOMO else ["s1"])
    assert lines[0]["ranking"][0] == lines[0]["gold"][0], "and its own turn is the first"
    shown = published(samples)
    assert "No language model answered" in shown.out
    assert "some in 5" in shown.out


def test_a_model_answers_and_judges_and_what_it_cost_is_told(published, model: ChatServer):
    told = published(_LOCOMO, "--json").json
    assert told["plan"]["judge"] == "openai:scripted"
    assert told["overall"]["right"] == pytest.approx(1 / 3, abs=1e-3)
    assert told["categories"]["single-hop"]["right"] == 1
    assert told["categories"]["adversarial"]["right"] == 0, "it made something up"
    assert (told["input_tokens"], told["output_tokens"]) == (6 * 12, 6 * 5)
    assert told["cost"] is None, "nobody knows the price of a server of one's own"
    (asked,) = [
        it["messages"][-1]["content"]
        for it in model.bodies
        if it["messages"][-1]["content"].endswith("puppy called?")
        and "Memories:" in it["messages"][-1]["content"]
    ]
    assert "[2023-05-08] Caroline: I adopted a puppy called Rex today! [shared image:" in asked
    shown = published(_LOCOMO)
    assert "72 tokens in, 30 out, price unknown" in shown.out
    assert len(model.bodies) == 6, "what is answered is not asked again"


def test_a_run_that_stopped_goes_on_where_it_was(published, model: ChatServer, tmp_path: Path):
    answers = model.answers_to
    assert published(_LOCOMO, "--questions", "1", "--json").json["overall"]["questions"] == 1
    model.answers_to = lambda _: refusal(402, "no money left")
    stopped = published(_LOCOMO, "--json")
    assert stopped.status != 0
    assert "1 of 3 questions are done and kept" in stopped.error["message"]
    assert "The same command goes on" in stopped.error["hint"]
    # The line that a killed run was writing.
    results = tmp_path / "published.results.jsonl"
    with results.open("a") as file:
        file.write('{"id": "conv-1-1", "cat')
    model.answers_to, model.bodies = answers, []
    assert published(_LOCOMO, "--json").json["overall"]["questions"] == 3
    assert len(model.bodies) == 4, "two questions, each answered and judged"
    assert len(results.read_text("utf-8").splitlines()) == 4
    other = published(_LOCOMO, "--model", "none", "--json")
    assert other.error["code"] == "other_results"
    elsewhere = ("--results", str(tmp_path / "other.jsonl"))
    assert published(_LOCOMO, "--model", "none", *elsewhere, "--json").json["input_tokens"] == 0


def test_a_real_model_answers_and_judges(
    published, language_server: RealModelServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECOLLECT_MODELS__PROVIDERS__OPENAI__BASE_URL", language_server.base_url)
    told = published(_LONGMEMEVAL, "--questions", "1", "--model", "openai:smollm2", "--json").json
    assert told["overall"]["questions"] == 1
    assert told["overall"]["right"] in {0, 1}
    assert told["input_tokens"] > 50 > told["output_tokens"] > 0
    (line,) = Path(told["results"]).read_text("utf-8").splitlines()[1:]
    assert json.loads(line)["answer"].strip()


@pytest.mark.parametrize(
    ("samples", "told"),
    [
        ([{"question": "x"}], "sample 1: it has the fields of neither"),
        ([*_LONGMEMEVAL, 7], "sample 3: it is not an object"),
        ([_LONGMEMEVAL[0] | {"haystack_dates": []}], "sample 1: it has not as many"),
        ([{"conversation": {}, "qa": [{"question": "x", "category": 1}]}], "'answer' is missing"),
    ],
)
def test_a_file_of_another_form_is_told(published, samples: object, told: str):
    refused = published(samples, "--json")
    assert refused.error["code"] == "unknown_evaluation"
    assert told in refused.error["message"]
    assert "recollect eval --help" in refused.error["hint"]
    assert published(_LOCOMO, "--limit", "3", "--json").error["code"] == "bad_usage"
