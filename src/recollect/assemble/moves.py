"""Moving the memory of an agent to another store, and following such moves in every process.

The row of the agent in the common store says where its memory is; the store that it leaves says
that it has left, in the transaction that ends the copying. So at any moment one store serves, and a
process that still knows the old one is refused there, looks again and goes on in the new one.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection

from recollect.agents.overlays import overlays_in, put_overlay, read_agents
from recollect.assemble.stores import contents_of, open_database
from recollect.backends.sql.agent_marks import AWAY, HOME, MOVE, read_marks, set_marks
from recollect.domain.access import MOVE_AGENT, AgentMove
from recollect.domain.ids import new_id
from recollect.domain.job import Job, NewJob, Progress
from recollect.domain.scope import Caller, Scope
from recollect.domain.times import to_micros
from recollect.errors import Conflict, InvalidInput, RecollectError, SettingsError, StorageError
from recollect.settings.agents import PLACE, agent_over, place_of, told_place, with_agents

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring
    from recollect.assemble.stores import Contents
    from recollect.backends.sql.database import Database
    from recollect.settings import Settings

_log = logging.getLogger(__name__)

# So often a process looks whether agents were moved or set up anew.
FOLLOW_SECONDS: Final = 1.0
# After so long every process knows that an agent has moved.
KNOWN_EVERYWHERE_SECONDS: Final = 3 * FOLLOW_SECONDS
# When so few rows differ, the last pass is short.
_FEW_ROWS: Final = 200
_MOST_PASSES: Final = 5


class AgentMover:
    """Moves agents between stores, while they are in use.

    A `place` holds the settings of an agent that say where its store is.
    """

    def __init__(self, common: Wiring) -> None:
        self._common = common
        self._seen: dict[str, dict[str, Any]] | None = None
        self._following = asyncio.Lock()

    async def move(
        self, caller: Caller, agent: str, place: Mapping[str, Any], progress: Progress | None
    ) -> AgentMove:
        """Copy the memory, compare both sides, and let the new store serve."""
        move = await self._prepare(agent, place)
        if move is None:
            return AgentMove(source=self._told(agent), target=self._told(agent), state="moved")
        settings = self._at(agent, move["to"])
        target, is_ours = await self._target(agent, settings)
        try:
            lost = await self._run(agent, move, target, settings, progress)
        finally:
            if is_ours:
                await target.close()
        await self.follow()
        told = _told_move(move)
        await self._audit(caller, "move_agent", {"name": agent, "from": told[0], "to": told[1]})
        # Until everybody knows, the old copy answers whoever still reads there.
        await asyncio.sleep(KNOWN_EVERYWHERE_SECONDS)
        await self._put_away(agent, move["from"])
        rows = move["total"]
        return AgentMove(
            source=told[0], target=told[1], state="moved", done=rows, total=rows, lost=lost
        )

    async def begin(self, caller: Caller, agent: str, place: Mapping[str, Any]) -> None:
        """Have a background job do the same."""
        if await self._prepare(agent, place) is not None:
            place = {name: place[name] for name in PLACE}
            payload = {"name": agent, "place": place, "by": caller.principal}
            job = NewJob(kind=MOVE_AGENT, key=agent, payload=payload)
            await self._common.jobs.add([job])

    async def try_store(self, agent: str, place: Mapping[str, Any]) -> None:
        """Open the store of a place once; raise what is wrong with it."""
        target, is_ours = await self._target(agent, self._at(agent, place))
        if is_ours:
            await target.close()

    async def try_target(self, agent: str, place: Mapping[str, Any]) -> None:
        """Open the store that an agent could be moved to; raise what would keep it from there."""
        self._lasting(agent, place)
        await self.try_store(agent, place)

    async def run(self, job: Job) -> None:
        """Run the job; it goes on where a killed one was."""
        name, place = job.payload["name"], job.payload["place"]
        move = (await self._rows()).get(name, {}).get(MOVE)
        if move is None or move["to"] != place:
            # It was purged, or is moved to another store.
            return
        scope = self._common.settings.scope
        here = Scope(org=scope.org, workspace=scope.workspace)
        caller = Caller(scope=here, principal=job.payload["by"])
        await self.move(caller, name, place, None)

    async def progress(self, agent: str) -> tuple[int, int] | None:
        """Return how many rows of a move are copied, and of how many."""
        found = (await self.known()).get(agent)
        return None if found is None else (found.done, found.total)

    async def purge(self, caller: Caller, agent: str) -> int:
        """Erase the copies that do not serve; return how many rows."""
        await self.follow()
        move = (await self._rows()).get(agent, {}).get(MOVE)
        if move is None:
            return 0
        # A move that has not ended leaves its unfinished copy behind.
        left = move["from"] if move["state"] == "moved" else move["to"]
        erased = await self._purge_at(agent, left)
        now = self._now()
        await self._common.database.write(lambda it: set_marks(it, agent, now, move=None))
        await self.follow()
        await self._audit(caller, "purge_agent_copy", {"name": agent, "store": told_place(left)})
        return erased

    async def known(self) -> Mapping[str, AgentMove]:
        """Return the moves that are going on, and those whose old copy is kept, by agent."""
        found = {name: row[MOVE] for name, row in (await self._rows()).items() if MOVE in row}
        return {
            name: AgentMove(
                source=told_place(move["from"]),
                target=told_place(move["to"]),
                state=move["state"],
                done=move["done"],
                total=move["total"],
            )
            for name, move in found.items()
        }

    async def follow(self) -> None:
        """Learn what other processes have set for agents, and where they have moved them."""
        async with self._following:
            rows = await self._lead(await self._rows())
            for agent, row in rows.items():
                move = row.get(MOVE)
                if move and move["state"] == "copying" and await self._has_left(agent, move):
                    # Whoever moved it was killed before it could say so.
                    await self._common.database.write(
                        lambda it, agent=agent, move=move: self._switch(it, agent, move)
                    )
                    rows = await self._lead(await self._rows())
            await self._note_homes(rows)

    async def _lead(self, rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """Let every agent be looked for where the rows say."""
        if rows == self._seen:
            return rows
        common = self._common
        declared = dict(common.declared_agents)
        now = with_agents(
            common.settings.model_copy(update={"agents": declared}), overlays_in(rows)
        )
        # A store is open before anybody is led there.
        await self._open_stores(now)
        common.settings.agents.update(now.agents)
        for gone in common.settings.agents.keys() - now.agents.keys():
            del common.settings.agents[gone]
        self._seen = rows
        return rows

    async def _open_stores(self, settings: Settings) -> None:
        """Open the stores of the configured agents that are not open yet.

        A store that cannot be opened locks out its own agents and nobody else.
        """
        router = self._common.router
        for name in settings.agents:
            try:
                key = settings.store_of(name)
            except SettingsError as problem:
                _log.warning("the store of %s cannot be opened: %s", name, problem)
                continue
            if key in router.stores or key == settings.store_of(None):
                continue
            router.unopened.pop(key, None)
            try:
                # How agents are set up is read from one place.
                live = {"agents": self._common.settings.agents}
                its = settings.at_store_of(name).model_copy(update=live)
                router.stores[key] = await self._open_store(its)
            except RecollectError as problem:
                _log.warning("the store of %s cannot be opened: %s", name, problem)
                router.unopened[key] = StorageError(
                    f"The store of {name} cannot be opened: {problem.message}",
                    code=problem.code,
                    hint=problem.hint,
                )

    async def _open_store(self, settings: Settings) -> Wiring:
        database = await asyncio.to_thread(open_database, settings)
        parts = self._common.on_store_of_agents(settings, database)
        try:
            await parts.lifetime.hide_forgotten()
            await parts.lifetime.go_on_forgetting()
        except RecollectError:
            await database.close()
            raise
        parts.lifetime.start()
        return parts

    async def _note_homes(self, rows: Mapping[str, Mapping[str, Any]]) -> None:
        """Note where agents with a store of their own are, so that nobody loses sight of it."""
        settings, now = self._common.settings, self._now()
        if settings.is_temporary:
            return
        for agent in settings.agents:
            if HOME in rows.get(agent, {}) or not settings.has_own_store(agent):
                continue
            its = settings.of_agent(agent)
            if its.is_temporary:
                continue
            try:
                await self._common.database.write(
                    lambda it, agent=agent, its=its: set_marks(it, agent, now, home=its.store_name)
                )
            except RecollectError as problem:
                _log.info("where %s is stored is noted later: %s", agent, problem)

    async def follow_forever(self) -> None:
        """Follow what other processes do, until cancelled."""
        while True:
            await asyncio.sleep(FOLLOW_SECONDS)
            if (outage := self._common.database.outage) is not None and outage.is_away:
                continue
            try:
                await self.follow()
            except RecollectError as problem:
                _log.warning("where agents are is looked up again later: %s", problem)

    async def _rows(self) -> dict[str, dict[str, Any]]:
        return await self._common.database.read(read_agents, is_quick=True)

    async def _has_left(self, agent: str, move: Mapping[str, Any]) -> bool:
        """Return whether an agent has left the store from which it is moved."""
        common = self._common
        key = _key(self._at(agent, move["from"]), agent)
        source = common if key == common.settings.store_of(None) else common.router.stores.get(key)
        if source is None:
            return False
        return AWAY in await source.database.read(lambda it: read_marks(it, agent))

    async def _prepare(self, agent: str, place: Mapping[str, Any]) -> dict[str, Any] | None:
        """Note what is to be moved where; None if it is there already."""
        await self.follow()
        common, settings = self._common, self._common.settings
        wanted = self._lasting(agent, place)
        row = (await self._rows()).get(agent, {})
        before = row.get(MOVE)
        if before is not None and before["state"] == "moved":
            if _key(self._at(agent, before["from"]), agent) != _key(wanted, agent):
                if _key(wanted, agent) == _key(settings, agent):
                    return None
                raise Conflict(
                    f"The copy of {agent} in {told_place(before['from'])} is still kept; nothing "
                    "was moved",
                    code="old_copy_kept",
                    hint=f"Remove it first: recollect agents move {agent} --purge",
                )
            # It is older than what is moved there now.
            await self._purge_at(agent, before["from"])
        if _key(wanted, agent) == _key(settings, agent):
            return None
        move: dict[str, Any] = {
            "from": place_of(settings.agent(agent)),
            "to": {name: place[name] for name in PLACE},
            "state": "copying",
            "done": 0,
            "total": 0,
        }
        if before is not None and before["state"] == "copying" and before["to"] != move["to"]:
            await self._purge_at(agent, before["to"])
        now = self._now()
        await common.database.write(lambda it: set_marks(it, agent, now, move=move))
        return move

    async def _run(
        self,
        agent: str,
        move: dict[str, Any],
        target: Database,
        settings: Settings,
        progress: Progress | None,
    ) -> int:
        from recollect.agents.copying import AgentCopy

        source = self._common.router.of_agent(agent)
        copy = AgentCopy(
            agent=agent,
            move_id=new_id("job"),
            source=source.database,
            target=target,
            source_blobs=source.here.blobs,
            target_blobs=self._blobs(agent, settings, target),
            now=self._now(),
            progress=self._noting(agent, move, progress),
        )
        await asyncio.to_thread(copy.begin)
        for _ in range(_MOST_PASSES):
            if await source.database.read(copy.run) <= _FEW_ROWS:
                break
        move.update(done=copy.rows, total=copy.rows)
        await source.settle()
        common, told = self._common.database, told_place(move["to"])

        def take_over(connection: Connection) -> None:
            copy.take_over(connection, told)
            if source.database is common:
                self._switch(connection, agent, move)

        await source.database.write(take_over)
        if source.database is not common:
            await common.write(lambda it: self._switch(it, agent, move))
        now = self._now()
        await asyncio.to_thread(
            target.write_here, lambda it: set_marks(it, agent, now, arriving=None)
        )
        return len(copy.lost)

    def _switch(self, connection: Connection, agent: str, move: Mapping[str, Any]) -> None:
        """Let the new store serve: every process reads this."""
        given = overlays_in(read_agents(connection)).get(agent, {})
        now = self._now()
        put_overlay(connection, agent, {**given, **move["to"]}, now)
        settings = self._at(agent, move["to"])
        home = settings.of_agent(agent).store_name if settings.has_own_store(agent) else None
        set_marks(connection, agent, now, move={**move, "state": "moved"}, home=home)

    def _noting(self, agent: str, move: dict[str, Any], progress: Progress | None) -> Progress:
        """Return a callback that also notes in the common store how far the copy is."""
        noted = time.monotonic()

        def tell(done: int, total: int) -> None:
            nonlocal noted
            if progress is not None:
                progress(done, total)
            if time.monotonic() - noted >= FOLLOW_SECONDS:
                noted = time.monotonic()
                so_far = {**move, "done": done, "total": total}
                now = self._now()
                self._common.database.write_here(lambda it: set_marks(it, agent, now, move=so_far))

        return tell

    async def _target(self, agent: str, settings: Settings) -> tuple[Database, bool]:
        """Return the database of the new store, and whether it is opened only for this."""
        common = self._common
        key = _key(settings, agent)
        if key == settings.store_of(None):
            return common.database, False
        if key in common.router.stores:
            return common.router.stores[key].database, False
        return await asyncio.to_thread(open_database, settings.at_store_of(agent)), True

    def _blobs(self, agent: str, settings: Settings, target: Database) -> Contents:
        return contents_of(settings.at_store_of(agent), target)

    async def _purge_at(self, agent: str, place: Mapping[str, Any]) -> int:
        from recollect.erasure.forgetting import clean_up, erase
        from recollect.erasure.rows import SqlErasure

        settings = self._at(agent, place)
        database, is_ours = await self._target(agent, settings)
        try:
            erasure = SqlErasure(
                database, self._common.clock, in_place=settings.storage.erase_in_place
            )
            forget_id = new_id("forget")
            begun = await erasure.begin_purge(agent, forget_id)
            away = await erase(erasure, self._blobs(agent, settings, database), forget_id)
            await clean_up(erasure, forget_id, even_large=is_ours, away=away)
        finally:
            if is_ours:
                await database.close()
        return sum(begun.counts.values())

    async def _put_away(self, agent: str, place: Mapping[str, Any]) -> None:
        """Take the old copy out of reach; it stays until it is purged."""
        from recollect.agents.copying import put_away

        database, is_ours = await self._target(agent, self._at(agent, place))
        now = self._now()
        try:
            await database.write(lambda it: put_away(it, agent, now))
        finally:
            if is_ours:
                await database.close()

    def _lasting(self, agent: str, place: Mapping[str, Any]) -> Settings:
        """Return the settings with an agent in this place, if that outlives the process."""
        wanted = self._at(agent, place)
        if wanted.of_agent(agent).is_temporary:
            raise InvalidInput(
                f"The memory of {agent} would end with the process; nothing was moved",
                code="temporary_store",
                hint="Choose a file, a database server or a journal.",
            )
        return wanted

    def _at(self, agent: str, place: Mapping[str, Any]) -> Settings:
        """Return the settings with an agent in this place."""
        common = self._common
        now = common.settings.agents.get(agent)
        others = {} if now is None else now.model_dump(exclude_unset=True, exclude=set(PLACE))
        made = agent_over(None, {**others, **place}, common.settings)
        agents = {**common.settings.agents, agent: made}
        return common.settings.model_copy(update={"agents": agents})

    def _told(self, agent: str) -> str:
        return told_place(place_of(self._common.settings.agent(agent)))

    def _now(self) -> int:
        return to_micros(self._common.clock.now())

    async def _audit(self, caller: Caller, action: str, payload: Mapping[str, Any]) -> None:
        # Every process follows moves, and hardly any moves an agent itself.
        from recollect.domain.audit import NewAuditEntry
        from recollect.domain.change import ChangeSet

        scope = Scope(org=caller.scope.org, workspace=caller.scope.workspace)
        entry = NewAuditEntry(scope=scope, action=action, target="agent", payload=payload)
        changes = ChangeSet(principal=caller.principal, scope=scope, audit=(entry,))
        await self._common.store.commit(changes)


def _key(settings: Settings, agent: str) -> tuple[str, str]:
    return settings.store_of(agent)


def _told_move(move: Mapping[str, Any]) -> tuple[str, str]:
    return told_place(move["from"]), told_place(move["to"])
