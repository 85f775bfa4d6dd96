"""What an approved proposal makes of what is known, and who may do what."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.record import Record
from recollect.domain.scope import SHARED_AGENT, Caller, Scope
from recollect.domain.sharing import SHARED_TYPES, Proposal, role_named, shared_type
from recollect.errors import InvalidInput, NotAllowed
from recollect.sharing.records import Parties
from recollect.sharing.settlement import Rival, settle

_NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def _proposal(content: str, minutes: float, confidence: float = 1.0, **fields: object) -> Proposal:
    made = Proposal(
        id=f"prop_{content}",
        scope=Scope().shared,
        type="convention",
        proposer=f"agent of {content}",
        role="reviewer",
        status="pending",
        title="",
        content=content,
        reason="",
        confidence=confidence,
        created_at=_NOON + timedelta(minutes=minutes),
    )
    return made.evolve(**fields)


def _approved(proposals: list[Proposal]) -> list[Record]:
    """Every version of the one record that these, all about the same thing, become."""
    versions: list[Record] = []
    for place, proposal in enumerate(proposals):
        settled = settle(
            proposal,
            Rival(record=versions[-1]) if versions else None,
            said_at=proposal.created_at,
            now=_NOON + timedelta(days=1, minutes=place),
            reason="",
        )
        versions += [change.record for change in settled.changes]
    return versions


@settings(deadline=None, max_examples=100)
@given(st.permutations(range(6)))
def test_in_whatever_order_rivals_are_approved_the_newest_stands_and_all_are_in_the_history(
    order: list[int],
):
    versions = _approved([_proposal(f"claim {at}", minutes=at * 5) for at in order])
    assert versions[-1].content == "claim 5"
    assert versions[-1].metadata["creator"] == "agent of claim 5"
    assert {it.content for it in versions} == {f"claim {at}" for at in order}
    assert [it.version for it in versions] == list(range(1, len(versions) + 1))
    assert len({it.id for it in versions}) == 1


@settings(deadline=None, max_examples=100)
@given(st.permutations([0.2, 0.4, 0.6, 0.8, 0.9]))
def test_of_those_made_together_the_surest_stands_in_whatever_order(order: list[float]):
    made = [_proposal(f"sure {it}", minutes=it, confidence=it) for it in order]
    assert _approved(made)[-1].content == "sure 0.9"


def test_a_change_of_a_record_leaves_it_to_its_creator_and_keeps_what_it_does_not_name():
    first = _proposal("as it was", 0, title="Names", body={"tags": ["naming"]})
    stored = settle(first, None, said_at=_NOON, now=_NOON, reason="").record
    change = _proposal("as it is", 30, target=stored.id)
    settled = settle(
        change, Rival(record=stored), said_at=change.created_at, now=_NOON, reason="agreed"
    )
    record = settled.record
    assert settled.outcome == "replaced"
    assert (record.content, record.title, record.tags) == ("as it is", "Names", ("naming",))
    assert record.metadata["creator"] == stored.metadata["creator"]
    assert record.metadata["proposal"] == change.id
    assert "agreed" in settled.changes[0].reason


@pytest.mark.parametrize(
    ("name", "role"),
    [
        *(("协调", "coordinator"), ("协调 Agent", "coordinator"), ("Coordinator", "coordinator")),
        *(("架构", "architect"), ("审查", "reviewer"), ("code-reviewer", "code-reviewer")),
        *(("测试", "tester"), ("QA", "tester"), ("开发", "developer"), ("dev agent", "developer")),
        *(("运维", "operations"), ("ops", "operations"), ("", "")),
    ],
)
def test_roles_have_names_in_both_languages(name: str, role: str):
    assert role_named(name) == role


@pytest.mark.parametrize(
    ("name", "type"),
    [
        *(("ADR", "adr"), ("架构决策记录", "adr"), ("known_issue", "known-issue")),
        *(
            ("代码约定", "convention"),
            ("用户偏好", "preference"),
            ("项目上下文", "project-context"),
        ),
    ],
)
def test_types_have_names_in_both_languages(name: str, type: str):
    assert shared_type(name).name == type


def _agent(name: str | None, workspace: str = "w") -> Caller:
    return Caller(scope=Scope(workspace=workspace, agent=name, user="ann"))


def _parties(roles: dict[str, str], coordinators: dict[str, str]) -> Parties:
    return Parties(lambda agent: roles.get(agent, ""), coordinators)


def test_each_type_of_the_table_has_its_writer():
    parties = _parties({role: role for role in ("architect", "reviewer", "tester", "协调")}, {})
    writers = {
        name: [
            agent
            for agent in ("architect", "reviewer", "tester", "协调", "nobody", None)
            if _may_write(parties, agent, name)
        ]
        for name in SHARED_TYPES
    }
    assert writers == {
        "project-context": ["协调", None],
        "adr": ["architect", None],
        "convention": ["reviewer", None],
        "known-issue": ["tester", None],
        "preference": ["architect", "reviewer", "tester", "协调", "nobody", None],
    }


def _may_write(parties: Parties, agent: str | None, name: str) -> bool:
    try:
        parties.require_writer(_agent(agent), SHARED_TYPES[name])
    except NotAllowed:
        return False
    return True


def test_a_workspace_names_its_coordinator_and_others_have_theirs_by_role():
    parties = _parties({"boss": "coordinator", "vera": "tester"}, {"w": "vera", "p": "person"})
    deciding = {
        (workspace, agent)
        for workspace in ("w", "p", "x")
        for agent in ("boss", "vera", None)
        if parties.is_coordinator(_agent(agent, workspace))
    }
    assert deciding == {
        *(("w", "vera"), ("x", "boss")),
        *(("w", None), ("p", None), ("x", None)),
    }


def test_everybody_reads_what_is_shared_and_nobody_writes_there():
    caller = Caller(scope=Scope(workspace="w", agent="sql", user="ann"), children=("chart",))
    shared = (Scope(workspace="w").shared, Scope(workspace="w", user="ann").shared_with_user)
    assert caller.readable == (*caller.writable, *shared)
    assert not set(shared) & set(caller.writable)
    assert all(caller.may_read(it) for it in shared)
    assert not caller.may_read(Scope(workspace="w", user="bob").shared_with_user)
    with pytest.raises(NotAllowed) as refused:
        caller.require_write(shared[0], is_profile=True)
    assert "proposal" in refused.value.hint


@pytest.mark.parametrize("scope", [Scope(agent=SHARED_AGENT), Scope().shared_with_user])
def test_the_name_of_what_is_shared_is_nobodys(scope: Scope):
    with pytest.raises(InvalidInput):
        Caller(scope=scope)
    with pytest.raises(InvalidInput):
        Caller(scope=Scope(), children=("sql", SHARED_AGENT))
