"""Whatever is done from whichever scope, nobody ever sees, changes or is changed by another's."""

import asyncio
import tempfile
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Memory, RecollectError, Record, Status
from recollect.domain.scope import Scope
from recollect.domain.sharing import Proposal
from recollect.errors import Conflict
from recollect.settings import Settings
from tests.examples import examples

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
_PRIVATELY = (
    *("remember", "profile", "observe", "update", "delete", "undo", "purge"),
    *("recall", "list", "get", "history", "past", "stats", "namespace"),
)
_TOGETHER = ("propose", "approve", "desk", "shared", "forge")


def _calls(*names: str, fewest: int = 0):
    each = st.tuples(_scopes, st.sampled_from(names), st.sampled_from(_WORDS), st.integers(0, 30))
    return st.lists(each, min_size=fewest, max_size=25)


def _passing(folder: str) -> Settings:
    """A database that need not outlive a power cut: properties are about what is seen."""
    return Settings.load({"data_dir": folder, "storage": {"synchronous": "off"}})


@dataclass(frozen=True)
class _Eyes:
    """Who may see what, written down once more, apart from the code under test."""

    scope: Scope
    children: tuple[str, ...]

    def see(self, other: Scope) -> bool:
        mine = self.scope
        if other.agent == "*shared":
            is_here = (other.org, other.workspace) == (mine.org, mine.workspace)
            return is_here and other.user in (None, mine.user)
        if (other.org, other.workspace, other.user) != (mine.org, mine.workspace, mine.user):
            return False
        is_users_own = other.agent is None and mine.agent is not None and mine.user is not None
        return other.agent == mine.agent or is_users_own or other.agent in self.children


@dataclass
class _World:
    """The memory under test, and every record that was ever made in it."""

    memory: Memory
    records: list[Record] = field(default_factory=list[Record])
    proposals: list[Proposal] = field(default_factory=list[Proposal])

    def seen_from(self, scope: Scope) -> tuple[Memory, _Eyes]:
        children = ("sql",) if scope.agent == "boss" else ()
        view = self.memory.scope(
            org=scope.org,
            workspace=scope.workspace,
            agent=scope.agent,
            user=scope.user,
            children=children,
        )
        return view, _Eyes(scope, children)

    async def do(self, scope: Scope, operation: str, word: str, number: int) -> None:
        view, caller = self.seen_from(scope)
        if operation in ("remember", "profile"):
            category = "user-profile" if operation == "profile" else "project"
            saved = await view.remember(f"{word} number {number}", category=category)
            assert caller.see(saved.scope)
            self.records.append(saved)
        elif operation == "observe":
            said = [{"role": "user", "content": f"{word} turn {number}"}]
            assert all(turn.scope == scope for turn in await view.observe(said, session="s"))
        elif operation == "recall":
            found = await view.recall(word, limit=100, min_score=0, status=list(Status)[:1])
            self._require_own(caller, [hit.item.scope for hit in found])
        elif operation == "list":
            self._require_own(caller, [it.scope for it in await view.list(status=list(Status))])
            self._require_own(caller, [it.scope for it in await view.turns()])
        elif operation == "past":
            now = datetime.now(UTC)
            self._require_own(caller, [it.scope for it in await view.list(as_of=now, limit=100)])
            found = await view.recall(word, limit=100, min_score=0, as_of=now)
            self._require_own(caller, [hit.item.scope for hit in found])
        elif operation == "stats":
            seen = [record for record in self.records if caller.see(record.scope)]
            assert (await view.stats()).store.records <= len(seen)
        elif operation in _TOGETHER:
            await self._share(view, caller, operation, word, number)
        elif operation == "namespace":
            await self._name(view, caller, word, _AGENTS[number % 3], _USERS[number % 2])
        elif self.records:
            await self._touch(view, caller, operation, self.records[number % len(self.records)])

    async def _share(
        self, view: Memory, caller: _Eyes, operation: str, word: str, number: int
    ) -> None:
        if operation == "propose":
            await self._propose(view, caller, word, number)
        elif operation == "approve":
            for proposal in self.proposals[number % 3 :: 3]:
                await self._approve(view, caller, proposal)
        elif operation == "desk":
            for proposal in await view.shared.proposals(None):
                assert caller.see(proposal.scope)
                assert caller.scope.agent in (None, proposal.proposer)
                assert caller.scope.agent is None or caller.scope.user == proposal.user
        elif operation == "shared":
            there = {it.id: it.scope for it in self.records if it.scope.agent == "*shared"}
            mine = {it for it, scope in there.items() if caller.see(scope)}
            assert {it.id for it in await view.shared.list(limit=100)} == mine
            assert mine <= {it.id for it in await view.list(limit=100)}
        else:
            await self._forge(view, word, number)

    async def _propose(self, view: Memory, caller: _Eyes, word: str, number: int) -> None:
        is_preference = number % 2 == 0
        wanted = "preference" if is_preference else "project-context"
        try:
            made = await view.shared.propose(f"{word} is kept in place {number}", wanted)
        except RecollectError:
            # No role was given to any agent, and a preference needs a user.
            assert caller.scope.user is None if is_preference else caller.scope.agent is not None
            return
        assert made.scope.user == (caller.scope.user if is_preference else None)
        assert caller.see(made.scope)
        self.proposals.append(made)

    async def _approve(self, view: Memory, caller: _Eyes, proposal: Proposal) -> None:
        may_decide = caller.scope.agent is None and caller.see(proposal.scope)
        try:
            decided = await view.shared.approve(proposal.id)
        except Conflict:
            return
        except RecollectError:
            assert not may_decide
            return
        assert may_decide
        shared = await view.get(decided.record or "")
        assert shared.scope == proposal.scope
        self.records.append(shared)

    async def _forge(self, view: Memory, word: str, number: int) -> None:
        attempts = (
            lambda: view.scope(agent="*shared").remember(word),
            lambda: view.scope(agent="boss", children=["*shared"]).remember(word),
            lambda: view.remember(word, namespace="*shared/-"),
            lambda: view.recall(word, namespace=("*shared_memories", "ann")),
        )
        with pytest.raises(RecollectError) as refused:
            await attempts[number % len(attempts)]()
        assert refused.value.code == "bad_scope"

    async def _name(
        self, view: Memory, caller: _Eyes, word: str, agent: str | None, user: str | None
    ) -> None:
        named = replace(caller.scope, agent=agent, user=user)
        spelling = (agent or "user_profile", user or "-")
        try:
            found = await view.recall(word, limit=100, min_score=0, namespace=spelling)
        except RecollectError:
            assert not caller.see(named)
        else:
            assert caller.see(named)
            assert all(hit.item.scope == named for hit in found)

    async def _touch(self, view: Memory, caller: _Eyes, operation: str, target: Record) -> None:
        is_shared = target.scope.agent == "*shared"
        owner, _ = self.seen_from(replace(target.scope, agent=None) if is_shared else target.scope)
        before = [version.record for version in await _history(owner, target.id)]
        calls = {
            "get": lambda: view.get(target.id),
            "history": lambda: view.history(target.id),
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
            assert caller.see(target.scope)
            assert not is_shared or operation in ("get", "history"), "shared is changed by its desk"
            return
        assert [version.record for version in await _history(owner, target.id)] == before

    @staticmethod
    def _require_own(caller: _Eyes, scopes: list[Scope]) -> None:
        assert all(caller.see(scope) for scope in scopes)


async def _history(view: Memory, record_id: str):
    try:
        return await view.history(record_id)
    except RecollectError:
        return ()


def _play(operations: list[tuple[Scope, str, str, int]]) -> None:
    async def play() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with Memory.open(_passing(folder)) as memory:
                world = _World(memory)
                for operation in operations:
                    await world.do(*operation)

    asyncio.run(play())


@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(operations=_calls(*_PRIVATELY, *_TOGETHER))
def test_random_calls_from_random_scopes_never_show_a_foreign_record(
    operations: list[tuple[Scope, str, str, int]],
):
    _play(operations)


@settings(max_examples=examples(20), deadline=None, suppress_health_check=list(HealthCheck))
@given(operations=_calls(*_TOGETHER, *_TOGETHER, "recall", "list", "get", "update", fewest=15))
def test_what_is_shared_is_seen_in_its_workspace_by_its_user_and_nowhere_else(
    operations: list[tuple[Scope, str, str, int]],
):
    _play(operations)


@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
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
