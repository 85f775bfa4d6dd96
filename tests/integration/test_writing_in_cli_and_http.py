"""The verbs of writing at the command line and over HTTP."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from recollect.server.app import create_app
from recollect.writing.judges import JudgeChain
from tests.command_line import CommandLine
from tests.fakes import FakeJudge
from tests.serving import calling


@pytest.fixture(autouse=True)
def _judge_everywhere(monkeypatch: pytest.MonkeyPatch, judge: FakeJudge) -> None:
    """Whoever opens a memory here, the judge of the test judges in it."""
    monkeypatch.setattr("recollect.assemble.judge.judge_of", lambda *_: JudgeChain([judge]))


@pytest.fixture
def cli(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> CommandLine:
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "data"))
    return CommandLine(capfdbinary)


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(
        create_app(tmp_path / "memory.db"),
        "http://localhost",
        headers={"Content-Type": "application/json"},
    ) as opened:
        yield opened


# --- Command line --------------------------------------------------------------------------------


def test_a_claim_is_written_once_and_its_way_can_be_traced(cli: CommandLine):
    first = cli("write", "I always drink green tea in the morning.", "--json").json
    again = cli("write", "i always drink green tea in the morning", "--json").json

    assert (first["status"], again["status"]) == ("created", "merged")
    assert again["record"]["id"] == first["record"]["id"]
    steps = cli("trace", again["write_id"], "--json").json["steps"]
    assert [step["name"] for step in steps][-3:] == ["reconcile", "store", "audit"]
    told = cli("trace", again["write_id"]).out
    assert "reconcile " in told
    assert first["record"]["id"] in told


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("The API runs on port 8080.", "The API runs on port 9090."),
        ("会议在星期二。", "会议在星期三。"),
    ],
)
def test_a_contradiction_names_the_command_that_decides_it(
    cli: CommandLine, judge: FakeJudge, first: str, then: str
):
    judge.knows(first, then, "conflict")
    cli("write", first)

    told = " ".join(cli("write", then).out.split())

    (dispute,) = cli("conflicts", "--json").json["items"]
    conflict = dispute["conflict"]["id"]
    assert "It conflicts with another record" in told
    assert f"recollect resolve {conflict} keep_second" in told
    assert cli("resolve", conflict, "keep_second").status == 0
    assert [it["content"] for it in cli("list", "--json").json["items"]] == [then]


def test_a_claim_may_have_to_prove_itself_first(cli: CommandLine):
    written = cli("write", "今天心情不错", "--category", "sentiment", "--buffered")

    assert written.out.startswith("buffered (write_")


def test_conversations_are_read_when_asked(cli: CommandLine):
    cli("observe", "记住：我的猫叫毛毛。", "--session", "s")

    read = cli("extract", "s", "--json").json["items"]

    assert [it["status"] for it in read] == ["created"]
    assert "毛毛" in read[0]["record"]["content"]
    assert cli("extract").out == "Nothing new to remember.\n"


def test_the_session_to_read_is_named_as_it_is_elsewhere(cli: CommandLine):
    cli("observe", "记住：我的猫叫毛毛。", "--session", "a")
    cli("observe", "Remember that my dog is called Rex.", "--session", "b")

    (read,) = cli("extract", "--session", "b", "--json").json["items"]

    assert "Rex" in read["record"]["content"]
    assert cli("extract", "a", "--session", "b", "--json").error["code"] == "bad_usage"


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I moved to Manchester.", "I moved to Porto."),
        ("我搬到北京了。", "我搬到杭州了。"),
    ],
)
def test_what_is_read_is_told_as_each_write_left_it(
    cli: CommandLine, judge: FakeJudge, first: str, then: str
):
    judge.is_sure_of_all = "update"
    cli("observe", first, "--session", "s", "--at", "2026-01-01T12:00")
    cli("observe", then, "--session", "s", "--at", "2026-03-01T12:00")

    read = cli("extract", "--json").json["items"]

    assert [it["status"] for it in read] == ["created", "versioned"]
    assert [it["record"]["version"] for it in read] == [1, 2]
    assert read[0]["record"]["content"] != read[1]["record"]["content"]


def test_a_message_is_routed(cli: CommandLine):
    told = cli("route", "From now on answer in French.").out

    assert "write: yes" in told
    assert "namespaces: user-profile" in told
    assert "by: rules" in told
    assert not cli("route", "以后都用法语", "--policy", "off", "--json").json["should_write"]


def test_a_write_that_is_not_there_is_told(cli: CommandLine):
    cli("remember", "Ann likes tea")
    missing = cli("trace", "write_nothing", "--json")

    assert missing.status != 0
    assert missing.error["code"] == "not_found"


# --- HTTP ----------------------------------------------------------------------------------------


async def test_writing_over_http(client: httpx.AsyncClient):
    body = {"content": "用户住在杭州。", "metadata": {"from": "test"}}
    first = (await client.post("/v1/write", json=body)).json()
    again = (await client.post("/v1/write", json={"content": "用户住在杭州"})).json()

    assert (first["status"], again["status"]) == ("created", "merged")
    trace = (await client.get(f"/v1/writes/{again['write_id']}")).json()
    assert trace["id"] == again["write_id"]
    assert (await client.get("/v1/writes/write_x")).status_code == 404
    wrong = await client.post("/v1/write", json={"content": "x", "metadata": {"strategy": "no"}})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "unknown_value")


async def test_the_same_request_happens_once(client: httpx.AsyncClient):
    headers = {"Idempotency-Key": "one"}
    body = {"content": "The staging server is called heron.", "explicit": False}

    first = (await client.post("/v1/write", json=body, headers=headers)).json()
    again = (await client.post("/v1/write", json=body, headers=headers)).json()

    assert first["status"] == "buffered"
    assert again["write_id"] == first["write_id"]


async def test_reading_and_routing_over_http(client: httpx.AsyncClient):
    said = [{"role": "user", "content": "Remember that my cat is called Momo."}]
    await client.post("/v1/observe", json={"messages": said, "session": "s"})

    read = (await client.post("/v1/extract", json={"session": "s"})).json()["items"]
    routed = (await client.post("/v1/route", json={"message": "What is my cat called?"})).json()

    assert [it["record"]["content"] for it in read] == ["User's cat is called Momo"]
    assert (await client.post("/v1/extract")).json()["items"] == []
    assert (routed["should_read"], routed["should_write"]) == (True, False)
