"""Several agents in one workspace: one proposes, the coordinator decides, all of them know."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recollect import Memory
from recollect.domain.record import Record
from recollect.errors import (
    Conflict,
    InvalidInput,
    NotAllowed,
    NotFound,
    RecollectError,
    StaleVersion,
)
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.fakes import FakeJudge
from tests.services import services

_ROLES = {
    "boss": "coordinator",
    "archie": "架构",
    "rita": "reviewer",
    "rob": "审查 Agent",
    "tess": "tester",
    "dan": "developer",
}


@pytest.fixture
async def team(database_path: Path, clock: TurnedClock, judge: FakeJudge) -> AsyncIterator[Memory]:
    """A memory whose agents have roles."""
    settings = Settings.load(
        {
            "storage": {"path": database_path},
            "agents": {name: {"role": role} for name, role in _ROLES.items()},
        }
    )
    async with Memory.open(settings, clock=clock, judge=judge) as opened:
        yield opened.scope(user="ann", workspace="shop")


async def _shared(team: Memory) -> list[Record]:
    return list(await team.shared.list())


@pytest.mark.parametrize(
    ("first", "second", "question", "origin"),
    [
        (
            "Function names use camelCase",
            "Function names use snake_case",
            "Which function names do we use?",
            "shared by rob",
        ),
        (
            "函数命名使用 camelCase",
            "函数命名使用 snake_case",
            "我们的函数命名使用什么？",
            "由 rob 共享",
        ),
    ],
)
async def test_of_two_conflicting_conventions_the_newest_stands_and_the_other_is_history(
    team: Memory,
    clock: TurnedClock,
    judge: FakeJudge,
    first: str,
    second: str,
    question: str,
    origin: str,
):
    judge.is_sure_of_all = "conflict"
    rita, rob, boss, dan = (team.scope(agent=name) for name in ("rita", "rob", "boss", "dan"))
    hers = await rita.shared.propose(first, "convention", reason="the frontend does it so")
    clock.turn(hours=1)
    his = await rob.shared.propose(second, "代码约定", reason="as PEP 8 says")
    assert [it.status for it in (hers, his)] == ["pending", "pending"]
    assert len(await dan.recall(first, min_score=0)) == 0, "nothing is shared before it is approved"
    assert [it.id for it in await boss.shared.proposals()] == [his.id, hers.id]

    clock.turn(hours=1)
    # The order of deciding must not matter: the newest words stand.
    approved = await boss.shared.approve(his.id)
    late = await boss.shared.approve(hers.id)

    (standing,) = await _shared(team)
    assert standing.content == second
    assert standing.metadata["creator"] == "rob"
    assert (approved.record, late.record) == (standing.id, standing.id)
    assert (approved.body["outcome"], late.body["outcome"]) == ("created", "kept")
    said = [version.record.content for version in await dan.history(standing.id)]
    assert said == [second, first, second]
    assert (await dan.recall(question))[0].id == standing.id
    block = (await dan.context(question)).text
    assert second in block
    assert origin in block


async def test_a_newer_convention_takes_the_place_of_an_approved_one(
    team: Memory, clock: TurnedClock, judge: FakeJudge
):
    judge.is_sure_of_all = "update"
    rita, rob, boss = (team.scope(agent=name) for name in ("rita", "rob", "boss"))
    old = await rita.shared.propose("Lines are at most 88 characters long", "convention")
    await boss.shared.approve(old.id)
    clock.turn(days=3)
    new = await rob.shared.propose("Lines are at most 100 characters long", "convention")
    await boss.shared.approve(new.id)

    (standing,) = await _shared(team)
    assert standing.content.startswith("Lines are at most 100")
    history = await team.history(standing.id)
    assert [it.record.metadata["creator"] for it in history] == ["rita", "rob"]
    assert new.id in history[-1].reason
    assert "88" in (await team.get(standing.id, as_of=old.created_at)).content


async def test_of_two_made_together_the_surer_one_stands(
    team: Memory, clock: TurnedClock, judge: FakeJudge
):
    judge.is_sure_of_all = "conflict"
    rita, rob, boss = (team.scope(agent=name) for name in ("rita", "rob", "boss"))
    sure = await rita.shared.propose("缩进用四个空格", "约定", confidence=0.9)
    clock.turn(seconds=20)
    guess = await rob.shared.propose("缩进用两个空格", "约定", confidence=0.6)
    await boss.shared.approve(sure.id)
    await boss.shared.approve(guess.id)
    assert [it.content for it in await _shared(team)] == ["缩进用四个空格"]


async def test_saying_the_same_again_confirms_it(team: Memory, clock: TurnedClock):
    tess, boss = team.scope(agent="tess"), team.scope(agent="boss")
    for text in ("生产环境存在内存泄漏", "生产环境存在内存泄漏。"):
        proposal = await tess.shared.propose(text, "known-issue", confidence=0.5)
        await boss.shared.approve(proposal.id)
        clock.turn(hours=1)
    (standing,) = await _shared(team)
    assert (standing.evidence_count, standing.confidence, standing.version) == (2, 0.75, 2)


async def test_things_that_differ_stand_side_by_side(team: Memory):
    rita, boss = team.scope(agent="rita"), team.scope(agent="boss")
    for text in ("Function names use snake_case", "Tests lie beside the code", "缩进用两个空格"):
        await boss.shared.approve((await rita.shared.propose(text, "convention")).id)
    assert len(await _shared(team)) == 3


@pytest.mark.parametrize(
    ("agent", "type"),
    [
        ("dan", "convention"),
        ("dan", "adr"),
        ("tess", "代码约定"),
        ("rita", "known-issue"),
        ("archie", "project-context"),
        ("boss", "convention"),
        ("stranger", "adr"),
    ],
)
async def test_a_type_is_written_by_its_role_only(team: Memory, agent: str, type: str):
    with pytest.raises(NotAllowed) as refused:
        await team.scope(agent=agent).shared.propose("Names are short", type)
    assert refused.value.code == "wrong_role"


@pytest.mark.parametrize(
    ("agent", "type", "readers"),
    [
        ("boss", "project-context", ["all"]),
        ("archie", "架构决策记录", ["developer", "tester"]),
        ("rob", "convention", ["developer"]),
        ("tess", "已知问题", ["developer", "operations"]),
        ("stranger", "preference", ["all"]),
        (None, "adr", ["developer", "tester"]),
    ],
)
async def test_roles_in_both_languages_may_write_their_types(
    team: Memory, agent: str | None, type: str, readers: list[str]
):
    proposal = await team.scope(agent=agent).shared.propose("选择 PostgreSQL 而非 MySQL", type)
    approved = await team.scope(agent="boss").shared.approve(proposal.id)
    record = await team.shared.get(approved.record or "")
    assert record.metadata["readers"] == readers


async def test_a_shared_preference_stays_with_its_user(team: Memory):
    ann, bob = team.scope(user="ann"), team.scope(user="bob")
    proposal = await ann.scope(agent="dan").shared.propose("用户希望回复简洁", "preference")
    for stranger in (bob, bob.scope(agent="boss"), bob.scope(user=None)):
        assert len(await stranger.shared.proposals(None)) == 0
        with pytest.raises(NotFound):
            await stranger.shared.approve(proposal.id)
    approved = await ann.scope(agent="boss").shared.approve(proposal.id)

    assert len(await ann.scope(agent="tess").recall("回复简洁")) == 1
    for stranger in (bob, bob.scope(agent="dan"), bob.scope(user=None, agent="dan")):
        assert len(await stranger.recall("回复简洁", min_score=0)) == 0
        assert len(await stranger.list()) == 0
        with pytest.raises(NotFound):
            await stranger.get(approved.record or "")
    with pytest.raises(InvalidInput) as nobody:
        await team.scope(user=None, agent="dan").shared.propose("short answers", "preference")
    assert nobody.value.code == "no_user"


async def test_what_is_shared_stays_in_its_workspace(team: Memory):
    proposal = await team.shared.propose("The project uses a monorepo", "project-context")
    await team.shared.approve(proposal.id)
    for elsewhere in (team.scope(workspace="other"), team.scope(org="acme")):
        assert len(await elsewhere.recall("monorepo", min_score=0)) == 0
        assert len(await elsewhere.shared.list()) == 0
        assert len(await elsewhere.shared.proposals(None)) == 0


async def test_only_the_coordinator_decides_and_says_why_not(team: Memory):
    rita, dan, boss = (team.scope(agent=name) for name in ("rita", "dan", "boss"))
    proposal = await rita.shared.propose("Names are short", "convention")
    for somebody in (rita, dan):
        with pytest.raises(NotAllowed) as refused:
            await somebody.shared.approve(proposal.id)
        assert refused.value.code == "not_coordinator"
    with pytest.raises(NotFound):
        await dan.shared.proposal(proposal.id)
    with pytest.raises(InvalidInput):
        await boss.shared.reject(proposal.id, " ")
    rejected = await boss.shared.reject(proposal.id, "too vague")
    assert (rejected.decided_by, rejected.decision) == ("boss", "too vague")
    assert (await rita.shared.proposal(proposal.id)).decision == "too vague"
    with pytest.raises(RecollectError) as again:
        await boss.shared.approve(proposal.id)
    assert again.value.code == "already_decided"
    assert len(await _shared(team)) == 0


async def test_a_decision_is_taken_back_with_what_came_of_it(
    team: Memory, clock: TurnedClock, judge: FakeJudge
):
    rita, rob, boss = (team.scope(agent=name) for name in ("rita", "rob", "boss"))

    async def shared() -> list[str]:
        return [it.content for it in await _shared(team)]

    old = await rita.shared.propose("Lines are at most 88 characters long", "convention")
    await boss.shared.approve(old.id)
    with pytest.raises(NotAllowed):
        await rita.shared.reopen(old.id)
    clock.turn(days=20)
    again = await boss.shared.reopen(old.id, "too soon")
    assert (again.status, again.record, again.decided_by) == ("pending", None, None)
    assert [it.id for it in await boss.shared.proposals()] == [old.id], "it has time again"
    assert await shared() == []
    with pytest.raises(RecollectError) as twice:
        await boss.shared.reopen(old.id)
    assert twice.value.code == "not_decided"
    assert [it.target for it in await team.audit.tail(action="reopen")] == [old.id]

    await boss.shared.approve(old.id)
    judge.is_sure_of_all = "update"
    for confidence, content in ((1.0, "Lines have 100 characters"), (0.1, "Lines have 60")):
        new = await rob.shared.propose(content, "convention", confidence=confidence)
        if confidence == 1.0:
            clock.turn(days=1)
            new = await rob.shared.propose(content, "convention")
        before = await shared()
        approved = await boss.shared.approve(new.id)
        await boss.shared.reopen(new.id)
        assert await shared() == before
        approved = await boss.shared.approve(new.id)
        assert approved.status == "approved"
    assert len(await rob.recall("how many characters has a line", min_score=0)) == 1

    await boss.shared.update(approved.record or "", "Lines have 90 characters")
    with pytest.raises(RecollectError) as moved:
        await boss.shared.reopen(approved.id)
    assert moved.value.code == "changed_since"
    assert await shared() == ["Lines have 90 characters"]

    refused = await rita.shared.propose("Names are short", "convention")
    await boss.shared.reject(refused.id, "too vague")
    assert (await boss.shared.reopen(refused.id, "worth a word")).decision == "worth a word"
    await boss.shared.reject(refused.id, "too vague")
    twins = (boss.shared.reopen(refused.id), boss.shared.reopen(refused.id))
    told = await asyncio.gather(*twins, return_exceptions=True)
    (late,) = [it.code for it in told if isinstance(it, RecollectError)]
    assert late == "not_decided", "it is taken back once"


async def test_only_the_decision_that_was_seen_is_taken_back(team: Memory, clock: TurnedClock):
    rita, boss, ann = (*(team.scope(agent=name) for name in ("rita", "boss")), team)
    proposal = await rita.shared.propose("Names are short", "convention")
    seen = (await boss.shared.approve(proposal.id)).decided_at
    clock.turn(hours=1)
    # Somebody else decides otherwise, before the first one takes it back.
    await ann.shared.reopen(proposal.id, decided_at=seen)
    newer = await ann.shared.reject(proposal.id, "too vague")

    with pytest.raises(Conflict) as refused:
        await boss.shared.reopen(proposal.id, decided_at=seen)

    assert refused.value.code == "changed_since"
    assert (await boss.shared.proposal(proposal.id)).status == "rejected"
    back = await boss.shared.reopen(proposal.id, decided_at=newer.decided_at)
    assert back.status == "pending"


async def test_a_coordinator_shares_it_in_better_words(team: Memory, clock: TurnedClock):
    rita, boss = team.scope(agent="rita"), team.scope(agent="boss")
    proposal = await rita.shared.propose("names short", "convention", tags=["naming"])
    clock.turn(hours=2)
    approved = await boss.shared.approve(
        proposal.id, "Names have at most 30 characters", title="Names"
    )
    record = await rita.shared.get(approved.record or "")
    assert (record.content, record.title) == ("Names have at most 30 characters", "Names")
    assert (record.tags, record.metadata["creator"]) == (("naming",), "rita")
    assert (await rita.shared.proposal(proposal.id)).content == "names short"


async def test_creator_and_coordinator_change_it_others_propose_a_change(
    team: Memory, clock: TurnedClock
):
    rita, rob, dan, boss = (team.scope(agent=name) for name in ("rita", "rob", "dan", "boss"))
    proposal = await rita.shared.propose("Names have at most 30 characters", "convention")
    shared = (await boss.shared.approve(proposal.id)).record or ""
    for somebody in (rob, dan):
        with pytest.raises(NotAllowed) as refused:
            await somebody.shared.update(shared, "Names have at most 3 characters")
        assert refused.value.code == "not_creator"
        with pytest.raises(NotAllowed):
            await somebody.shared.delete(shared)
    with pytest.raises(NotAllowed):
        await rita.update(shared, "past the desk")

    clock.turn(hours=1)
    change = await rob.shared.propose("Names have at most 40 characters", target=shared)
    clock.turn(hours=1)
    await boss.shared.approve(change.id)
    changed = await rita.shared.update(shared, "Names have at most 45 characters", tags=["naming"])
    assert (changed.version, changed.metadata["creator"]) == (3, "rita")
    for forbidden in (rita.delete, rita.undo, boss.undo, boss.purge):
        with pytest.raises(NotAllowed):
            await forbidden(shared)
    await boss.shared.delete(shared, reason="we have a linter now")
    assert len(await dan.recall("how long are names", min_score=0)) == 0
    assert [it.record.status for it in await dan.history(shared)][-1] == "deleted"
    assert len(await _shared(team)) == 0

    with pytest.raises(NotAllowed):
        await dan.shared.undo(shared)
    with pytest.raises(StaleVersion) as stale:
        await boss.shared.undo(shared, expected_version=3)
    assert stale.value.current == 4
    restored = await rita.shared.undo(shared, expected_version=4)
    assert (restored.content, restored.last_confirmed) == (changed.content, changed.last_confirmed)
    assert [it.id for it in await _shared(team)] == [shared]
    own = await dan.remember("Dan likes tabs")
    with pytest.raises(NotFound):
        await dan.shared.undo(own.id)


async def test_a_change_of_something_that_is_gone_is_not_shared(team: Memory):
    rita, boss = team.scope(agent="rita"), team.scope(agent="boss")
    shared = (
        await boss.shared.approve((await rita.shared.propose("Be terse", "convention")).id)
    ).record or ""
    change = await rita.shared.propose("Be brief", target=shared)
    await boss.shared.delete(shared)
    with pytest.raises(RecollectError) as gone:
        await boss.shared.approve(change.id)
    assert gone.value.code == "target_gone"
    assert (await boss.shared.proposal(change.id)).status == "pending"


async def test_a_proposal_is_withdrawn_or_expires(team: Memory, clock: TurnedClock):
    rita, rob, boss = (team.scope(agent=name) for name in ("rita", "rob", "boss"))
    first = await rita.shared.propose("Names are short", "convention")
    with pytest.raises(NotFound):
        await rob.shared.withdraw(first.id)
    with pytest.raises(NotAllowed):
        await boss.shared.withdraw(first.id)
    assert (await rita.shared.withdraw(first.id)).status == "withdrawn"

    second = await rita.shared.propose("Comments say why", "convention")
    clock.turn(days=14)
    assert len(await boss.shared.proposals()) == 0
    assert [it.id for it in await boss.shared.proposals("expired")] == [second.id]
    with pytest.raises(RecollectError) as late:
        await boss.shared.approve(second.id)
    assert late.value.code == "already_decided"
    assert await services(team).sharing.proposals.expire_stale() == 1
    assert await services(team).sharing.proposals.expire_stale() == 0
    assert (await rita.shared.proposal(second.id)).decided_by == "sweep"


async def test_an_agent_called_as_a_person_is_not_that_person(team: Memory):
    ann = team.scope(user="ann", agent=None)
    proposal = await ann.shared.propose("The project uses a monorepo", "project-context")
    shared = (await ann.shared.approve(proposal.id)).record or ""
    namesake = team.scope(user="bob", agent="ann")
    with pytest.raises(NotAllowed):
        await namesake.shared.update(shared, "The project uses nine repositories")
    assert len(await namesake.shared.proposals(None)) == 0
