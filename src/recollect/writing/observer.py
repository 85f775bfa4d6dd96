"""Storage of conversations: every turn of every role, in order, durable before the call returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any, cast

from recollect.domain.change import ChangeSet, Committed
from recollect.domain.filters import Filter
from recollect.domain.ids import new_id
from recollect.domain.job import NewJob
from recollect.domain.scope import Caller
from recollect.domain.turn import Turn, new_turn
from recollect.embedding.late_vectors import LateVectors
from recollect.language.extraction.acts import holds_wish, with_acts
from recollect.language.units import turn_units
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.spool.entries import SpoolEntry
from recollect.spool.service import Outcome, Spool
from recollect.writing.redaction import Redactor
from recollect.writing.saver import idempotency, redacted_entry, units_of
from recollect.writing.schedule import ExtractionSchedule
from recollect.writing.told import Told


class Observer:
    """The service that stores turns."""

    def __init__(
        self,
        store: Store,
        vectors: LateVectors,
        clock: Clock,
        redactor: Redactor | None = None,
        schedule: ExtractionSchedule | None = None,
        told: Told | None = None,
        spool: Spool | None = None,
    ) -> None:
        self._store = store
        self._vectors = vectors
        self._clock = clock
        self._redactor = redactor or Redactor()
        self._schedule = schedule
        self._told = told
        self._spool = spool

    async def observe(
        self,
        caller: Caller,
        messages: Sequence[Mapping[str, Any]],
        *,
        session: str | None,
        new_session: str,
        task: str | None = None,
        idempotency_key: str | None = None,
    ) -> tuple[Turn, ...]:
        """Append messages to a session, or to a new one: all of them, or none."""
        now = self._clock.now()
        place = new_session if session is None else session
        if not messages:
            return ()
        messages, counts = zip(*map(self._redactor.message, messages), strict=True)
        turns = with_acts(
            [new_turn(message, caller.scope, place, now, task) for message in messages]
        )
        entry = SpoolEntry(
            id=new_id("spool"),
            at=now,
            caller=caller,
            turns=tuple(turns),
            counts=counts,
            idempotency=idempotency(
                idempotency_key,
                {"observe": [*messages], "session": session, "task": task},
                {"ids": [turn.id for turn in turns]},
            ),
        )
        if self._spool is None:
            outcome = await self.store(entry)
        else:
            outcome = await self._spool.write(entry, self.store)
        committed = outcome.committed
        if committed is None:
            return tuple(replace(it, spooled=outcome.is_waiting) for it in outcome.entry.turns)
        if committed.replayed is not None:
            ids = cast("list[str]", committed.replayed["ids"])
            found = await self._store.turns(caller.readable, Filter(), ids=ids)
            return tuple(sorted(found, key=lambda turn: turn.ordinal))
        return outcome.entry.turns

    async def store(self, entry: SpoolEntry) -> Outcome:
        """Store the turns of an entry, and have them read."""
        changes = await self.changes_of([entry])
        committed = await self._store.commit(changes)
        if committed.replayed is not None:
            return Outcome(entry, committed)
        await self.stored(entry.caller, changes, committed)
        numbered = tuple(
            replace(turn, ordinal=ordinal, recorded_at=committed.recorded_at)
            for turn, ordinal in zip(entry.turns, committed.turn_ordinals, strict=True)
        )
        return Outcome(replace(entry, turns=numbered), committed)

    async def changes_of(self, entries: Sequence[SpoolEntry]) -> ChangeSet:
        """Return what stores the turns of one caller's entries together."""
        caller = entries[0].caller
        turns = tuple(turn for entry in entries for turn in entry.turns)
        redacted = (map(redacted_entry, entry.turns, entry.counts) for entry in entries)
        return ChangeSet(
            principal=caller.principal,
            scope=caller.scope,
            turns=turns,
            units=await units_of(turn_units, turns),
            model=self._vectors.model_of(caller.scope),
            jobs=self._extraction_jobs(caller, turns, self._clock.now()),
            audit=tuple(filter(None, chain.from_iterable(redacted))),
            idempotency=tuple(filter(None, (entry.idempotency for entry in entries))),
        )

    async def stored(self, caller: Caller, changes: ChangeSet, committed: Committed) -> None:
        """Make the vectors of turns that were stored, and note that their sessions are unread."""
        if self._told is not None:
            for session in dict.fromkeys(turn.session for turn in changes.turns):
                self._told.note(caller, session)
        await self._vectors.add(changes.units, changes.model, committed)

    async def retract(self, caller: Caller, turns: Sequence[Turn]) -> None:
        """Mark turns as retracted: they are kept, but neither recalled nor extracted any more."""
        taken_back = tuple(replace(turn, act="retracted") for turn in turns)
        if taken_back:
            await self._store.commit(
                ChangeSet(
                    principal=caller.principal,
                    scope=caller.scope,
                    retracted=taken_back,
                    units=tuple(map(turn_units, taken_back)),
                )
            )

    def _extraction_jobs(
        self, caller: Caller, turns: Sequence[Turn], now: datetime
    ) -> tuple[NewJob, ...]:
        """Return the jobs that extract claims from the turns, of every session once."""
        if self._schedule is None:
            return ()
        sessions: dict[str, list[Turn]] = {}
        for turn in turns:
            sessions.setdefault(turn.session, []).append(turn)
        jobs = (
            self._schedule.after_turns(caller, session, now, is_wished=any(map(holds_wish, said)))
            for session, said in sessions.items()
        )
        return tuple(chain.from_iterable(jobs))
