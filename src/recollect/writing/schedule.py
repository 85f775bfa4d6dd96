"""The schedule of extraction: when a conversation is read for claims.

Turns with an explicit wish are read at once; the others every few turns, when the session ends or
is left, and after a pause, so that a short conversation is read too. Callers never wait for it: a
job is stored with the turns, and any worker runs it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, cast

from recollect.domain.job import Job, NewJob, this_process
from recollect.domain.record import Kind, Record
from recollect.domain.relation import JUDGE
from recollect.domain.scope import Caller, Scope
from recollect.domain.turn import Turn
from recollect.domain.write import EXTRACT, EXTRACT_IDLE
from recollect.writing.judges import LONGEST_JUDGED

if TYPE_CHECKING:
    from recollect.domain.write import WritePolicy

EPISODE: Final = "episode"
# Returns the jobs that judge what was stored without comparison.
Judging = Callable[[Caller, Sequence[Record | Turn]], tuple[NewJob, ...]]
# The number of records or turns that one job judges.
_IDS_PER_JOB: Final = 50


class ExtractionSchedule:
    """The choice of jobs for a session; none if its policy is off."""

    def __init__(
        self, policy: Callable[[Caller], WritePolicy], *, every: int, idle: timedelta
    ) -> None:
        self._policy = policy
        self._every = every
        self._idle = idle

    def after_turns(
        self, caller: Caller, session: str, now: datetime, *, is_wished: bool
    ) -> tuple[NewJob, ...]:
        """Return the jobs to store with new turns; `is_wished` if one asks to be remembered."""
        if self._policy(caller) == "off":
            return ()
        jobs: list[NewJob] = []
        if self._every:
            # Due after this many turns.
            every = 1 if is_wished else self._every
            jobs.append(_job(EXTRACT, caller.scope, session, every=every))
        if self._idle:
            # Every turn postpones it.
            later = _job(EXTRACT_IDLE, caller.scope, session, run_after=now + self._idle)
            jobs.append(replace(later, holder=this_process()))
        return tuple(jobs)

    def when_left(self, caller: Caller, session: str) -> tuple[NewJob, ...]:
        """Return the jobs for a session that its program left but may reopen."""
        if self._policy(caller) == "off":
            return ()
        return (_job(EXTRACT, caller.scope, session),)

    def at_end(self, caller: Caller, session: str) -> tuple[NewJob, ...]:
        """Return the jobs for a session that is over."""
        if self._policy(caller) == "off":
            return ()
        return tuple(_job(kind, caller.scope, session) for kind in (EXTRACT, EPISODE))


def place_of(scope: Scope, session: str) -> dict[str, str | None]:
    """Return the part of a job's payload that identifies the session."""
    return {**_place(scope), "session": session}


def is_judged(item: Record | Turn) -> bool:
    """Return whether a record states something that may be repeated or changed."""
    if len(item.content) > LONGEST_JUDGED:
        return False
    if isinstance(item, Turn):
        return item.role == "user" and item.act == "statement"
    return item.kind is not Kind.EPISODIC


def judge_jobs(scope: Scope, ids: Sequence[str]) -> tuple[NewJob, ...]:
    """Return the jobs that relate new records or turns to earlier ones."""
    return tuple(
        NewJob(
            kind=JUDGE,
            key=ids[start],
            payload={**_place(scope), "ids": list(ids[start : start + _IDS_PER_JOB])},
        )
        for start in range(0, len(ids), _IDS_PER_JOB)
    )


def judged_of(job: Job) -> tuple[Caller, list[str]]:
    """Return the scope of a judging job, and its records or turns."""
    payload = cast("dict[str, Any]", job.payload)
    return _caller(payload), cast("list[str]", payload["ids"])


def session_of(job: Job) -> tuple[Caller, str]:
    """Return the scope and session of a job."""
    payload = cast("dict[str, Any]", job.payload)
    return _caller(payload), cast("str", payload["session"])


def _caller(payload: Mapping[str, Any]) -> Caller:
    scope = Scope(
        org=payload["org"],
        workspace=payload["workspace"],
        agent=payload["agent"],
        user=payload["user"],
    )
    return Caller(scope=scope, principal=scope.actor)


def _place(scope: Scope) -> dict[str, str | None]:
    return {
        "org": scope.org,
        "workspace": scope.workspace,
        "agent": scope.agent,
        "user": scope.user,
    }


def _job(
    kind: str, scope: Scope, session: str, *, every: int = 0, run_after: datetime | None = None
) -> NewJob:
    place = f"{scope.key}/{session}"
    return NewJob(
        kind=kind,
        # Hashed, because names may be longer than a key.
        key=hashlib.sha256(place.encode()).hexdigest(),
        payload=place_of(scope, session),
        every=every,
        run_after=run_after,
    )
