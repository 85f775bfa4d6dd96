"""`recollect bench recall` on small made-up sets, through the real memory."""

import gzip
import json
from datetime import UTC, datetime

import pytest

from recollect import Memory
from recollect.errors import InvalidInput, NotFound
from recollect.evaluation.replay import Replay, read_set, sets_in
from tests.command_line import CommandLine

KEYS = [
    *("set", "n", "hit@1", "hit@5", "hit@10", "recall@10", "all@5", "all@10", "ndcg@10", "mrr@10"),
    *("by_category", "ingest_per_s", "recall_p50_ms", "recall_p95_ms", "embedder"),
]


def write_set(folder, name, corpus, queries):
    for part, rows in (("corpus", corpus), ("queries", queries)):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.{part}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))


@pytest.fixture
def chats(tmp_path):
    """Two people talk in English in one scope, another scope holds a decoy."""

    def turn(ident, speaker, text, session=1, scope="chat"):
        return {
            "scope": scope,
            "id": ident,
            "text": f"{speaker}: {text}",
            "time": "1:56 pm on 8 May, 2023",
            "meta": {"session": session, "speaker": speaker},
        }

    write_set(
        tmp_path,
        "chats",
        [
            turn("t1", "Ann", "I adopted a greyhound called Biscuit."),
            turn("t2", "Bob", "Congratulations, what a lovely hound!"),
            turn("t3", "Bob", ""),
            turn("t4", "Ann", "The sailing regatta was postponed.", session=2),
            turn("t1", "Eve", "A greyhound called Biscuit won the race.", scope="elsewhere"),
        ],
        [
            {
                "id": "q1",
                "scope": "chat",
                "query": "What is Ann's greyhound called?",
                "gold": ["t1"],
                "category": "pets",
            },
            {
                "id": "q2",
                "scope": "chat",
                "query": "postponed regatta",
                "gold": ["t4", "t2"],
                "category": "sport",
            },
            {"id": "q3", "scope": "chat", "query": "unanswerable", "gold": [], "category": "none"},
        ],
    )
    return tmp_path


@pytest.fixture
def notes(tmp_path):
    """Chinese records, one of them with a time."""
    write_set(
        tmp_path,
        "notes",
        [
            {
                "scope": "小王",
                "id": "a",
                "text": "小王喜欢在周末喝手冲咖啡。",
                "time": "2025-01-02",
            },
            {"scope": "小王", "id": "b", "text": "服务器的登录接口每分钟限流六十次。"},
        ],
        [
            {"id": "1", "scope": "小王", "query": "登录", "gold": ["b"], "category": "词"},
            {
                "id": "2",
                "scope": "小王",
                "query": "他喜欢什么咖啡？",
                "gold": ["a"],
                "category": "问",
            },
        ],
    )
    return tmp_path


@pytest.fixture
def run(capfdbinary):
    command_line = CommandLine(capfdbinary)
    return lambda *arguments: command_line("bench", "recall", *map(str, arguments))


def test_one_set_ends_with_the_agreed_line_of_json(chats, run):
    outcome = run("--set", "chats", "--data", chats, "--json")

    assert outcome.status == 0, outcome.err
    result = json.loads(outcome.out.splitlines()[-1])
    assert list(result) == KEYS
    assert (result["set"], result["n"], result["embedder"]) == ("chats", 2, "none")
    assert result["hit@1"] == 1
    assert result["recall@10"] == pytest.approx(0.75)
    assert result["all@10"] == 0.5
    assert result["by_category"]["pets"] == {"n": 1, "hit@10": 1, "ndcg@10": 1}
    assert result["by_category"]["sport"]["ndcg@10"] == pytest.approx(0.6131, abs=1e-4)
    assert result["ingest_per_s"] > 0
    assert 0 < result["recall_p50_ms"] <= result["recall_p95_ms"]


@pytest.mark.usefixtures("real_model")
def test_what_is_told_is_timed_with_the_embedder_at_work(chats, run):
    outcome = run("--set", "chats", "--data", chats, "--json")

    assert outcome.status == 0, outcome.err
    result = json.loads(outcome.out.splitlines()[-1])
    assert result["embedder"] != "none"
    assert result["ingest_per_s"] > 0


def test_units_without_text_are_left_out_and_counted(chats, run):
    assert "1 units without text" in run("--set", "chats", "--data", chats).err


def test_a_suite_prints_a_line_for_each_set_and_then_all_of_them(chats, notes, run):
    write_set(chats, "chunking", [], [])

    outcome = run("--suite", chats, "--json")

    *lines, last = outcome.out.splitlines()
    assert [json.loads(line)["set"] for line in lines] == ["chats", "notes"]
    assert json.loads(last) == {"suite": [json.loads(line) for line in lines]}


def test_chinese_records_are_found(notes, run):
    outcome = run("--set", "notes", "--data", notes, "--json")

    assert json.loads(outcome.out.splitlines()[-1])["hit@1"] == 1


def test_without_json_there_is_a_table(chats, notes, run):
    table = run("--suite", chats).out

    assert "ndcg@10" in table
    assert all(name in table for name in ("chats", "notes"))


def test_a_quick_look_asks_only_so_many_questions(notes, run):
    outcome = run("--set", "notes", "--data", notes, "--json", "--limit-queries", 1)

    assert json.loads(outcome.out.splitlines()[-1])["n"] == 1


@pytest.mark.parametrize("arguments", [[], ["--set", "chats"]])
def test_half_a_choice_is_refused(arguments, run):
    outcome = run(*arguments)

    assert outcome.status == 2
    assert "--suite DIR" in outcome.err


def test_an_unknown_set_names_those_that_are_there(chats):
    with pytest.raises(NotFound) as problem:
        read_set(chats, "chat")

    assert problem.value.code == "unknown_set"
    assert "chats" in problem.value.hint


@pytest.mark.parametrize("content", [b"not gzip", gzip.compress(b'{"id": 1}\n', mtime=0)])
def test_a_broken_file_is_named(chats, content):
    (chats / "chats.corpus.jsonl.gz").write_bytes(content)

    with pytest.raises(InvalidInput, match=r"chats\.corpus") as problem:
        read_set(chats, "chats")

    assert problem.value.code == "bad_recall_set"


def test_the_chunking_set_is_no_recall_set(tmp_path):
    write_set(tmp_path, "chunking", [], [])

    assert sets_in(tmp_path) == ()


async def test_turns_keep_speaker_session_and_time_beside_their_text(chats, tmp_path, run):
    async with Memory.open(tmp_path / "bench.db") as memory:
        await replayed(read_set(chats, "chats"), memory).run()
        turns = [*await memory.scope(user="chat").turns(session="1")]

    assert [(turn.speaker, turn.role, turn.content) for turn in turns] == [
        ("Ann", "user", "I adopted a greyhound called Biscuit."),
        ("Bob", "user", "Congratulations, what a lovely hound!"),
    ]
    assert turns[0].at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


async def test_roles_are_taken_from_the_set(tmp_path, run):
    write_set(
        tmp_path,
        "roles",
        [
            {
                "scope": "s",
                "id": "0",
                "text": "assistant: Use a vacuum pump.",
                "time": "March-15-2024",
                "meta": {"batch": 3, "role": "assistant"},
            }
        ],
        [{"id": "q", "scope": "s", "query": "vacuum pump", "gold": ["0"]}],
    )
    async with Memory.open(tmp_path / "bench.db") as memory:
        await replayed(read_set(tmp_path, "roles"), memory).run()
        (turn,) = await memory.scope(user="s").turns(session="3")

    assert (turn.role, turn.speaker, turn.content) == ("assistant", "", "Use a vacuum pump.")


async def test_records_are_written_with_their_past_time_where_it_is_known(notes, tmp_path, run):
    before = datetime.now(UTC)
    async with Memory.open(tmp_path / "bench.db") as memory:
        await replayed(read_set(notes, "notes"), memory).run()
        timed, untimed = sorted(
            await memory.scope(user="小王").list(), key=lambda record: record.created_at
        )

    assert timed.created_at == datetime(2025, 1, 2, tzinfo=UTC)
    assert untimed.created_at >= before


async def test_a_question_sees_only_what_lay_before_it(tmp_path, run):
    """Asked out of order: the later question must not leak its knowledge into the earlier one."""

    def session(order, text):
        return {"scope": "s", "id": f"u{order}", "text": text, "meta": {"order": order}}

    def question(ident, before, gold):
        return {
            "id": ident,
            "scope": "s",
            "query": "budget of the kitchen",
            "gold": [gold],
            "category": ident,
            "before": before,
        }

    write_set(
        tmp_path,
        "replayed",
        [
            session(0, "The kitchen budget is 4,000 in all."),
            session(1, "We picked walnut floors."),
            session(2, "New kitchen budget: kitchen budget 6,000, a bigger budget."),
        ],
        [question("late", 3, "u2"), question("early", 2, "u0"), question("first", 0, "u0")],
    )
    async with Memory.open(tmp_path / "bench.db") as memory:
        result = await replayed(read_set(tmp_path, "replayed"), memory).run()

    # `u2` says "budget" more often, so `u0` comes first only while `u2` is not there yet.
    assert {name: it["ndcg@10"] for name, it in result.by_category.items()} == {
        "first": 0,
        "early": 1,
        "late": 1,
    }


def replayed(recall_set, memory):
    return Replay(recall_set, memory, told=lambda _: None, asked=lambda _: None)
