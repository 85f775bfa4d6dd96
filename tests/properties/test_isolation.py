"""Whatever is done from whichever scope, nobody ever sees, changes or is changed by another's."""

import asyncio
import tempfile
from dataclasses import dataclass, field

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Memory, RecollectError, Record, Status
from recollect.domain.scope import Caller, Scope
from recollect.settings import Settings

_USERS = ("ann", "bob", None)
_AGENTS = ("sql", "boss", None)
_WORDS = ("harbour", "lantern", "茶叶", "合同", "invoice", "user_id")

_scopes = st.builds(
    Scope,
    org=st.just("o"),
    workspace=st.sampled_from(("w1", "w2")),
    agent=st.sampled_from(_AGENTS),
    user=st.sampled_from(_USERS),
)
_operations = st.lists(
    st.tuples(
        _scopes,
        st.sampled_from(
            (
                "remember",
                "profile",
                "observe",
                "update",
                "delete",
                "undo",
                "purge",
                "recall",
                "list",
            )
        ),
        st.sampled_from(_WORDS),
        st.integers(0, 30),
    ),
    max_size=25,
)


def _passing(folder: str) -> Settings:
    """A database that need not outlive a power cut: properties are about what is seen."""
    return Settings.load({"data_dir": folder, "storage": {"synchronous": "off"}})


@dataclass
class _World:
    """The memory under test, and every record that was ever made in it."""

    memory: Memory
    records: list[Record] = field(default_factory=list[Record])
    turns: dict[str, Scope] = field(default_factory=dict[str, Scope])

    def seen_from(self, scope: Scope) -> tuple[Memory, Caller]:
        children = ("sql",) if scope.agent == "boss" else ()
        view = self.memory.scope(
            org=scope.org,
            workspace=scope.workspace,
            agent=scope.agent,
            user=scope.user,
            children=children,
        )
        return view, Caller(scope=scope, children=children)

    async def do(self, scope: Scope, operation: str, word: str, number: int) -> None:
        view, caller = self.seen_from(scope)
        if operation in ("remember", "profile"):
            category = "user-profile" if operation == "profile" else "project"
            saved = await view.remember(f"{word} number {number}", category=category)
            assert caller.may_read(saved.scope)
            self.records.append(saved)
        elif operation == "observe":
            said = [{"role": "user", "content": f"{word} turn {number}"}]
            for turn in await view.observe(said, session="s"):
                self.turns[turn.id] = turn.scope
        elif operation == "recall":
            found = await view.recall(word, limit=100, min_score=0, status=list(Status)[:1])
            self._require_own(caller, [hit.item.scope for hit in found])
        elif operation == "list":
            self._require_own(caller, [it.scope for it in await view.list(status=list(Status))])
            self._require_own(caller, [it.scope for it in await view.turns()])
        elif self.records:
            await self._touch(view, caller, operation, self.records[number % len(self.records)])

    async def _touch(self, view: Memory, caller: Caller, operation: str, target: Record) -> None:
        owner, _ = self.seen_from(target.scope)
        before = [version.record for version in await _history(owner, target.id)]
        calls = {
            "update": lambda: view.update(target.id, "changed harbour"),
            "delete": lambda: view.delete(target.id),
            "undo": lambda: view.undo(target.id),
            "purge": lambda: view.purge(target.id),
        }
        try:
            await calls[operation]()
        except RecollectError:
            pass
        else:
            assert caller.may_read(target.scope)
            return
        assert [version.record for version in await _history(owner, target.id)] == before

    @staticmethod
    def _require_own(caller: Caller, scopes: list[Scope]) -> None:
        assert all(caller.may_read(scope) for scope in scopes)


async def _history(view: Memory, record_id: str):
    try:
        return await view.history(record_id)
    except RecollectError:
        return ()


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(operations=_operations)
def test_random_calls_from_random_scopes_never_show_a_foreign_record(
    operations: list[tuple[Scope, str, str, int]],
):
    async def play() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with Memory.open(_passing(folder)) as memory:
                world = _World(memory)
                for operation in operations:
                    await world.do(*operation)

    asyncio.run(play())


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    mine=st.lists(st.sampled_from(_WORDS), min_size=1, max_size=8),
    theirs=st.lists(st.sampled_from(_WORDS), max_size=20),
)
def test_scores_in_my_scope_do_not_depend_on_anybody_else(mine: list[str], theirs: list[str]):
    async def scores(others: list[str]) -> list[list[float]]:
        with tempfile.TemporaryDirectory() as folder:
            async with Memory.open(_passing(folder)) as memory:
                ann, bob = memory.scope(user="ann"), memory.scope(user="bob")
                for word in others:
                    await bob.remember(f"{word} and more {word}")
                await ann.remember_many([f"{word} {place}" for place, word in enumerate(mine)])
                found = [await ann.recall(word, limit=50, min_score=0) for word in _WORDS]
                return [[hit.score for hit in hits] for hits in found]

    assert asyncio.run(scores([])) == asyncio.run(scores(theirs))
