"""Upkeep at the command line and over HTTP: the same verbs, the same answers."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect import Memory
from recollect.domain.fields import Draft
from recollect.server.app import create_app
from tests.command_line import CommandLine
from tests.integration.test_server import problem_of
from tests.serving import calling
from tests.upkeep import dispute, quarantine


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path / "data"


@pytest.fixture
def cli(folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> CommandLine:
    return CommandLine(capsysbinary)


async def _filled(folder: Path) -> dict[str, str]:
    """A memory with one of everything that upkeep is about; the ids by name."""
    now = datetime.now(UTC)
    drafts: dict[str, Draft] = {
        "first": {"content": "Ann lives in Berlin", "created_at": now - timedelta(days=40)},
        "second": {"content": "小安住在里斯本", "created_at": now - timedelta(days=10)},
        "doubtful": {"content": "Ann owns a boat 小安有一条船"},
        "short": {
            "content": "要回复发票 reply about the invoice",
            "tier": "short",
            "category": "follow-up",
            "expires_at": now + timedelta(days=3),
        },
        "over": {"content": "the sale ends today", "expires_at": now - timedelta(days=1)},
    }
    async with Memory.open(folder) as memory:
        saved = await memory.remember_many(drafts.values())
        records = dict(zip(drafts, saved, strict=True))
        await quarantine(memory, records["doubtful"])
        conflict = await dispute(memory, records["first"], records["second"])
    return {**{name: record.id for name, record in records.items()}, "conflict": conflict}


# --- Command line -------------------------------------------------------------------------------


def test_the_command_line_shows_what_to_look_at(cli: CommandLine, folder: Path):
    ids = asyncio.run(_filled(folder))
    health = cli("health", "--json").json
    assert (health["total"], health["conflicts"], health["quarantined"]) == (3, 1, 1)
    assert (health["buffered"], health["expired"], health["compared"]) == (1, 1, 3)
    shown = cli("health").out
    assert "mean confidence" in shown
    assert "recollect conflicts" in shown

    (disputed,) = cli("conflicts", "--json").json["items"]
    assert (disputed["first"]["id"], disputed["second"]["id"]) == (ids["first"], ids["second"])
    told = cli("conflicts").out
    assert "Berlin" in told
    assert "里斯本" in told

    (held,) = cli("quarantine", "--json").json["items"]
    assert held["id"] == ids["doubtful"]
    assert "小安有一条船" in cli("quarantine").out

    (entry,) = cli("buffer", "--json").json["items"]
    assert entry["id"] == ids["short"]
    assert "recalled in 0 sessions" in cli("buffer").out


def test_the_command_line_decides_a_conflict(cli: CommandLine, folder: Path):
    ids = asyncio.run(_filled(folder))
    refused = cli("resolve", ids["conflict"], "toss_a_coin", "--json")
    assert (refused.status, refused.error["code"]) == (2, "unknown_value")
    decided = cli(
        *("resolve", ids["conflict"], "both_at_different_times", "--at", "2026-02-01"),
        *("--reason", "搬家了", "--json"),
    ).json
    assert decided["first"]["valid_to"] == decided["second"]["valid_from"]
    assert "No conflicts." in cli("conflicts").out
    again = cli("resolve", ids["conflict"], "merge", "--json")
    assert again.error["code"] == "already_resolved"
    assert "搬家了" in cli("history", ids["first"]).out
    seen = decided["conflict"]["resolved_at"]
    assert cli("reopen", ids["conflict"], "--resolved-at", seen).status == 0
    cli("resolve", ids["conflict"], "keep_first")
    late = cli("reopen", ids["conflict"], "--resolved-at", seen, "--json")
    assert late.error["code"] == "changed_since"


def test_the_command_line_reviews_and_keeps(cli: CommandLine, folder: Path):
    ids = asyncio.run(_filled(folder))
    accepted = cli("accept", ids["doubtful"], "--content", "Ann rents a boat", "--json").json
    assert (accepted["status"], accepted["content"]) == ("active", "Ann rents a boat")
    assert cli("reject", ids["doubtful"], "--json").error["code"] == "not_quarantined"
    assert "Kept, version 2" in cli("promote", ids["short"], "--reason", "记住这个").out
    assert "The buffer is empty" in cli("buffer").out


def test_the_command_line_sweeps_after_a_dry_run(cli: CommandLine, folder: Path):
    ids = asyncio.run(_filled(folder))
    told = cli("sweep", "--dry-run", "--json").json
    assert (told["is_dry_run"], told["expired"], told["ids"]) == (
        True,
        1,
        {"expire": [ids["over"]]},
    )
    assert f"expire (time): {ids['over']}" in cli("sweep", "--dry-run").out
    assert cli("sweep", "--json").json["expired"] == 1
    assert "Nothing to sweep" in cli("sweep", "--all-scopes").out
    assert cli("health", "--json").json["expired_by"] == {"time": 1}


# --- HTTP ---------------------------------------------------------------------------------------


@asynccontextmanager
async def _serving(where: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(
        create_app(where),
        "http://127.0.0.1:7077/v1/upkeep",
        headers={"Content-Type": "application/json"},
    ) as client:
        yield client


async def _asked(client: httpx.AsyncClient, method: str, path: str, body: Any = None) -> Any:
    answer = await client.request(method, path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_every_verb_has_its_route(folder: Path):
    ids = await _filled(folder)
    async with _serving(folder) as client:
        health = await _asked(client, "GET", "/health")
        assert (health["total"], health["conflicts"], health["capacity"]) == (3, 1, None)
        (disputed,) = (await _asked(client, "GET", "/conflicts"))["items"]
        assert disputed["conflict"]["id"] == ids["conflict"]
        merged = await _asked(
            client,
            "POST",
            f"/conflicts/{ids['conflict']}/resolve",
            {"resolution": "merge", "content": "Ann lives in Lisbon 小安住在里斯本"},
        )
        assert merged["second"]["status"] == "superseded"
        assert merged["conflict"]["resolution"] == "merge"
        seen = {"resolved_at": merged["conflict"]["resolved_at"]}
        back = await _asked(client, "POST", f"/conflicts/{ids['conflict']}/reopen", seen)
        assert back["conflict"]["resolved_at"] is None
        newer = {"resolution": "keep_second"}
        await _asked(client, "POST", f"/conflicts/{ids['conflict']}/resolve", newer)
        late = await client.post(f"/conflicts/{ids['conflict']}/reopen", json=seen)
        assert problem_of(late) == (409, "changed_since")

        page = await _asked(client, "GET", "/quarantine?limit=1")
        assert [it["id"] for it in page["items"]] == [ids["doubtful"]]
        rejected = await _asked(
            client, "POST", f"/quarantine/{ids['doubtful']}/reject", {"reason": "没有船"}
        )
        assert rejected["status"] == "deleted"

        (entry,) = (await _asked(client, "GET", "/buffer"))["items"]
        assert entry["id"] == ids["short"]
        promoted = await _asked(client, "POST", f"/buffer/{ids['short']}/promote")
        assert (promoted["tier"], promoted["expires_at"]) == ("long", None)

        for verb in ("expire", "sweep"):
            told = await _asked(client, "POST", f"/{verb}", {"dry_run": True})
            assert (told["expired"], told["is_dry_run"]) == (1, True)
            (named,) = told["named"]
            assert (named["id"], named["title"]) == (ids["over"], "the sale ends today")
            assert (named["action"], named["reason"]) == ("expire", "time")
        assert (await _asked(client, "POST", "/retain"))["expired"] == 0
        assert (await _asked(client, "POST", "/sweep"))["ids"] == {"expire": [ids["over"]]}


async def test_a_record_is_accepted_over_http_without_a_body(folder: Path):
    ids = await _filled(folder)
    async with _serving(folder) as client:
        accepted = await _asked(client, "POST", f"/quarantine/{ids['doubtful']}/accept")
        assert (accepted["status"], accepted["version"]) == ("active", 3)


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/conflicts/conflict_none/resolve", {"resolution": "merge"}, 404, "not_found"),
        ("/conflicts/any/resolve", {"resolution": "toss"}, 422, "unknown_value"),
        ("/conflicts/any/resolve", {}, 422, "missing_field"),
        ("/quarantine/mem_none/accept", {}, 404, "not_found"),
        ("/quarantine/mem_none/accept", {"words": "x"}, 422, "unknown_field"),
        ("/buffer/mem_none/promote", None, 404, "not_found"),
    ],
)
async def test_problems_are_told_as_everywhere(
    folder: Path, path: str, body: Any, status: int, code: str
):
    async with _serving(folder) as client:
        answer = await client.post(path, json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"


async def test_another_users_upkeep_is_another_matter(folder: Path):
    ids = await _filled(folder)
    async with _serving(folder) as client:
        health = await _asked(client, "GET", "/health?user=bob")
        assert health["total"] == health["expired"] == 0
        assert (await _asked(client, "POST", "/sweep?user=bob"))["expired"] == 0
        answer = await client.post(f"/buffer/{ids['short']}/promote?user=bob")
        assert json.loads(answer.text)["code"] == "not_found"
