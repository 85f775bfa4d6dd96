"""A circuit breaker: a store that failed is left alone for a while, each time longer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

FIRST_PAUSE_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 60.0

_log: Final = logging.getLogger(__name__)


class Breaker:
    """Remembers that a store is away and when it is tried again.

    While it is open nobody waits for the store. After the pause one caller tries it; if that fails
    too, the next pause is twice as long.
    """

    def __init__(self, name: str, timer: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._timer = timer
        self._pause = FIRST_PAUSE_SECONDS
        self._tried_next = 0.0
        self.problem = ""
        """Why the store is away; empty while it answers."""

    @property
    def is_open(self) -> bool:
        """Return whether the store is away and it is too early to try it again."""
        return bool(self.problem) and self._timer() < self._tried_next

    def failed(self, problem: str) -> None:
        """Note that the store did not answer."""
        if not self.problem:
            _log.warning("%s is away: %s", self._name, problem)
        else:
            self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)
        self.problem = problem
        self._tried_next = self._timer() + self._pause

    def answered(self) -> None:
        """Note that the store answers."""
        if self.problem:
            _log.warning("%s answers again", self._name)
        self.problem, self._pause, self._tried_next = "", FIRST_PAUSE_SECONDS, 0.0
