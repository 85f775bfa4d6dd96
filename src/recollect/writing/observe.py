"""Keeping conversations: every turn of every role, in order, durable before the call returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from recollect.domain.change import ChangeSet
from recollect.domain.filters import Filter
from recollect.domain.scope import Caller
from recollect.domain.turn import Turn, new_turn
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.recall.meaning import Meaning
from recollect.text.searchable import turn_units
from recollect.writing.save import idempotency


class Observer:
    """Stores turns."""

    def __init__(self, store: Store, meaning: Meaning, clock: Clock) -> None:
        self._store = store
        self._meaning = meaning
        self._clock = clock

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
        turns = tuple(new_turn(message, caller.scope, place, now, task) for message in messages)
        if not turns:
            return ()
        embedded = await self._meaning.of_units([turn_units(turn) for turn in turns])
        committed = await self._store.commit(
            ChangeSet(
                principal=caller.principal,
                scope=caller.scope,
                turns=turns,
                units=embedded.owners,
                model=embedded.model,
                jobs=embedded.jobs,
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
        return tuple(
            replace(turn, ordinal=ordinal, recorded_at=committed.recorded_at)
            for turn, ordinal in zip(turns, committed.turn_ordinals, strict=True)
        )
