"""What readers were given: the last block of each, and who has what in a run of several agents."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from recollect.domain.fields import MAX_LABEL, checked_text
from recollect.domain.scope import Scope
from recollect.ports.clock import Clock

_MOST_RUNS: Final = 1_000
_MOST_BLOCKS: Final = 10_000
_MOST_ITEMS: Final = 1_000
# A run of which nothing was heard for so long is over.
_LIFETIME: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """Whose prompt it is: an agent in a run, or a session when the agent has no name."""

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
    last_heard: datetime
    # Item → who has it, the latest ones last.
    owners: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str])


class ServedBlocks:
    """Who was given what in the runs that go on in this process.

    An agent is given its own items again: its block is made anew for every request.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._runs: OrderedDict[tuple[str, str, str], _Run] = OrderedDict()
        self._last_shown: OrderedDict[Receiver, tuple[str, ...]] = OrderedDict()

    def last_shown(self, receiver: Receiver) -> tuple[str, ...]:
        """The items of its last block, in their order."""
        return self._last_shown.get(receiver, ())

    def given_to_others(self, receiver: Receiver) -> frozenset[str]:
        """What other agents of the run have."""
        known = None if receiver.run is None else self._runs.get(receiver.run)
        if known is None or self._is_over(known):
            return frozenset()
        return frozenset(it for it, owner in known.owners.items() if owner != receiver.name)

    def give(self, receiver: Receiver, items: Sequence[str]) -> None:
        """Note that a reader has these now, in this order."""
        self._last_shown[receiver] = tuple(items)
        self._last_shown.move_to_end(receiver)
        while len(self._last_shown) > _MOST_BLOCKS:
            self._last_shown.popitem(last=False)
        if receiver.run is None:
            return
        known = self._runs.pop(receiver.run, None)
        if known is None or self._is_over(known):
            known = _Run(self._clock.now())
        known.last_heard = self._clock.now()
        for item in items:
            known.owners[item] = receiver.name
            known.owners.move_to_end(item)
        while len(known.owners) > _MOST_ITEMS:
            known.owners.popitem(last=False)
        self._runs[receiver.run] = known
        while len(self._runs) > _MOST_RUNS:
            self._runs.popitem(last=False)

    def _is_over(self, run: _Run) -> bool:
        return self._clock.now() - run.last_heard > _LIFETIME
