"""Snapshots: several reads as of one moment.

A recall makes many small reads, and a transaction for each would take longer than the reads.
Within `one_snapshot()` a database keeps one transaction open for them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final


class Snapshot:
    """The transactions that databases keep open for reads that belong together."""

    def __init__(self, within: Snapshot | None = None) -> None:
        self._within = within
        self._kept: dict[Hashable, tuple[Any, Callable[[], None]]] = {}
        self._has_ended = False
        self._begun_within: list[Snapshot] = []
        if within is not None:
            within._begun_within.append(self)

    @property
    def has_ended(self) -> bool:
        """Return whether the snapshot has ended."""
        return self._has_ended or (self._within is not None and self._within.has_ended)

    def kept_by(self, database: Hashable) -> Any:
        """Return what the database keeps open for it, or None."""
        kept = self._kept.get(database)
        return None if kept is None else kept[0]

    def keep(self, database: Hashable, held: Any, let_go: Callable[[], None]) -> None:
        """Keep a transaction of the database open until the snapshot ends."""
        self._kept[database] = held, let_go

    def let_go(self) -> None:
        """End the open transactions; the next read begins new ones."""
        for _, let_go in self._kept.values():
            let_go()
        self._kept = {}

    def go_on_from(self, later: Snapshot) -> None:
        """Continue with the moment of a snapshot that began within this one."""
        self.let_go()
        self._kept, later._kept = later._kept, {}

    def end(self) -> None:
        """End the snapshot and those that began within it."""
        self._has_ended = True
        for snapshot in (self, *self._begun_within):
            snapshot.let_go()


_CURRENT: Final[ContextVar[Snapshot | None]] = ContextVar("recollect_snapshot", default=None)


def current_snapshot() -> Snapshot | None:
    """Return the snapshot that a read belongs to, if any."""
    snapshot = _CURRENT.get()
    return None if snapshot is None or snapshot.has_ended else snapshot


@contextmanager
def one_snapshot() -> Generator[Snapshot]:
    """Read as of one moment within this context."""
    snapshot = Snapshot()
    with _reading(snapshot):
        try:
            yield snapshot
        finally:
            snapshot.end()


@contextmanager
def later_snapshot() -> Generator[Snapshot]:
    """Let tasks that start here, but read later, see what is stored by then."""
    later = Snapshot(current_snapshot())
    with _reading(later):
        yield later


@contextmanager
def _reading(snapshot: Snapshot) -> Generator[None]:
    token = _CURRENT.set(snapshot)
    try:
        yield
    finally:
        _CURRENT.reset(token)
