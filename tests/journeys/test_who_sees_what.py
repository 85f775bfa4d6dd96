"""Two users, several agents, a supervisor: everybody sees exactly what is theirs."""

import pytest

from recollect import Memory
from recollect.errors import NotAllowed, NotFound


async def test_users_and_agents_do_not_see_each_other(memory: Memory):
    ann_sql = memory.scope(user="ann", agent="sql")
    secret = await ann_sql.remember("Ann's salary table is called payroll_2026")

    for other in (
        memory.scope(user="bob", agent="sql"),
        memory.scope(user="ann", agent="chart"),
        memory.scope(user="ann", agent="sql", workspace="elsewhere"),
        memory.scope(user="ann", agent="sql", org="acme"),
        memory.scope(user="ann"),
        memory.scope(user=None, agent="sql"),
    ):
        assert len(await other.recall("payroll_2026 salary table", min_score=0)) == 0
        assert len(await other.list()) == 0
        for forbidden in (other.get, other.delete, other.history, other.undo, other.purge):
            with pytest.raises(NotFound):
                await forbidden(secret.id)
        with pytest.raises(NotFound):
            await other.update(secret.id, "hacked")
    assert (await ann_sql.get(secret.id)) == secret


async def test_a_user_profile_follows_the_user_to_every_agent(memory: Memory):
    profile = await memory.scope(user="ann", agent="sql").remember(
        "Ann wants reports in Chinese", category="user-profile"
    )
    assert profile.scope.agent is None
    seen = await memory.scope(user="ann", agent="chart").recall("language of reports Ann wants")
    assert [hit.id for hit in seen] == [profile.id]
    assert len(await memory.scope(user="bob", agent="chart").recall("reports", min_score=0)) == 0

    with pytest.raises(NotAllowed):
        await memory.scope(user="ann", agent="sql").remember(
            "A fact of the sql agent", namespace="user_profile/ann"
        )


async def test_a_supervisor_reads_and_writes_its_children(memory: Memory):
    supervisor = memory.scope(user="ann", agent="supervisor", children=["sql", "chart"])
    sql = memory.scope(user="ann", agent="sql")
    known = await sql.remember("Revenue means net revenue in this warehouse")

    assert (await supervisor.recall("what does revenue mean"))[0].id == known.id
    told = await supervisor.remember("Orders are in table o1", namespace="sql_memories/ann")
    assert (await sql.recall("orders table"))[0].id == told.id
    assert len(await memory.scope(user="ann", agent="chart").recall("orders", min_score=0)) == 0
    assert len(await sql.recall("anything of the supervisor")) == 0
    with pytest.raises(NotAllowed):
        await supervisor.remember("not a child", namespace="mail/ann")


@pytest.mark.parametrize(
    "spelling", ["sql_memories/ann", "sql/ann", ("sql", "ann"), ("sql_memories", "ann")]
)
async def test_the_seeds_spellings_of_a_namespace_are_understood(
    memory: Memory, spelling: str | tuple[str, str]
):
    sql = memory.scope(user="ann", agent="sql")
    saved = await sql.remember("Orders are partitioned by month", namespace=spelling)
    assert saved.scope == sql.caller_scope


async def test_a_namespace_of_somebody_else_is_refused(memory: Memory):
    with pytest.raises(NotAllowed):
        await memory.scope(user="ann", agent="sql").recall("x", namespace="sql_memories/bob")


async def test_a_run_without_a_user_keeps_one_anonymous_id(memory: Memory):
    first = memory.anonymous_user
    assert first.startswith("anon_")
    assert memory.scope(agent="sql").anonymous_user == first
