"""Every query of a hot path says whose memory it reads: a condition for a shard key.

`docs/scaling.md` rests on this. The plans are PostgreSQL's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import Engine, event

from recollect import Memory
from recollect.settings import Settings
from tests.own_postgresql import OwnPostgresql

# The tables that grow with the number of users, and by which of their columns a shard is found.
_SHARDED: Final = {
    "scopes": ("org", "workspace", "id"),
    **dict.fromkeys(
        (
            *("records", "turns", "units", "versions", "changes", "state", "watermarks", "writes"),
            *("archives", "conflicts", "idempotency", "items", "links", "editions", "proposals"),
        ),
        ("scope_id",),
    ),
    "units": ("scope_id", "id"),
    # The high bits of a unit's number are those of its scope.
    "vectors": ("unit_id",),
    "unit_tokens": ("unit_id", "tokens"),
    "term_counts": ("space",),
}
# What is asked by something that says nothing of its scope, and by which column; docs/scaling.md
# names each.
_ON_THE_WAY: Final = {("idempotency", "created_at"), ("records", "id"), ("units", "owner_id")}
# Background work, which goes through everything.
_BEHIND: Final = {("scopes", "agent"), ("turns", "act"), ("units", "owner_id")}

Asked = dict[str, Any]


@pytest.fixture(scope="module")
def postgresql() -> Iterator[OwnPostgresql]:
    server = OwnPostgresql()
    yield server
    server.end()


def _nodes(plan: Asked) -> Iterator[Asked]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _nodes(part)


def _conditions(plan: Asked) -> str:
    """Return everything that a plan asks of rows, wherever in it."""
    return " ".join(
        str(value)
        for node in _nodes(plan)
        for name, value in node.items()
        if name.endswith(("Cond", "Filter"))
    )


async def _live(memory: Memory) -> None:
    """Use every verb that agents use all the time."""
    ann = memory.scope(agent="helper", user="ann")
    record = await ann.remember("Ann drinks green tea", tags=["drink"], idempotency_key="one")
    await ann.remember("Ann drinks green tea", tags=["drink"], idempotency_key="one")
    for number in range(3):
        await ann.observe({"role": "user", "content": f"I moved to Berlin {number}"}, session="s")
    await ann.write("Ann lives in Berlin")
    await ann.update(record.id, "Ann drinks black tea")
    await ann.recall("where does Ann live?")
    await ann.recall("black tea", kind="semantic", tags=["drink"])
    await ann.context("what does Ann drink in Berlin?")
    await ann.get(record.id)
    await ann.history(record.id)
    await ann.list(category="user")
    await ann.turns(session="s")
    await ann.sessions()
    await ann.profile()
    session = ann.session("talk")
    await session.observe({"role": "user", "content": "what do I drink?"})
    await session.prepare()
    await ann.delete(record.id)
    await ann.undo(record.id)


async def test_every_hot_query_names_the_scope(postgresql: OwnPostgresql, tmp_path: Path) -> None:
    settings = Settings.load(
        {
            "storage": {"url": postgresql.database("plans")},
            "data_dir": tmp_path,
            "embedding": {"model": "none"},
            "writing": {"extract": "rules", "judge": "rules"},
        }
    )
    asked: dict[str, Any] = {}

    def note(_: object, cursor: object, statement: str, parameters: Any, *more: object) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "UPDATE", "DELETE", "WITH")):
            given = parameters[0] if isinstance(parameters, list) else parameters
            asked.setdefault(statement, given)

    # Models and background work are not what is asked for here.
    async with Memory.open(settings) as memory:
        event.listen(Engine, "before_cursor_execute", note)
        try:
            await _live(memory)
        finally:
            event.remove(Engine, "before_cursor_execute", note)
    seen: set[str] = set()
    by_id: set[tuple[str, str]] = set()
    with postgresql.connected(settings.storage.url) as connection:
        for statement, given in asked.items():
            explain = f"EXPLAIN (VERBOSE, FORMAT JSON) {statement}"
            ((plans,),) = connection.exec_driver_sql(explain, given)
            plan = plans[0]["Plan"]
            conditions = _conditions(plan)
            for node in _nodes(plan):
                table = node.get("Relation Name", "")
                if node["Node Type"] == "ModifyTable" or table not in _SHARDED:
                    continue
                seen.add(table)
                columns = (f"{node['Alias']}.{column}" for column in _SHARDED[table])
                if not any(column in conditions for column in columns):
                    told = re.findall(rf"\b{node['Alias']}\.(\w+)", conditions)
                    by_id.add((table, told[0] if told else "everything"))
    assert seen >= {"scopes", "records", "turns", "units", "versions", "idempotency"}
    # Neither more than the page says, nor less.
    assert by_id - _BEHIND == _ON_THE_WAY - _BEHIND
