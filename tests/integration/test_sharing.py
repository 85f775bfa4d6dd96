"""Sharing under its rules: who decides, what needs nobody, several who decide at once."""

import asyncio
import io
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.domain.sharing import Proposal
from recollect.errors import InvalidInput, NotAllowed, NotFound, RecollectError, SettingsError
from recollect.settings import Settings
from tests.command_line import CommandLine
from tests.conftest import TurnedClock
from tests.fakes import FakeJudge
from tests.integration.test_server import problem_of, serving
from tests.services import services


def _settings(place: Path, **given: Any) -> Settings:
    agents = {"rita": {"role": "reviewer"}, "boss": {"role": "coordinator"}, "vera": {}}
    return Settings.load({"storage": {"path": place}, "agents": agents, **given})


async def _settled(*deciding: Any) -> list[Proposal | RecollectError]:
    done = await asyncio.gather(*deciding, return_exceptions=True)
    assert all(isinstance(it, Proposal | RecollectError) for it in done), done
    return [it for it in done if isinstance(it, Proposal | RecollectError)]


async def test_of_many_who_decide_at_once_one_does_and_nothing_is_doubled(database_path: Path):
    settings = _settings(database_path)
    async with Memory.open(settings) as here, Memory.open(settings) as there:
        rita = here.scope(agent="rita")
        for number in range(5):
            proposal = await rita.shared.propose(
                f"Rule {number} is about topic{number}", "convention"
            )
            deciding = [view.shared.approve(proposal.id) for view in (here, there) * 4]
            deciding.append(there.shared.reject(proposal.id, "no"))
            done = await _settled(*deciding)
            won = [it for it in done if isinstance(it, Proposal)]
            lost = [it.code for it in done if isinstance(it, RecollectError)]
            assert (len(won), set(lost)) == (1, {"already_decided"})
            shared = [it for it in await here.shared.list() if it.content == proposal.content]
            assert [it.version for it in shared] == ([1] if won[0].status == "approved" else [])


async def test_rivals_approved_at_once_become_one_record(database_path: Path, judge: FakeJudge):
    judge.is_sure_of_all = "update"
    settings = _settings(database_path)
    async with (
        Memory.open(settings, judge=judge) as here,
        Memory.open(settings, judge=judge) as there,
    ):
        rita = here.scope(agent="rita")
        limits = (60, 72, 79, 88, 100, 120)
        proposals = [
            await rita.shared.propose(f"Lines are at most {limit} characters long", "convention")
            for limit in limits
        ]
        desks = (here, there) * 3
        done = await _settled(
            *(desk.shared.approve(it.id) for desk, it in zip(desks, proposals, strict=True))
        )
        assert all(isinstance(it, Proposal) for it in done)
        (standing,) = await here.shared.list()
        assert "120" in standing.content
        said = {it.record.content for it in await there.history(standing.id)}
        assert said == {it.content for it in proposals}


async def test_a_named_coordinator_decides_alone(database_path: Path):
    settings = _settings(database_path, workspaces={"default": {"coordinator": "vera"}})
    async with Memory.open(settings) as memory:
        rita, boss, vera = (memory.scope(agent=name) for name in ("rita", "boss", "vera"))
        proposal = await rita.shared.propose("Names are short", "convention")
        with pytest.raises(NotAllowed):
            await boss.shared.approve(proposal.id)
        with pytest.raises(NotAllowed):
            await boss.shared.propose("a monorepo", "project-context")
        assert (await vera.shared.approve(proposal.id)).decided_by == "vera"
        assert (await vera.shared.propose("a monorepo", "project-context")).status == "pending"
        elsewhere = memory.scope(agent="vera", workspace="other")
        with pytest.raises(NotAllowed):
            await elsewhere.shared.approve(proposal.id)


async def test_with_person_as_coordinator_no_agent_decides(database_path: Path):
    settings = _settings(database_path, workspaces={"default": {"coordinator": "person"}})
    async with Memory.open(settings) as memory:
        proposal = await memory.scope(agent="rita").shared.propose("Be brief", "convention")
        with pytest.raises(NotAllowed):
            await memory.scope(agent="boss").shared.approve(proposal.id)
        assert (await memory.shared.approve(proposal.id)).status == "approved"


async def test_a_rule_approves_what_is_certain_enough(database_path: Path):
    sharing = {"auto_approve": ["用户偏好", "convention"], "auto_confidence": 0.7}
    async with Memory.open(_settings(database_path, sharing=sharing)) as memory:
        rita = memory.scope(agent="rita")
        sure = await rita.shared.propose("回复要简洁", "preference", confidence=0.9)
        unsure = await rita.shared.propose("Names are short", "convention", confidence=0.5)
        assert (sure.status, sure.decided_by, unsure.status) == ("approved", "rule", "pending")
        assert (await memory.shared.proposal(sure.id)).status == "approved"
        assert len(await memory.recall("回复简洁")) == 1


async def test_an_unknown_type_is_told_everywhere(database_path: Path):
    with pytest.raises(SettingsError) as refused:
        _settings(database_path, sharing={"auto_approve": ["gossip"]})
    assert "known-issue" in refused.value.message
    async with Memory.open(_settings(database_path)) as memory:
        for call in (
            lambda: memory.shared.propose("x y z", "gossip"),
            lambda: memory.shared.proposals(type="gossip"),
            lambda: memory.shared.list(type="gossip"),
            lambda: memory.shared.proposals("lost"),
        ):
            with pytest.raises(InvalidInput) as told:
                await call()
            assert told.value.code == "unknown_value"
        with pytest.raises(InvalidInput) as untyped:
            await memory.shared.propose("x y z")
        assert untyped.value.code == "missing_field"


@pytest.mark.parametrize("content", ["", "  ", "a\x00b", "\ud800"])
async def test_what_cannot_be_kept_is_not_proposed(database_path: Path, content: str):
    async with Memory.open(_settings(database_path)) as memory:
        with pytest.raises(InvalidInput):
            await memory.shared.propose(content, "adr")
        assert len(await memory.shared.proposals(None)) == 0


async def test_proposals_come_in_pages(database_path: Path, clock: TurnedClock):
    async with Memory.open(_settings(database_path), clock=clock) as memory:
        made: list[str] = []
        for number in range(7):
            made.append((await memory.shared.propose(f"Decision {number}", "adr")).id)
            clock.turn(seconds=number % 2)
        seen: list[str] = []
        cursor = None
        while True:
            page = await memory.shared.proposals(limit=3, cursor=cursor)
            seen += [it.id for it in page]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert seen == made[::-1]


async def test_a_sweep_closes_stale_proposals(database_path: Path, clock: TurnedClock):
    settings = _settings(database_path, sharing={"proposal_days": 2})
    async with Memory.open(settings, clock=clock) as memory:
        proposal = await memory.shared.propose("Decision 1", "adr")
        clock.turn(days=3)
        await services(memory).working.sweeper.schedule()
        await memory.work()
        closed = await memory.shared.proposal(proposal.id)
        assert (closed.status, closed.decided_by) == ("expired", "sweep")


async def test_all_of_it_is_in_the_audit(database_path: Path, clock: TurnedClock):
    async with Memory.open(_settings(database_path), clock=clock) as memory:
        rita, boss = memory.scope(agent="rita"), memory.scope(agent="boss")
        taken, refused, left, stale = [
            await rita.shared.propose(f"Rule {word}", "convention", reason="it helps")
            for word in ("alpha", "beta", "gamma", "delta")
        ]
        record = (await boss.shared.approve(taken.id, reason="agreed")).record or ""
        await boss.shared.reject(refused.id, "too vague")
        await rita.shared.withdraw(left.id)
        await rita.shared.update(record, "Rule alpha, said better")
        await boss.shared.delete(record)
        clock.turn(days=20)
        await services(memory).sharing.proposals.expire_stale()
        told = [(it.action, it.actor, it.target) for it in await memory.audit.tail()]
        assert told[::-1] == [
            *(("propose", "rita", it.id) for it in (taken, refused, left, stale)),
            ("approve", "boss", taken.id),
            ("reject", "boss", refused.id),
            ("withdraw", "rita", left.id),
            ("update", "rita", record),
            ("delete", "boss", record),
            ("expire", "sweep", stale.id),
        ]
        (approval,) = [it for it in await memory.audit.tail() if it.action == "approve"]
        assert approval.payload["records"] == {record: 1}
        assert "agreed" in str(approval.payload["reasons"])
        # Why something waits or was refused is between those who decide and who asked for it.
        assert "too vague" not in str([it.payload for it in await memory.audit.tail()])


async def test_an_import_brings_nothing_shared_in_unless_an_operator_does(
    database_path: Path, tmp_path: Path
):
    async with Memory.open(_settings(database_path)) as memory:
        await memory.shared.approve((await memory.shared.propose("a monorepo", "adr")).id)
        file = io.BytesIO()
        await memory.export_to(file, all_scopes=True)
    async with Memory.open(_settings(tmp_path / "other.db")) as other:
        with pytest.raises(NotAllowed):
            await other.import_from(io.BytesIO(file.getvalue()))
        assert len(await other.shared.list()) == 0
        await other.import_from(io.BytesIO(file.getvalue()), all_scopes=True)
        assert [it.content for it in await other.shared.list()] == ["a monorepo"]


async def test_nobody_opens_a_memory_as_what_is_shared(tmp_path: Path):
    with pytest.raises(InvalidInput) as refused:
        await Memory.open(_settings(tmp_path / "m.db", scope={"agent": "*shared"}))
    assert refused.value.code == "bad_scope"


async def test_the_http_face_proposes_and_decides(database_path: Path):
    async with serving(_settings(database_path)) as client:
        rita, boss = {"agent": "rita"}, {"agent": "boss"}
        body = {"content": "函数命名使用 snake_case", "type": "代码约定", "reason": "PEP 8"}
        made = await client.post("/v1/proposals", params=rita, json=body)
        assert made.status_code == 201, made.text
        place = made.headers["Location"]
        assert (await client.get(place, params=rita)).json()["status"] == "pending"
        refused = await client.post(f"{place}/approve", params=rita)
        assert problem_of(refused) == (403, "not_coordinator")
        wrong = await client.post("/v1/proposals", params={"agent": "vera"}, json=body)
        assert problem_of(wrong) == (403, "wrong_role")
        done = await client.post(f"{place}/approve", params=boss, json={"title": "命名"})
        assert done.status_code == 200, done.text
        again = await client.post(f"{place}/reject", params=boss, json={"reason": "no"})
        assert problem_of(again) == (409, "already_decided")

        shared = (await client.get("/v1/shared", params={"agent": "vera"})).json()["items"]
        assert [(it["title"], it["category"]) for it in shared] == [("命名", "convention")]
        record = f"/v1/shared/{shared[0]['id']}"
        stranger = await client.patch(record, params={"agent": "vera"}, json={"content": "no"})
        assert problem_of(stranger) == (403, "not_creator")
        changed = await client.patch(record, params=rita, json={"tags": ["python"]})
        assert changed.json()["tags"] == ["python"]
        assert (await client.get(record)).json()["version"] == 2
        assert (await client.delete(record, params=boss)).status_code == 200
        forged = await client.get("/v1/records", params={"agent": "*shared"})
        assert problem_of(forged) == (422, "bad_scope")

        second = await client.post("/v1/proposals", params=rita, json=body)
        taken = f"/v1/proposals/{second.json()['id']}/withdraw"
        assert (await client.post(taken, params=rita)).json()["status"] == "withdrawn"
        listed = await client.get("/v1/proposals", params={"status": "any", "limit": 1})
        assert len(listed.json()["items"]) == 1
        assert listed.json()["next_cursor"]

        third = await client.post("/v1/proposals", params=rita, json=body)
        path = f"/v1/proposals/{third.json()['id']}"
        first = await client.post(f"{path}/reject", params=boss, json={"reason": "no"})
        seen = {"decided_at": first.json()["decided_at"]}
        back = await client.post(f"{path}/reopen", params=boss, json=seen)
        assert (back.status_code, back.json()["status"]) == (200, "pending")
        await client.post(f"{path}/approve")
        late = await client.post(f"{path}/reopen", params=boss, json=seen)
        assert problem_of(late) == (409, "changed_since")


def test_the_command_line_proposes_and_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
):
    monkeypatch.setenv("RECOLLECT_AGENTS__rita__ROLE", "审查")
    monkeypatch.setenv("RECOLLECT_WORKSPACES__Shop__COORDINATOR", "boss")
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("RECOLLECT_SCOPE__WORKSPACE", "Shop")
    cli = CommandLine(capsysbinary)

    said = cli("share", "propose", "缩进用两个空格", "--type", "约定", "--agent", "rita", "--json")
    assert said.status == 0, said.err
    first = said.json["id"]
    refused = cli("share", "propose", "x", "--type", "convention", "--agent", "dan", "--json")
    assert (refused.status, refused.error["code"]) == (7, "wrong_role")
    waiting = cli("share", "proposals", "--agent", "boss")
    assert first in waiting.out
    assert "缩进用两个空格" in waiting.out
    approved = cli("share", "approve", first, "缩进用四个空格", "--agent", "boss", "--json").json
    assert (approved["status"], approved["body"]["outcome"]) == ("approved", "created")
    assert "缩进用四个空格" in cli("share", "list").out
    assert cli("share", "list", "--type", "adr", "--json").json["items"] == []

    second = cli("share", "propose", "Be brief", "--type", "convention", "--json").json["id"]
    rejected = cli("share", "reject", second, "--reason", "too vague")
    assert "rejected by me: too vague" in rejected.out
    seen = cli("share", "proposals", "--status", "rejected", "--json").json["items"][0][
        "decided_at"
    ]
    assert cli("share", "reopen", second, "--decided-at", seen).status == 0
    cli("share", "reject", second, "--reason", "far too vague")
    late = cli("share", "reopen", second, "--decided-at", seen, "--json")
    assert late.error["code"] == "changed_since"
    third = cli("share", "propose", "Be kind", "--type", "convention", "--json").json["id"]
    assert cli("share", "withdraw", third).status == 0
    assert "There are no such proposals" in cli("share", "proposals").out
    assert cli("share", "delete", approved["record"], "--json").json["status"] == "deleted"


async def test_what_is_redacted_from_a_shared_record_is_counted_in_the_audit(database_path: Path):
    settings = _settings(database_path, writing={"redact": "mask"})
    async with Memory.open(settings) as memory:
        proposal = await memory.shared.propose("Rob maintains the mirror", "adr")
        approved = await memory.shared.approve(proposal.id)
        assert approved.record is not None

        changed = await memory.shared.update(approved.record, "Ask rob@example.com, 管镜像的人")

        assert "rob@example.com" not in changed.content
        redactions = [it for it in await memory.audit.tail() if it.action == "redact"]
        assert [it.target for it in redactions] == [changed.id]


async def test_the_audit_tells_of_proposals_only_to_who_may_see_them(database_path: Path):
    settings = _settings(database_path, writing={"redact": "mask"})
    async with Memory.open(settings) as memory:
        rita, vera, boss = (memory.scope(agent=name) for name in ("rita", "vera", "boss"))
        waiting = await rita.shared.propose("Ask ann@example.org about tabs", "convention")
        rejected = await rita.shared.propose("Use four spaces", "convention")
        await boss.shared.reject(rejected.id, "no")
        withdrawn = await rita.shared.propose("Names are long", "convention")
        await rita.shared.withdraw(withdrawn.id)
        approved = await rita.shared.propose("Lines are short", "convention")
        await boss.shared.approve(approved.id)
        own = await vera.shared.propose("Answers are short", "preference")
        hidden = {waiting.id, rejected.id, withdrawn.id}

        async def told(view: Memory) -> list[tuple[str, str]]:
            """What happened to proposals, read a few at a time."""
            found, cursor = list[tuple[str, str]](), None
            while True:
                page = await view.audit.tail(limit=2, cursor=cursor)
                assert len(page.items) == 2 or page.next_cursor is None
                found += [(it.action, it.target) for it in page.items if "prop_" in str(it)]
                cursor = page.next_cursor
                if cursor is None:
                    return found

        assert {target for _, target in await told(boss)} == {*hidden, approved.id, own.id}
        assert {target for _, target in await told(rita)} == {*hidden, approved.id}
        assert await told(vera) == [("propose", own.id), ("approve", approved.id)]
        for ident in hidden:
            assert len(await rita.audit.show(ident)) >= 1
            with pytest.raises(NotFound):
                await vera.audit.show(ident)
            assert not (await vera.audit.tail(target=ident)).items
