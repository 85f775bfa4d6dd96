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
from recollect.text.searchable import turn_units
from recollect.writing.save import idempotency


class Observer:
    """Stores turns."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def observe(
        self,
        caller: Caller,
        messages: Sequence[Mapping[str, Any]],
        *,
        session: str,
        task: str | None = None,
        idempotency_key: str | None = None,
    ) -> tuple[Turn, ...]:
        """Append messages to a session: all of them, or none."""
        now = self._clock.now()
        turns = tuple(new_turn(message, caller.scope, session, now, task) for message in messages)
        if not turns:
            return ()
        committed = await self._store.commit(
            ChangeSet(
                principal=caller.principal,
                scope=caller.scope,
                turns=turns,
                units=tuple(turn_units(turn) for turn in turns),
                idempotency=idempotency(
                    idempotency_key,
                    {"observe": [*messages], "session": session, "task": task},
                    {"ids": [turn.id for turn in turns]},
                ),
            )
        )
        if committed.replayed is not None:
            ids = cast("list[str]", committed.replayed["ids"])
            found = await self._store.turns(caller.readable, Filter(session=session), ids=ids)
            return tuple(found)
        return tuple(
            replace(turn, ordinal=ordinal, recorded_at=committed.recorded_at)
            for turn, ordinal in zip(turns, committed.turn_ordinals, strict=True)
        )
