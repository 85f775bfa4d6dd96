"""The router: which store answers a call, and what becomes of several answers."""

import inspect
from collections.abc import Mapping
from typing import Any

import pytest

from recollect.assemble.directories import DIRECTORY
from recollect.assemble.router import Router, Verb
from recollect.assemble.several_stores import (
    ARCHIVES,
    CONFLICTS,
    HEALTH,
    RETENTION,
    STORE,
    TRANSFER,
    WRITES,
    added,
)
from recollect.backends.sql.archives import SqlArchives
from recollect.backends.sql.state import SqlState
from recollect.backends.sql.store import SqlStore
from recollect.directory.rows import SqlDirectory
from recollect.domain.directory import Contents
from recollect.domain.forgetting import Forgotten
from recollect.domain.scope import Scope
from recollect.errors import AgentMoved, StorageError
from recollect.health.figures import SqlHealth
from recollect.recall.conflicts import SqlConflicts
from recollect.records.change_feed import SqlChangeLog
from recollect.retention.rows import SqlRetention
from recollect.settings import Settings
from recollect.transfer.rows import SqlTransfer
from recollect.writing.rows import SqlWrites

_COMMON, _OWN = Scope(user="ann"), Scope(agent="coder", user="ann")


class _Store:
    """A store that tells what it was asked."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.refusals = 0

    async def versions(self, scopes: tuple[Scope, ...]) -> tuple[str, ...]:
        return tuple(f"{self.name}:{scope.agent or '-'}" for scope in scopes)

    async def links(self, scopes: tuple[Scope, ...], ids: list[str]) -> list[str]:
        return [self.name]

    async def watermark(self, scope: Scope, session: str) -> str:
        return self.name

    async def put(self, scope: Scope, value: str) -> str:
        if self.refusals:
            self.refusals -= 1
            raise AgentMoved("moved")
        return self.name


class _Stores:
    def __init__(self) -> None:
        self.follows = 0
        agents = {"coder": {"store": "own"}}
        given = {"stores": {"own": {"path": "own.db"}}, "agents": agents}
        self.settings = Settings.model_validate(given)
        self.common, self.own = _Store("common"), _Store("own")
        self.router = Router(self.common, self.settings, self._follow)

    async def _follow(self) -> None:
        self.follows += 1

    def divide(self) -> None:
        self.router.stores[self.settings.store_of("coder")] = self.own

    def route(self) -> Any:
        return self.router.route(self.common, lambda store: store, STORE)


@pytest.fixture
def stores() -> _Stores:
    return _Stores()


def test_with_one_store_nothing_stands_between(stores: _Stores):
    assert stores.route().links == stores.common.links


async def test_each_scope_is_read_in_the_store_that_holds_it(stores: _Stores):
    routed = stores.route()
    # A store that is opened later is found by what was handed out before.
    stores.divide()
    assert await routed.watermark(_OWN, "s") == "own"
    assert await routed.watermark(_COMMON, "s") == "common"
    assert await routed.versions((_OWN, _COMMON)) == ("own:coder", "common:-")
    assert await routed.links((_COMMON, _OWN), []) == ["common", "own"]


async def test_a_store_that_cannot_be_opened_refuses_what_must_be_whole(stores: _Stores):
    problem = StorageError("locked")
    stores.router.unopened[stores.settings.store_of("coder")] = problem
    routed = stores.route()
    with pytest.raises(StorageError, match="locked"):
        await routed.versions((_COMMON, _OWN))
    with pytest.raises(StorageError, match="locked"):
        stores.router.every()
    assert await routed.links((_COMMON, _OWN), []) == ["common"]


async def test_a_write_follows_an_agent_that_has_moved(stores: _Stores):
    stores.common.refusals = 1
    assert await stores.route().put(_COMMON, "x") == "common"
    assert stores.follows == 1


@pytest.mark.parametrize(
    ("service", "verbs"),
    [
        (SqlArchives, ARCHIVES),
        (SqlChangeLog, {}),
        (SqlDirectory, DIRECTORY),
        (SqlState, {}),
        (SqlStore, STORE),
        (SqlTransfer, TRANSFER),
        (SqlConflicts, CONFLICTS),
        (SqlHealth, HEALTH),
        (SqlRetention, RETENTION),
        (SqlWrites, WRITES),
    ],
)
def test_whatever_names_several_scopes_has_a_verb(service: type, verbs: Mapping[str, Verb]):
    several = ("Sequence[Scope]", "Selection", "Extent", "Workspace", "ChangeSet")
    for name, method in inspect.getmembers(service, inspect.isfunction):
        first = [*inspect.signature(method).parameters.values()][1:2]
        if not name.startswith("_") and first and any(it in str(first[0]) for it in several):
            assert name in verbs, f"{service.__name__}.{name} would ask one store only"


def test_numbers_are_added_flags_joined_and_the_first_name_taken():
    one = Forgotten(forget_id="f1", counts={"records": 2}, evidence_left=("t1",))
    two = Forgotten(
        forget_id="f2", counts={"records": 1, "turns": 3}, evidence_left=("t2",), wal_pending=True
    )
    assert added([one, two]) == Forgotten(
        forget_id="f1",
        counts={"records": 3, "turns": 3},
        evidence_left=("t1", "t2"),
        wal_pending=True,
    )
    assert added([Contents(records=1), Contents(turns=2)]) == Contents(records=1, turns=2)
