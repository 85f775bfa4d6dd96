"""What a process was told and is not read yet, so that it can be read before the process ends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from recollect.domain.scope import Caller, Scope
from recollect.domain.write import Pending
from recollect.ports.jobs import Jobs
from recollect.writing.schedule import ExtractionSchedule

if TYPE_CHECKING:
    from recollect.writing.rows import SqlWrites

# A server hears many sessions; those that were left long ago are read by then.
_MAX_SESSIONS: Final = 1_000


class Told:
    """The sessions in which this process was told something, until they are read."""

    def __init__(self, jobs: Jobs, writes: SqlWrites, schedule: ExtractionSchedule) -> None:
        self._jobs = jobs
        self._writes = writes
        self._schedule = schedule
        self._sessions: dict[tuple[Scope, str], Caller] = {}

    def note(self, caller: Caller, session: str) -> None:
        """Note that something was said in a session."""
        if not self._schedule.when_left(caller, session):
            return
        self._sessions.pop((caller.scope, session), None)
        self._sessions[caller.scope, session] = caller
        if len(self._sessions) > _MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]

    async def leave(self, caller: Caller, session: str) -> Pending:
        """Have a session read that its program left; return what is still to be read."""
        await self._jobs.add(self._schedule.when_left(caller, session))
        return await self._unread(caller, session)

    async def end(self, caller: Caller, session: str) -> Pending:
        """Have a session read and summed up that is over; return what is still to be read."""
        await self._jobs.add(self._schedule.at_end(caller, session))
        return await self._unread(caller, session)

    async def leave_all(self) -> Pending:
        """Have everything read that was said here; return what is still to be read."""
        pending = await self.pending()
        for (_, session), caller in self._sessions.items():
            # Whoever comes first, because this process is about to end.
            left = self._schedule.when_left(caller, session)
            await self._jobs.add([replace(job, holder="") for job in left])
        return pending

    async def pending(self) -> Pending:
        """Return what was said here and is still to be read."""
        pending = Pending()
        for (scope, session), caller in [*self._sessions.items()]:
            unread = await self._unread(caller, session)
            if not unread:
                self._sessions.pop((scope, session), None)
            pending += unread
        return pending

    async def _unread(self, caller: Caller, session: str) -> Pending:
        if not self._schedule.when_left(caller, session):
            return Pending()
        turns = await self._writes.unread_turns(caller.scope, session)
        return Pending(turns=turns, sessions=int(turns > 0))
