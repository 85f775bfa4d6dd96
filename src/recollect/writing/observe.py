"""Keeping conversations: every turn of every role, in order, durable before the call returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from recollect.domain.change import ChangeSet
from recollect.domain.filters import Filter
from recollect.domain.job import NewJob
from recollect.domain.scope import Caller
from recollect.domain.turn import Turn, new_turn
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.recall.late_vectors import LateVectors
from recollect.text.searchable import turn_units
from recollect.writing.analysed import units_of
from recollect.writing.redaction import Redactor
from recollect.writing.save import idempotency, redacted_entry


class Observer:
    """Stores turns."""

    def __init__(
        self,
        store: Store,
        vectors: LateVectors,
        clock: Clock,
        redactor: Redactor | None = None,
        extract: Callable[[Caller, str], NewJob | None] | None = None,
    ) -> None:
        self._store = store
        self._vectors = vectors
        self._clock = clock
        self._redactor = redactor or Redactor()
        # The work of finding out what a session says, which waits until enough was said.
        self._extract = extract

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
        turns = tuple(new_turn(message, caller.scope, place, now, task) for message in messages)
        extract = self._extract(caller, place) if self._extract else None
        units = await units_of(turn_units, turns)
        model = self._vectors.model_of(caller.scope)
        committed = await self._store.commit(
            ChangeSet(
                principal=caller.principal,
                scope=caller.scope,
                turns=turns,
                units=units,
                model=model,
                jobs=() if extract is None else (extract,),
                audit=tuple(filter(None, map(redacted_entry, turns, counts))),
                idempotency=idempotency(
                    idempotency_key,
                    {"observe": [*messages], "session": session, "task": task},
                    {"ids": [turn.id for turn in turns]},
                ),
            )
        )
        if committed.replayed is not None:
            ids = cast("list[str]", committed.replayed["ids"])
            found = await self._store.turns(caller.readable, Filter(), ids=ids)
            return tuple(sorted(found, key=lambda turn: turn.ordinal))
        await self._vectors.add(units, model, committed)
        return tuple(
            replace(turn, ordinal=ordinal, recorded_at=committed.recorded_at)
            for turn, ordinal in zip(turns, committed.turn_ordinals, strict=True)
        )
