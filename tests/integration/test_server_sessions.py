"""Sessions, archives, jobs and transfers over HTTP, as an agent in another language uses them."""

import io
import json
import tarfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect import Memory
from recollect.server.app import create_app
from recollect.settings import Settings
from tests.serving import calling

ANN = {"user": "ann"}


@asynccontextmanager
async def serving(data: Path, **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(
        create_app(Settings.load({"data_dir": data, **settings})),
        headers={"Content-Type": "application/json"},
        params=ANN,
    ) as client:
        yield client


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(tmp_path / "data") as opened:
        yield opened


def well(response: httpx.Response) -> Any:
    assert response.status_code < 300, response.text
    return response.json() if response.content else None


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def dialogue(count: int, words: int = 40) -> list[dict[str, str]]:
    roles = ("user", "assistant")
    return [
        {"role": roles[number % 2], "content": f"point {number}: " + "green tea " * words}
        for number in range(count)
    ]


async def test_a_session_is_compressed_expanded_and_found_again_after_a_restart(tmp_path: Path):
    small = {"id": "monday", "context_tokens": 4_000}
    async with serving(tmp_path) as client:
        opened = well(await client.post("/v1/sessions", json=small))
        assert (opened["id"], opened["usage"]["messages"]) == ("monday", 0)
        turns = well(
            await client.post("/v1/sessions/monday/observe", json={"messages": dialogue(60)})
        )
        assert [it["ordinal"] for it in turns["items"]] == list(range(1, 61))
        well(await client.post("/v1/sessions/monday/prepare", json={}))
        well(await client.post("/v1/sessions/monday/settle"))
        prepared = well(await client.post("/v1/sessions/monday/prepare", json={}))
        usage = prepared["usage"]
        assert usage["level"] >= 2
        assert 0 < usage["window_tokens"] <= usage["budget_tokens"]
        assert len(prepared["messages"]) < 60
        summaries = well(await client.get("/v1/sessions/monday/summaries"))["items"]
        expanded = well(
            await client.get(f"/v1/sessions/monday/summaries/{summaries[0]['id']}/turns")
        )
        assert expanded["items"][0]["content"].startswith("point 0:")
        unknown = await client.get("/v1/sessions/monday/summaries/sum_nothing/turns")
        assert code(unknown) == (404, "unknown_summary")
    async with serving(tmp_path) as client:
        well(await client.post("/v1/sessions", json=small))
        status = well(await client.get("/v1/sessions/monday"))
        assert (status["usage"]["messages"], status["usage"]["level"] >= 2) == (60, True)


async def test_what_another_process_said_is_in_the_window(tmp_path: Path):
    async with serving(tmp_path) as client:
        hello = {"messages": [{"role": "user", "content": "hello from here"}]}
        well(await client.post("/v1/sessions/s/observe", json=hello))
        async with Memory.open(Settings.load({"data_dir": tmp_path})) as other:
            session = other.scope(user="ann").session("s")
            await session.observe({"role": "assistant", "content": "hello from elsewhere"})
        prepared = well(await client.post("/v1/sessions/s/prepare", json={"format": "anthropic"}))
        said = [it["content"] for it in prepared["messages"]]
        assert "hello from elsewhere" in str(said[-1])


async def test_a_session_belongs_to_its_user_and_ends(client: httpx.AsyncClient):
    said = {"messages": [{"role": "user", "content": "my secret plan"}]}
    well(await client.post("/v1/sessions/s/observe", json=said))
    foreign = await client.get("/v1/sessions/s", params={"user": "bob"})
    assert code(foreign) == (404, "unknown_session")
    others = well(await client.post("/v1/sessions/s/prepare", json={}, params={"user": "bob"}))
    assert others["messages"] == []
    well(await client.patch("/v1/sessions/s/scratchpad", json={"current_goal": "plan"}))
    well(await client.post("/v1/sessions/s/end"))
    assert well(await client.get("/v1/sessions/s"))["usage"]["messages"] == 1
    assert well(await client.get("/v1/sessions/s/scratchpad"))["current_goal"] == ""
    well(await client.post("/v1/forget", json={"session": "s"}))
    assert code(await client.get("/v1/sessions/s")) == (404, "unknown_session")


async def test_a_new_session_with_a_chinese_name_is_found_at_its_location(
    client: httpx.AsyncClient,
):
    made = await client.post("/v1/sessions", json={"id": "周一例会"})
    assert made.status_code == 201, made.text
    assert well(await client.get(made.headers["Location"]))["id"] == "周一例会"


async def test_notes_and_scratchpad_outlive_the_server(tmp_path: Path):
    async with serving(tmp_path) as client:
        chunk = {"content": "The limit is 30 days", "source": "manual", "relevance_score": 0.9}
        well(await client.post("/v1/sessions/s/notes/chunks", json=chunk))
        toc = {"structure": [{"title": "1 Scope"}]}
        well(await client.put("/v1/sessions/s/notes/structures/doc", json=toc))
        news = {"current_goal": "Book", "sub_goals": ["fly"], "decisions": [{"what": "train"}]}
        well(await client.patch("/v1/sessions/s/scratchpad", json=news))
        refused = await client.post("/v1/sessions/s/notes/chunks", json={**chunk, "content": ""})
        assert code(refused) == (422, "empty_text")
    async with serving(tmp_path) as client:
        notes = well(await client.get("/v1/sessions/s/notes"))
        assert notes["chunks"][0]["content"] == "The limit is 30 days"
        assert notes["structures"] == {"doc": [{"title": "1 Scope"}]}
        assert "doc" in notes["structure_hint"]
        pad = well(await client.get("/v1/sessions/s/scratchpad"))
        assert (pad["current_goal"], pad["decisions"][0]["what"]) == ("Book", "train")
        kept = well(await client.delete("/v1/sessions/s/notes", params={"what": "query"}))
        assert (kept["chunks"], list(kept["structures"])) == ([], ["doc"])


async def test_a_large_result_is_archived_loaded_searched_and_deleted(client: httpx.AsyncClient):
    report = "\n".join(f"line {it}: the harbour costs {it} euros" for it in range(1, 801))
    given = {"tool": "search", "input": {"q": "harbour"}, "result": report}
    shown = well(await client.post("/v1/sessions/s/tool-results", json=given))
    assert shown["is_archived"]
    assert len(shown["result"]) < len(report)
    page = well(await client.get("/v1/archives", params={"limit": 1}))
    (archive,) = page["items"]
    path = f"/v1/archives/{archive['id']}"
    assert (await client.get(f"{path}/content")).text == report
    part = well(await client.get(f"{path}/text", params={"range": "2-3"}))
    assert "line 2: the harbour" in part["text"]
    found = well(await client.get(f"{path}/text", params={"query": "costs 777 euros"}))
    assert "line 777" in found["text"]
    message = {"role": "tool", "tool_call_id": "1", "content": shown["result"]}
    body = {"messages": [message], "load": [archive["id"]]}
    opened = well(await client.post("/v1/sessions/s/archives/open", json=body))["items"]
    assert "line 500" in opened[0]["content"]
    closed = well(await client.post("/v1/sessions/s/archives/close", json={"messages": opened}))
    assert "line 500" not in closed["items"][0]["content"]
    again = {"tool": "search", "input": {"q": "harbour"}}
    assert well(await client.post("/v1/archives/earlier", json=again))["archive"] == archive | {
        "loads": well(await client.get(path))["loads"],
        "last_loaded": well(await client.get(path))["last_loaded"],
    }
    assert code(await client.delete(path, params={"user": "bob"})) == (404, "unknown_archive")
    well(await client.delete(path))
    assert code(await client.get(f"{path}/content")) == (404, "unknown_archive")


async def test_text_that_is_not_valid_unicode_comes_back_as_it_was(client: httpx.AsyncClient):
    broken = "half an emoji: \ud83d"
    small = {"tool": "t", "result": broken}
    answer = await client.post("/v1/sessions/s/tool-results", content=json.dumps(small))
    assert well(answer) == {"result": broken, "is_archived": False}
    large = {"tool": "t", "result": {"log": broken * 2_000}}
    well(await client.post("/v1/sessions/s/tool-results", content=json.dumps(large)))
    (archive,) = well(await client.get("/v1/archives"))["items"]
    text = well(await client.get(f"/v1/archives/{archive['id']}/text"))["text"]
    assert broken in text


async def test_archives_come_in_pages(client: httpx.AsyncClient):
    for number in range(5):
        given = {"tool": "t", "input": number, "result": f"{number} " * 6_000}
        well(await client.post("/v1/sessions/s/tool-results", json=given))
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        asked = {"limit": 2, **({} if cursor is None else {"cursor": cursor})}
        page = well(await client.get("/v1/archives", params=asked))
        seen += [it["input"] for it in page["items"]]
        cursor = page["next_cursor"]
    assert (seen, cursor) == (["4", "3", "2", "1", "0"], None)


@pytest.mark.usefixtures("nobody_works")
async def test_jobs_are_listed_run_told_of_and_cancelled(client: httpx.AsyncClient):
    messages = [{"role": "user", "content": f"I like tea number {it}"} for it in range(10)]
    well(await client.post("/v1/observe", json={"session": "s", "messages": messages}))
    waiting = well(await client.get("/v1/jobs", params={"state": "waiting"}))["items"]
    job = next(it for it in waiting if it["kind"] == "extract")
    cancelled = well(await client.delete(f"/v1/jobs/{job['id']}"))
    assert (cancelled["state"], cancelled["key"]) == ("cancelled", "")
    assert code(await client.delete(f"/v1/jobs/{job['id']}")) == (409, "job_is_over")
    assert code(await client.get("/v1/jobs/job_nothing")) == (404, "unknown_job")
    well(await client.post("/v1/observe", json={"session": "s2", "messages": messages}))
    assert well(await client.post("/v1/jobs/run"))["ran"] >= 1
    done = well(await client.get("/v1/jobs", params={"state": "done", "kind": "extract"}))
    assert len(done["items"]) >= 1
    assert well(await client.get("/v1/stats"))["jobs"]["failed"] == 0


async def test_an_export_is_imported_elsewhere_as_streams(tmp_path: Path):
    async with serving(tmp_path / "one") as client:
        for number in range(300):
            body = {"content": f"note {number}: " + "x" * 400}
            well(await client.post("/v1/records", json=body))
        exported = await client.get("/v1/export")
        assert exported.headers["content-type"] == "application/x-ndjson"
    assert exported.content.count(b"\n") == 301

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(exported.content), 10_000):
            yield exported.content[start : start + 10_000]

    async with serving(tmp_path / "two") as client:
        done = well(await client.put("/v1/import", content=pieces()))
        assert (done["added"], done["bad"]) == (300, 0)
        assert well(await client.put("/v1/import", content=exported.content))["unchanged"] == 300
        cut = await client.put("/v1/import", content=exported.content[:50_000])
        assert cut.status_code == 422, cut.text
        assert code(await client.put("/v1/import", content=b"no export"))[0] == 422
        assert well(await client.get("/v1/stats"))["store"]["records"] == 300


@pytest.mark.sqlite(reason="a server has its own tool for backups")
async def test_a_backup_can_be_opened(client: httpx.AsyncClient, tmp_path: Path):
    well(await client.post("/v1/records", json={"content": "kept in the copy"}))
    given = {"tool": "search", "input": 1, "result": "harbour " * 5_000}
    well(await client.post("/v1/sessions/s/tool-results", json=given))
    packed = await client.get("/v1/backup")
    with tarfile.open(fileobj=io.BytesIO(packed.content)) as tar:
        tar.extractall(tmp_path / "copy")
    async with Memory.open(tmp_path / "copy" / "memory.db") as memory:
        anns = memory.scope(user="ann")
        assert [it.content for it in await anns.list()] == ["kept in the copy"]
        (archive,) = await anns.archives.list()
        assert await anns.archives.load(archive.id) == "harbour " * 5_000


async def test_the_doctor_tells_how_every_part_is_doing(client: httpx.AsyncClient):
    told = well(await client.get("/v1/doctor"))
    assert told["verdict"] in {"ok", "warning"}
    assert "database" in {it["part"] for it in told["findings"]}
    assert json.dumps(told)
