"""The blocks that readers were given: the last one of each, and who has what in a run."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from recollect.domain.fields import MAX_LABEL, checked_text
from recollect.domain.scope import Scope
from recollect.ports.clock import Clock

_MAX_RUNS: Final = 1_000
_MAX_BLOCKS: Final = 10_000
_MAX_ITEMS: Final = 1_000
# A run without a request for this long is over.
_MAX_IDLE: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """The owner of a prompt: an agent in a run, or a session if the agent has no name."""

    scope: Scope
    run: tuple[str, str, str] | None
    name: str

    @classmethod
    def of(cls, scope: Scope, session: str, run: str | None) -> Receiver:
        if run is None:
            return cls(scope=scope, run=None, name=session)
        place = (scope.org, scope.workspace, checked_text(run, "run", MAX_LABEL))
        return cls(scope=scope, run=place, name=scope.agent or session)


@dataclass(slots=True)
class _Run:
    last_request: datetime
    # Who has each item, the latest last.
    owners: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str])


class ServedBlocks:
    """The items that each agent was given in the current runs of this process.

    An agent gets its own items again, because its block is rebuilt for every request.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._runs: OrderedDict[tuple[str, str, str], _Run] = OrderedDict()
        self._last_shown: OrderedDict[Receiver, tuple[str, ...]] = OrderedDict()

    def last_shown(self, receiver: Receiver) -> tuple[str, ...]:
        """Return the items of the receiver's last block, in order."""
        return self._last_shown.get(receiver, ())

    def given_to_others(self, receiver: Receiver) -> frozenset[str]:
        """Return what other agents of the run have."""
        known = None if receiver.run is None else self._runs.get(receiver.run)
        if known is None or self._is_over(known):
            return frozenset()
        return frozenset(item for item, owner in known.owners.items() if owner != receiver.name)

    def give(self, receiver: Receiver, items: Sequence[str]) -> None:
        """Note that a receiver has these items now, in this order."""
        self._last_shown[receiver] = tuple(items)
        self._last_shown.move_to_end(receiver)
        while len(self._last_shown) > _MAX_BLOCKS:
            self._last_shown.popitem(last=False)
        if receiver.run is None:
            return
        known = self._runs.pop(receiver.run, None)
        if known is None or self._is_over(known):
            known = _Run(self._clock.now())
        known.last_request = self._clock.now()
        for item in items:
            known.owners[item] = receiver.name
            known.owners.move_to_end(item)
        while len(known.owners) > _MAX_ITEMS:
            known.owners.popitem(last=False)
        self._runs[receiver.run] = known
        while len(self._runs) > _MAX_RUNS:
            self._runs.popitem(last=False)

    def _is_over(self, run: _Run) -> bool:
        return self._clock.now() - run.last_request > _MAX_IDLE
