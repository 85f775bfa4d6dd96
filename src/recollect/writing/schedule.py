"""When a conversation is read for what is worth remembering: every few turns, and at its end.

Whoever talks never waits for it: a job is written with the turns, and done by whoever has time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final, cast

from recollect.domain.job import Job, NewJob
from recollect.domain.route import WritePolicy
from recollect.domain.scope import Caller, Scope

EXTRACT: Final = "extract"
EPISODE: Final = "episode"


class ExtractionSchedule:
    """Knows which jobs a session needs; none where nothing of it is to become memory."""

    def __init__(self, policy: Callable[[Caller], WritePolicy], *, every: int) -> None:
        self._policy = policy
        self._every = every

    def after_turns(self, caller: Caller, session: str) -> NewJob | None:
        """The job to write with new turns; it is due when enough of them have come together."""
        if not self._every or self._policy(caller) == "off":
            return None
        return _job(EXTRACT, caller.scope, session, every=self._every)

    def at_end(self, caller: Caller, session: str) -> tuple[NewJob, ...]:
        """The jobs of a session that is over."""
        if self._policy(caller) == "off":
            return ()
        return tuple(_job(kind, caller.scope, session) for kind in (EXTRACT, EPISODE))


def session_of(job: Job) -> tuple[Caller, str]:
    """Whose session a job is about; it works in the name of the one who talked there."""
    place = cast("dict[str, str | None]", job.payload)
    scope = Scope(
        org=cast("str", place["org"]),
        workspace=cast("str", place["workspace"]),
        agent=place["agent"],
        user=place["user"],
    )
    return Caller(scope=scope, principal=scope.actor), cast("str", place["session"])


def _job(kind: str, scope: Scope, session: str, *, every: int = 0) -> NewJob:
    place = f"{scope.key}/{session}"
    return NewJob(
        kind=kind,
        # Names may be longer than a key.
        key=hashlib.sha256(place.encode()).hexdigest(),
        payload={
            "org": scope.org,
            "workspace": scope.workspace,
            "agent": scope.agent,
            "user": scope.user,
            "session": session,
        },
        every=every,
    )
