"""The command line, run within the test's own process: stories, options, errors."""

import io
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from recollect.cli.app import run
from recollect.cli.command import log_to


@dataclass(frozen=True)
class Said:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.status == 0, self.err
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        assert self.out == ""
        return json.loads(self.err)["error"]


Cli = Callable[..., Said]


@pytest.fixture
def cli(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Cli:
    """Runs `recollect` with a data folder of its own."""
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "data"))
    # Wide enough that no assertion depends on where a line is broken.
    monkeypatch.setenv("COLUMNS", "200")

    def command(*arguments: str, stdin: bytes = b"") -> Said:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        status = run(arguments)
        out, err = capsysbinary.readouterr()
        return Said(status, out.decode(), err.decode())

    return command


def saved(cli: Cli, *arguments: str) -> str:
    return cli("remember", *arguments, "--json").json["id"]


def contents(listing: Said) -> list[str]:
    return [item["content"] for item in listing.json["items"]]


def test_what_is_remembered_is_recalled_in_chinese_and_english(cli: Cli):
    saved(cli, "Ann prefers green tea over coffee")
    saved(cli, "登录页面的按钮是蓝色的")
    english = cli("recall", "which tea does Ann prefer?", "--json").json
    assert [hit["passage"] for hit in english["hits"]] == ["Ann prefers green tea over coffee"]
    chinese = cli("recall", "登录")
    assert chinese.status == 0
    assert "登录页面的按钮是蓝色的" in chinese.out
    assert "Ann" not in chinese.out


def test_a_recall_that_finds_nothing_says_so_and_is_no_error(cli: Cli):
    saved(cli, "Ann prefers green tea")
    nothing = cli("recall", "quantum chromodynamics")
    assert nothing.status == 0
    assert "Nothing found that is good enough" in nothing.out
    assert cli("recall", "quantum chromodynamics", "--json").json["hits"] == []


def test_explain_shows_paths_ranks_scores_and_matched_terms(cli: Cli):
    saved(cli, "安妮喜欢绿茶")
    explained = cli("recall", "绿茶", "--explain").out
    (row,) = [line.split() for line in explained.splitlines() if " keyword " in line]
    hit, path, rank, raw, score, *terms = row
    assert (hit, path, rank) == ("1", "keyword", "1")
    assert float(raw) > 0
    assert 0 < float(score) <= 1
    assert "绿茶" in terms


def test_explain_shows_what_was_weighed_and_what_was_left_out(cli: Cli):
    for number in range(3):
        saved(cli, f"Ann drank green tea number {number}", "--kind", "procedural")
    said = ("recall", "what green tea did Ann drink?", "--limit", "1", "--min-score", "0")
    explained = cli(*said, "--explain").out
    assert "Taken for: question" in explained
    (columns,) = [line.split() for line in explained.splitlines() if " surroundings " in line]
    assert columns[1:-1] == [
        "surroundings",
        "factor",
        "closeness",
        "sureness",
        "relevance",
        "boosts",
    ]
    assert "kind procedural x1.0" in explained
    left_out = cli(*said, "--json").json["near_misses"]
    assert len(left_out) == 2
    for missed in left_out:
        assert f"{missed['id']}  {missed['score']:.3f}  {missed['reason']}" in explained
    assert "Left out" not in cli(*said).out


def test_a_block_for_a_prompt_is_printed_as_it_is(cli: Cli):
    tea = saved(cli, "安妮喜欢喝绿茶", "--category", "preference")
    block = cli("context", "安妮喜欢什么茶？").out
    assert block.startswith("<memory>\n以下是")
    assert block.endswith("</memory>\n")
    made = cli("context", "安妮喜欢什么茶？", "--form", "flat", "--language", "en", "--json").json
    assert made["ids"] == [tea]
    assert made["text"].startswith("<memory-context>\nLong-term memory")
    assert cli("show", tea, "--json").json["access_count"] == 2
    assert cli("context", "-", "--max-tokens", "1", stdin="绿茶".encode()).out == ""
    assert cli("context", "绿茶", "--category", "project").out == ""
    assert cli("context", "quantum chromodynamics").out == ""


def test_what_enters_a_prompt_is_counted_and_a_plain_recall_is_not(cli: Cli):
    tea = saved(cli, "Ann prefers green tea")
    cli("recall", "which tea does Ann prefer")
    assert cli("show", tea, "--json").json["access_count"] == 0
    cli("context", "which tea does Ann prefer", "--session", "s1")
    assert cli("show", tea, "--json").json["access_count"] == 1


def test_what_helped_and_what_did_not_is_told(cli: Cli):
    way = saved(cli, "Deploy with make ship", "--kind", "procedural")
    assert cli("used", way).out == f"{way}: helped 1×, no help 0×; used 1×, 100% with success\n"
    failed = cli("used", way, "--failed", "--json").json
    assert (failed["helped"], failed["rejected"], failed["success_rate"]) == (1, 1, 0.5)
    assert cli("rejected", way, "--json").json["rejected"] == 2
    assert "feedback x0.9" in cli("recall", "deploy ship", "--explain").out


def test_every_field_of_a_record_can_be_given(cli: Cli):
    record = cli(
        *("remember", "Release went out", "--kind", "episodic", "--category", "project"),
        *("--title", "Release", "--description", "v2", "--tag", "release", "--tag", "v2"),
        *("--confidence", "0.9", "--importance", "0.8", "--source", "diary"),
        *("--at", "2026-01-02T03:04:05Z", "--valid-from", "2026-01-02T00:00Z"),
        *("--valid-to", "2026-02-02T00:00Z", "--expires", "2099-01-01T00:00Z"),
        *("--session", "s1", "--task", "t1", "--meta", "build=42", "--meta", "note=a=b"),
        *("--participant", "Ann", "--participant", "Bo", "--outcome", "fine"),
        *("--artifact", "notes.md", "--timestamp", "2026-01-02T02:00:00Z", "--json"),
    ).json
    expected = {
        "kind": "episodic",
        "category": "project",
        "title": "Release",
        "description": "v2",
        "tags": ["release", "v2"],
        "confidence": 0.9,
        "importance": 0.8,
        "source": "diary",
        "created_at": "2026-01-02T03:04:05Z",
        "valid_from": "2026-01-02T00:00:00Z",
        "valid_to": "2026-02-02T00:00:00Z",
        "expires_at": "2099-01-01T00:00:00Z",
        "session": "s1",
        "task": "t1",
        "metadata": {"build": "42", "note": "a=b"},
        "participants": ["Ann", "Bo"],
        "outcome": "fine",
        "artifacts": ["notes.md"],
        "timestamp": "2026-01-02T02:00:00Z",
    }
    assert {name: record[name] for name in expected} == expected


def test_a_procedure_keeps_its_steps_in_order(cli: Cli):
    record = cli(
        *("remember", "How to deploy", "--kind", "procedural", "--trigger", "a tag is pushed"),
        *("--step", "build", "--step", "test", "--step", "ship", "--success-rate", "0.95"),
        "--json",
    ).json
    assert record["steps"] == ["build", "test", "ship"]
    assert (record["trigger"], record["success_rate"]) == ("a tag is pushed", 0.95)


def test_text_comes_from_standard_input(cli: Cli):
    record = cli("remember", "-", "--json", stdin="从标准输入\n读来的\n".encode()).json
    assert record["content"] == "从标准输入\n读来的"
    assert cli("recall", "-", "--json", stdin="标准输入".encode()).json["hits"]


def test_a_record_is_edited_and_each_change_can_be_seen_and_undone(cli: Cli):
    record = saved(cli, "The server runs on port 80", "--valid-to", "2026-01-01", "--tag", "a")
    changed = cli(
        *("edit", record, "The server runs on port 8080", "--title", "Port", "--valid-to", ""),
        *("--tag", "", "--expected-version", "1", "--reason", "moved", "--json"),
    ).json
    assert (changed["version"], changed["title"]) == (2, "Port")
    assert (changed["valid_to"], changed["tags"]) == (None, [])

    first, second = cli("history", record, "--json").json["items"]
    assert (first["number"], first["record"]["content"]) == (1, "The server runs on port 80")
    assert (second["reason"], second["changed_by"]) == ("moved", "me")
    table = cli("history", record).out
    assert "moved" in table
    assert "8080" in table

    assert cli("undo", record, "--json").json["content"] == "The server runs on port 80"
    assert "port 80" in cli("show", record).out


def test_an_edit_takes_its_text_by_name_too(cli: Cli):
    record = saved(cli, "Ann likes green tea")
    assert cli("edit", record, "--content", "安妮喜欢红茶").status == 0
    assert contents(cli("list", "--json")) == ["安妮喜欢红茶"]
    both = cli("edit", record, "a", "--content", "b", "--json")
    assert both.error["code"] == "bad_usage"


def test_an_edit_of_an_older_version_is_a_conflict(cli: Cli):
    record = saved(cli, "first")
    stale = cli("edit", record, "second", "--expected-version", "7", "--json")
    assert (stale.status, stale.error["code"]) == (4, "stale_version")
    assert stale.error["retryable"] is True


def test_delete_hides_undo_brings_back_purge_removes(cli: Cli):
    record = saved(cli, "Something about whales")
    assert cli("purge", record, "--yes").status == 4
    assert cli("delete", record, "--reason", "wrong").status == 0
    assert contents(cli("list", "--json")) == []
    assert contents(cli("list", "--status", "deleted", "--json")) == ["Something about whales"]
    assert cli("show", record, "--json").error["code"] == "deleted"
    assert cli("undo", record).status == 0
    assert contents(cli("list", "--json")) == ["Something about whales"]
    assert cli("delete", record).status == 0
    assert cli("purge", record).status == 2
    assert contents(cli("list", "--status", "deleted", "--json")) == ["Something about whales"]
    assert "cannot be undone" in cli("purge", record, stdin=b"y\n").out
    assert cli("history", record, "--json").error["code"] == "not_found"


@pytest.mark.sqlite(reason="a server has its own tool for backups")
def test_a_restored_database_tells_of_another_only_if_there_was_one(cli: Cli, tmp_path: Path):
    saved(cli, "Ann likes green tea")
    assert cli("backup", str(tmp_path / "b.db")).status == 0
    new = cli("restore", str(tmp_path / "b.db"), "--data", str(tmp_path / "new.db"))
    again = cli("restore", str(tmp_path / "b.db"), "--data", str(tmp_path / "new.db"))
    assert "kept beside" not in new.out
    assert "kept beside" in again.out


@pytest.mark.parametrize(
    ("elsewhere", "here"),
    [("search", "recall"), ("add", "remember"), ("get", "show"), ("rm", "delete")],
)
def test_what_a_command_is_called_elsewhere_leads_to_it(cli: Cli, elsewhere: str, here: str):
    error = cli(elsewhere, "x", "--json").error
    assert error["code"] == "bad_usage"
    assert f"Did you mean '{here}'?" in error["message"]


def test_a_prompt_can_be_replayed_by_the_id_that_comes_with_it(cli: Cli):
    saved(cli, "Ann likes green tea. 安妮喜欢绿茶。")
    given = cli("context", "绿茶")
    assert given.out.endswith("</memory>\n")
    assert given.err.startswith("recall_id: ")
    assert cli("audit", "replay", given.err.split()[1]).status == 0
    assert cli("audit", "list", "--json").json == cli("audit", "tail", "--json").json


@pytest.mark.parametrize("answer", [b"n\n", b"\n", b""])
def test_forget_asks_first_and_without_a_yes_changes_nothing(cli: Cli, answer: bytes):
    record = saved(cli, "A secret")
    asked = cli("forget", record, stdin=answer)
    assert asked.status == 2
    assert "this cannot be undone" in asked.err
    assert "not_confirmed" in asked.err
    assert contents(cli("list", "--json")) == ["A secret"]


def test_forget_says_what_would_go_before_it_asks(cli: Cli):
    saved(cli, "A secret", "--tag", "x")
    saved(cli, "另一个秘密", "--tag", "x")
    asked = cli("forget", "--tag", "x", stdin=b"n\n")
    assert "2 records" in asked.err
    assert len(contents(cli("list", "--json"))) == 2


def test_forget_of_nothing_or_of_what_is_not_there_asks_nothing(cli: Cli):
    saved(cli, "kept")
    for arguments, code in (((), "what_to_forget"), (("mem_nothing",), "not_found")):
        refused = cli("forget", *arguments, stdin=b"y\n")
        assert "Continue?" not in refused.err
        assert f"{code}" in refused.err


@pytest.mark.parametrize("already_deleted", [False, True])
def test_forget_removes_a_record_with_its_history(cli: Cli, already_deleted: bool):
    record = saved(cli, "A secret")
    if already_deleted:
        cli("delete", record)
    forgotten = cli("forget", record, "--json", stdin=b"y\n")
    assert (forgotten.json["id"], forgotten.json["status"]) == (record, "forgotten")
    assert forgotten.json["counts"]["records"] == 1
    assert cli("history", record).status == 3
    assert cli("recall", "secret", "--json").json["hits"] == []
    another = saved(cli, "Another secret")
    assert cli("forget", another, "--yes").status == 0
    assert cli("forget", "mem_nothing", "--yes").status == 3


def test_filters_choose_what_is_listed(cli: Cli):
    saved(cli, "old", "--at", "2020-05-01T12:00", "--tag", "x")
    saved(cli, "new", "--at", "2026-05-01T12:00", "--tag", "x", "--tag", "y", "--session", "s1")
    saved(cli, "how", "--kind", "procedural", "--at", "2026-06-01T12:00", "--category", "project")
    assert contents(cli("list", "--json")) == ["how", "new", "old"]
    assert contents(cli("list", "--since", "2026-01-01", "--json")) == ["how", "new"]
    assert contents(cli("list", "--until", "2026-01-01", "--json")) == ["old"]
    assert contents(cli("list", "--tag", "x", "--json")) == ["new", "old"]
    assert contents(cli("list", "--tag", "x", "--tag", "y", "--json")) == ["new"]
    assert contents(cli("list", "--session", "s1", "--json")) == ["new"]
    assert contents(cli("list", "--category", "project-context", "--json")) == ["how"]
    kinds = ("--kind", "procedural", "--kind", "episodic")
    assert contents(cli("list", *kinds, "--json")) == ["how"]
    assert contents(cli("list", "--as-of", "2025-01-01", "--json")) == []


def test_a_past_question_is_answered_by_what_was_true_then(cli: Cli):
    saved(cli, "The office is in Berlin", "--valid-to", "2025-01-01")
    saved(cli, "The office is in Paris", "--valid-from", "2025-01-01")
    hits = cli("recall", "where is the office", "--valid-at", "2024-06-01", "--json").json["hits"]
    assert [hit["passage"] for hit in hits] == ["The office is in Berlin"]


def test_a_listing_is_read_page_by_page(cli: Cli):
    for number in range(5):
        saved(cli, f"note {number}", "--at", f"2026-01-0{number + 1}")
    seen: list[str] = []
    more: tuple[str, ...] = ()
    while True:
        page = cli("list", "--limit", "2", *more, "--json")
        seen += contents(page)
        if page.json["next_cursor"] is None:
            break
        more = ("--cursor", page.json["next_cursor"])
    assert seen == [f"note {number}" for number in (4, 3, 2, 1, 0)]
    assert f"--cursor {cli('list', '--limit', '2', '--json').json['next_cursor']}" in (
        cli("list", "--limit", "2").out
    )


def test_times_without_a_zone_are_local(cli: Cli):
    record = cli("remember", "noon", "--at", "2026-05-01T12:00", "--json").json
    local = datetime(2026, 5, 1, 12).astimezone()
    assert datetime.fromisoformat(record["created_at"]) == local
    assert "2026-05-01 12:00" in cli("list").out


def test_a_message_is_kept_and_recalled(cli: Cli):
    turn = cli(
        *("observe", "我下周去上海出差", "--role", "user", "--name", "Ann", "--session", "s1"),
        *("--at", "2026-01-02T03:04:05Z", "--json"),
    ).json
    assert (turn["role"], turn["speaker"], turn["session"]) == ("user", "Ann", "s1")
    assert turn["at"] == "2026-01-02T03:04:05Z"
    (hit,) = cli("recall", "上海", "--session", "s1", "--json").json["hits"]
    assert (hit["turn"]["id"], hit["record"]) == (turn["id"], None)
    assert "我下周去上海出差" in cli("recall", "上海").out
    assert "我下周去上海出差" in cli("show", turn["id"]).out
    assert cli("show", turn["id"], "--json").json == turn


def test_the_turns_of_a_session_are_listed_in_their_order(cli: Cli):
    for number in range(3):
        cli("observe", f"line {number}", "--session", "s1", "--at", "2026-01-02T03:04:05Z")
    cli("observe", "another conversation", "--session", "s2")
    page = cli("turns", "--session", "s1", "--limit", "2", "--json").json
    rest = ("--cursor", page["next_cursor"])
    assert [turn["content"] for turn in page["items"]] == ["line 0", "line 1"]
    assert contents(cli("turns", "--session", "s1", *rest, "--json")) == ["line 2"]
    assert f"--cursor {rest[1]}" in cli("turns", "--session", "s1", "--limit", "2").out
    assert len(contents(cli("turns", "--json"))) == 4
    assert "No turns." in cli("turns", "--session", "s3").out


def test_times_are_shown_as_the_clock_here_tells_them(cli: Cli, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        record = saved(
            cli,
            *("noon", "--kind", "episodic", "--at", "2026-05-01T12:00:07"),
            *("--timestamp", "2026-05-01T12:30"),
        )
        shown = cli("show", record).out
        assert "2026-05-01 12:00:07+08:00" in shown
        assert "2026-05-01 12:30:00+08:00" in shown
        assert "2026-05-01 12:30+08:00" in cli("list").out
        assert cli("show", record, "--json").json["timestamp"] == "2026-05-01T04:30:00Z"
        saved(cli, "the last day", "--valid-to", "9999-12-31T23:00Z")
        last = cli("recall", "last day", "--json").json["hits"][0]["id"]
        assert "9999-12-31 23:00:00+00:00" in cli("show", last).out
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_recall_shows_the_part_of_a_long_text_that_answers(cli: Cli):
    saved(
        cli, "Nothing to see here. " * 30 + "The staging key lies in the blue vault. " + "x " * 99
    )
    shown = cli("recall", "where is the staging key").out
    assert "The staging key lies in the blue vault." in shown
    assert len(shown) < 600


def test_undoing_twice_reaches_the_first_version(cli: Cli):
    record = saved(cli, "first")
    cli("edit", record, "second")
    cli("edit", record, "third")
    assert cli("undo", record, "--expected-version", "1", "--json").error["code"] == "stale_version"
    assert cli("undo", record, "--json").json["content"] == "second"
    assert cli("undo", record, "--json").json["content"] == "first"
    assert cli("undo", record, "--json").error["code"] == "nothing_to_undo"


def test_a_corrected_time_is_shown(cli: Cli):
    record = saved(cli, "The office moved")
    cli("edit", record, "--at", "2020-01-01")
    assert "2020-01-01 00:00" in cli("list").out


def test_help_and_version_are_told_the_usual_ways(cli: Cli):
    assert cli("-h").out == cli("--help").out
    assert "--cursor" in cli("list", "-h").out
    assert cli("--version").out == cli("version").out
    assert cli("--json", "--version").json == cli("version", "--json").json


@pytest.mark.parametrize("place", ["before", "after"])
def test_shared_options_stand_before_or_after_the_command(cli: Cli, tmp_path: Path, place: str):
    options = ("--data", str(tmp_path / "other.db"), "--user", "bo", "--agent", "sql")
    options += ("--workspace", "w", "--org", "o", "--json")
    command = ("remember", "Bo's own")
    record = cli(*options, *command) if place == "before" else cli(*command, *options)
    assert record.json["scope"] == {"org": "o", "workspace": "w", "agent": "sql", "user": "bo"}
    saved(cli, "mine")
    assert contents(cli("list", "--json")) == ["mine"]
    assert contents(cli(*options, "list")) == ["Bo's own"]
    assert contents(cli(*options, "list", "--user", "me")) == []


_READING = (
    *("list", "recall tea", "context tea", "turns", "show mem_1", "history mem_1", "stats"),
    *("health", "profile", "sessions", "delete mem_1", "sweep", "reindex", "kb list"),
    *("kb search tea", "keys list", "share list", "audit tail", "workspace records"),
    *("backup copy.db", "export all.jsonl", "extract monday", "tags", "conflicts"),
)


@pytest.mark.sqlite(reason="the file that must not be made")
def test_a_command_that_reads_never_creates_a_database(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for place in ("typo.db", "typo"):
        for command in _READING:
            said = cli(*command.split(), "--data", place, "--json")
            assert (said.status, said.error["code"]) == (3, "no_such_memory"), command
            assert "recollect remember" in said.error["hint"]
    assert [it for it in tmp_path.iterdir() if it.name != "data"] == []
    assert cli("route", "I like tea", "--data", "typo.db", "--json").status == 0
    assert cli("tools", "list", "--data", "typo.db").status == 0
    assert not (tmp_path / "typo.db").exists()
    saved(cli, "Ann likes tea", "--data", "right.db")
    listed = cli("kb", "list", "--data", "right.db", "--json").json
    assert listed == cli("kb", "ls", "--data", "right.db", "--json").json


def test_a_repeated_key_saves_once_and_another_body_is_refused(cli: Cli):
    first = saved(cli, "once", "--idempotency-key", "k1")
    assert saved(cli, "once", "--idempotency-key", "k1") == first
    other = cli("remember", "twice", "--idempotency-key", "k1", "--json")
    assert (other.status, other.error["code"]) == (4, "idempotency_mismatch")
    assert contents(cli("list", "--json")) == ["once"]


def test_stats_tell_how_much_there_is(cli: Cli):
    saved(cli, "one")
    assert "hello" in cli("observe", "hello").out
    figures = cli("stats", "--json").json
    assert (figures["store"]["records"], figures["store"]["turns"]) == (1, 1)
    assert figures["recall_cache"] == {"hits": 0, "misses": 0, "entries": 0, "hit_rate": 0.0}
    assert "1 semantic" in cli("stats").out
    assert "recall cache" in cli("stats").out


@pytest.mark.sqlite(reason="it is about a file")
def test_where_shows_every_place_and_makes_none(cli: Cli, tmp_path: Path):
    data = tmp_path / "data"
    places = cli("where", "--json").json
    assert places["data_directory"] == {"path": str(data), "exists": False}
    assert places["database"]["path"] == str(data / "memory" / "memory.db")
    assert places["log_file"]["path"] == str(data / "logs" / "recollect.log")
    assert not places["settings_file"]["exists"]
    assert not data.exists()
    saved(cli, "now there is something")
    assert cli("where", "--json").json["database"]["exists"]
    assert str(data) in cli("where").out


@pytest.mark.sqlite(reason="a server has its own tool for backups")
def test_a_backup_brings_back_what_was_lost(cli: Cli, tmp_path: Path):
    copy = str(tmp_path / "copy.db")
    record, secret = saved(cli, "precious"), saved(cli, "a secret")
    assert cli("backup", copy, "--json").json["bytes"] > 0
    assert cli("backup", copy, "--json").error["code"] == "file_exists"
    cli("delete", record)
    cli("purge", record, "--yes")
    cli("forget", secret, "--yes")
    assert contents(cli("list", "--json")) == []
    assert cli("restore", copy).status == 0
    # What was lost, and not what was to be forgotten.
    assert contents(cli("list", "--json")) == ["precious"]
    missing = cli("restore", str(tmp_path / "nothing.db"), "--json")
    assert (missing.status, missing.error["code"]) == (5, "backup_missing")


def test_work_that_is_due_is_done_once(cli: Cli):
    saved(cli, "something")
    assert cli("work", "--once", "--json").json.keys() == {"ran", "waiting", "failed"}


def test_benchmarks_have_their_own_options_and_the_same_errors(cli: Cli):
    assert "--suite" in cli("bench", "recall", "--help").out
    told = cli("bench", "recall", "--nonsense", "--json")
    assert (told.status, told.error["code"]) == (2, "bad_usage")
    assert "recollect bench recall --help" in told.error["hint"]


def test_version_is_told(cli: Cli):
    assert cli("version").out.startswith("recollect ")
    assert cli("version", "--json").json["version"]


def test_without_a_command_help_is_shown(cli: Cli):
    shown = cli()
    assert shown.status == 0
    for name in ("remember", "forget", "serve", "bench", "Exit codes", "130 interrupted"):
        assert name in shown.out


_BAD: list[tuple[list[str], int, str]] = [
    (["used", "turn_1"], 2, "not_a_record"),
    (["rejected", "mem_1"], 3, "not_found"),
    (["context", "tea", "--max-tokens", "0"], 2, "out_of_range"),
    (["remember", ""], 2, "empty_text"),
    (["remember", " \n\t "], 2, "empty_text"),
    (["remember", "x", "--step", "one"], 2, "wrong_kind_fields"),
    (["remember", "x", "--confidence", "2"], 2, "out_of_range"),
    (["remember", "x", "--confidence", "much"], 2, "bad_usage"),
    (["remember", "x", "--kind", "dream"], 2, "bad_usage"),
    (["remember", "x", "--at", "yesterday-ish"], 2, "bad_time"),
    (["remember", "x", "--at", "0001-01-01"], 2, "bad_time"),
    (["remember", "x", "--meta", "novalue"], 2, "bad_pair"),
    (["remember"], 2, "bad_usage"),
    (["remember", "x", "--user", ""], 2, "bad_scope"),
    (["recall", " "], 2, "empty_text"),
    (["recall", "x", "--limit", "-1"], 2, "bad_limit"),
    (["recall", "x", "--min-score", "7"], 2, "out_of_range"),
    (["list", "--limit", "0"], 2, "bad_limit"),
    (["list", "--cursor", "junk"], 2, "bad_cursor"),
    (["list", "--since", "31.12.2025"], 2, "bad_time"),
    (["observe", "x", "--role", "god"], 2, "unknown_role"),
    (["edit", "mem_nothing"], 2, "nothing_to_change"),
    (["show", "mem_nothing"], 3, "not_found"),
    (["edit", "mem_nothing", "x"], 3, "not_found"),
    (["delete", "mem_nothing"], 3, "not_found"),
    (["undo", "mem_nothing"], 3, "not_found"),
    (["purge", "mem_nothing", "--yes"], 3, "not_found"),
    (["show", "turn_nothing"], 3, "not_found"),
    (["edit", "mem_nothing", "--at", ""], 2, "bad_time"),
    (["remember", "x\udcff"], 2, "invalid_utf8"),
    (["nonsense"], 2, "bad_usage"),
    (["list", "--nonsense"], 2, "bad_usage"),
    (["serve", "--host", "203.0.113.1", "--port", "1"], 6, "tls_needed"),
    (["serve", "--port", "99999"], 2, "bad_usage"),
]


def test_bad_input_has_a_code_and_changes_nothing(cli: Cli):
    saved(cli, "kept")
    told = [(arguments, cli(*arguments, "--json")) for arguments, _, _ in _BAD]
    assert [(arguments, it.status, it.error["code"]) for arguments, it in told] == _BAD
    assert contents(cli("list", "--json")) == ["kept"]


def test_an_error_is_told_on_stderr_with_its_code_and_a_hint(cli: Cli):
    saved(cli, "kept")
    told = cli("show", "mem_nothing")
    assert (told.status, told.out) == (3, "")
    first, second = told.err.splitlines()
    assert first.startswith("error: There is no record 'mem_nothing'")
    assert first.endswith("(not_found)")
    assert second.startswith("hint: ")


_BAD_STDIN: list[tuple[bytes, str]] = [
    (b"caf\xe9", "invalid_utf8"),
    (b"a\x00b", "nul_byte"),
    (b"x" * 10_000_000, "text_too_large"),
    (b"", "empty_text"),
]


def test_bad_text_on_standard_input_changes_nothing(cli: Cli):
    for stdin, code in _BAD_STDIN:
        told = cli("remember", "-", "--json", stdin=stdin)
        assert (told.status, told.error["code"]) == (2, code)
    assert contents(cli("list", "--json")) == []


def test_search_operators_in_a_question_are_only_text(cli: Cli):
    saved(cli, "a harmless note")
    for query in (
        '"',
        "a* OR b",
        "NEAR(a b)",
        "content:x",
        "-x",
        "'; DROP TABLE records; --",
        "^(",
    ):
        assert len(cli("recall", "--json", "--", query).json["hits"]) <= 1
    assert contents(cli("list", "--json")) == ["a harmless note"]


@pytest.mark.sqlite(reason="it is about a file")
def test_a_file_that_is_no_database_is_told_and_left_alone(cli: Cli, tmp_path: Path):
    path = tmp_path / "broken.db"
    path.write_bytes(b"not a database, only some text\n" * 100)
    told = cli("list", "--data", str(path), "--json")
    assert (told.status, told.error["code"]) == (5, "database_corrupt")
    assert "restore" in told.error["hint"]
    assert path.read_bytes() == b"not a database, only some text\n" * 100


@pytest.mark.sqlite(reason="it is about a file")
def test_a_folder_in_the_place_of_the_database_is_told(cli: Cli, tmp_path: Path):
    (tmp_path / "folder.db").mkdir()
    told = cli("list", "--data", str(tmp_path / "folder.db"), "--json")
    assert (told.status, told.error["code"]) == (5, "database_unreachable")


def test_a_bad_setting_is_named_and_where_says_in_which_file(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    settings = tmp_path / "settings.toml"
    settings.write_text("[recall]\nlimt = 3\n")
    monkeypatch.setenv("RECOLLECT_SETTINGS", str(settings))
    told = cli("where", "--json")
    assert (told.status, told.error["code"]) == (6, "bad_setting")
    assert "recall.limt" in told.error["message"]
    assert str(settings) in told.error["hint"]


def test_writing_where_one_may_only_read_is_not_allowed(cli: Cli):
    sql = ("--agent", "sql")
    record = saved(cli, "Ann's own note")
    assert cli("show", record, *sql).status == 0
    refused = cli("edit", record, "changed", *sql, "--json")
    assert (refused.status, refused.error["code"]) == (7, "not_allowed")


def test_remembered_text_cannot_steer_the_terminal_or_the_layout(cli: Cli):
    text = "\x1b[31mred\x1b[0m \x07bell [bold]markup[/bold] :smile: \u202eabc"
    record = saved(cli, text, "--title", "\x1b]0;title\x07")
    for shown in (cli("list").out, cli("recall", "bell").out, cli("show", record).out):
        assert "\x1b" not in shown
        assert "\x07" not in shown
        assert "[bold]markup[/bold] :smile:" in shown
    assert cli("show", record, "--json").json["content"] == text


def test_warnings_go_to_the_log_file_and_a_place_that_cannot_be_written_is_no_error(tmp_path: Path):
    log = tmp_path / "logs" / "recollect.log"
    log_to(log)
    assert not log.exists()
    logging.getLogger("recollect.test").warning("the disk smells of %s", "smoke")
    assert "the disk smells of smoke" in log.read_text()
    (tmp_path / "file").write_text("")
    log_to(tmp_path / "file" / "recollect.log")
    logging.getLogger("recollect.test").warning("nobody hears this")
    log_to(tmp_path / "elsewhere.log")


@pytest.mark.parametrize("name", ["data", "user", "agent", "workspace", "org"])
def test_an_option_is_not_taken_for_the_value_of_the_one_before(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    # `--data $DB --json` without a DB.
    monkeypatch.chdir(tmp_path)
    said = cli("remember", "green tea", f"--{name}", "--json")
    assert (said.status, said.error["code"]) == (2, "bad_usage")
    assert f"--{name} needs a value" in said.error["message"]
    assert not (tmp_path / "--json").exists()
    assert cli("list", "--json").error["code"] == "no_such_memory"


@pytest.mark.parametrize("command", ["backup", "export"])
def test_a_folder_is_no_file_to_make(cli: Cli, command: str):
    saved(cli, "kept")
    for place in ("", ".", "/"):
        said = cli(command, place, "--json")
        assert (said.status, said.error["code"]) == (4, "file_exists")
