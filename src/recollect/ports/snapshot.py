"""Several reads as of one moment.

A recall reads a little here and there; beginning and ending a transaction for each takes longer
than reading. Within `one_snapshot()` a database keeps one open for what is read quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final


class Snapshot:
    """What databases keep open for the reads that belong together."""

    def __init__(self, within: Snapshot | None = None) -> None:
        self._within = within
        self._kept: dict[Hashable, tuple[Any, Callable[[], None]]] = {}
        self._has_ended = False
        self._begun_within: list[Snapshot] = []
        if within is not None:
            within._begun_within.append(self)

    @property
    def has_ended(self) -> bool:
        """Whether nothing more is kept open for it."""
        return self._has_ended or (self._within is not None and self._within.has_ended)

    def kept_by(self, database: Hashable) -> Any:
        """What the database keeps open for it, or None."""
        kept = self._kept.get(database)
        return None if kept is None else kept[0]

    def keep(self, database: Hashable, held: Any, let_go: Callable[[], None]) -> None:
        """Keep something open for the database until the snapshot ends."""
        self._kept[database] = held, let_go

    def let_go(self) -> None:
        """End what was begun; whatever is read next begins anew."""
        for _, let_go in self._kept.values():
            let_go()
        self._kept = {}

    def go_on_from(self, later: Snapshot) -> None:
        """Read on as of the moment of one that began within this one."""
        self.let_go()
        self._kept, later._kept = later._kept, {}

    def end(self) -> None:
        """Keep nothing open any more, nor for those that began within it."""
        self._has_ended = True
        for it in (self, *self._begun_within):
            it.let_go()


_CURRENT: Final[ContextVar[Snapshot | None]] = ContextVar("recollect_snapshot", default=None)


def current_snapshot() -> Snapshot | None:
    """The snapshot that a read belongs to, if it belongs to one."""
    snapshot = _CURRENT.get()
    return None if snapshot is None or snapshot.has_ended else snapshot


@contextmanager
def one_snapshot() -> Generator[Snapshot]:
    """What is read within it, is read as of one moment."""
    snapshot = Snapshot()
    with _reading(snapshot):
        try:
            yield snapshot
        finally:
            snapshot.end()


@contextmanager
def later_snapshot() -> Generator[Snapshot]:
    """For tasks that begin here and wait before they read: they see what is there by then."""
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
