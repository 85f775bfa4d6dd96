"""The store: change sets written, records and turns read, snapshots, changes and traces."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from recollect.domain.change import ChangeSet, Committed
    from recollect.domain.filters import Filter
    from recollect.domain.hit import Standing
    from recollect.domain.page import Cursor
    from recollect.domain.record import Record, Version
    from recollect.domain.relation import Link
    from recollect.domain.scope import Scope
    from recollect.domain.stats import StoreCounts
    from recollect.domain.turn import Turn


class Store(Protocol):
    """Durable, scoped storage. Reads only see the given scopes."""

    async def commit(self, changes: ChangeSet) -> Committed:
        """Write the whole change set durably, or raise and write nothing."""
        ...

    async def records(
        self,
        scopes: Sequence[Scope],
        where: Filter,
        *,
        now: datetime,
        ids: Sequence[str] | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Record]:
        """Return the records that match the filter, latest first: a page, or those of `ids`."""
        ...

    async def turns(
        self,
        scopes: Sequence[Scope],
        where: Filter,
        *,
        ids: Sequence[str] | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Turn]:
        """Return the turns that match the filter, in session order: a page, or those of `ids`."""
        ...

    async def standings(
        self,
        scopes: Sequence[Scope],
        where: Filter,
        *,
        now: datetime,
        records: Sequence[str],
        turns: Sequence[str],
        whole: int,
    ) -> dict[str, Standing]:
        """Return what scoring needs of the candidates that match the filter, by id.

        Many are scored for the few that are shown, so only the first records can be loaded from it.
        """
        ...

    async def links(self, scopes: Sequence[Scope], ids: Sequence[str]) -> list[Link]:
        """Return the links of these records and turns, at either end, oldest first."""
        ...

    async def history(self, scopes: Sequence[Scope], record_id: str) -> list[Version]:
        """Return every version of a record, oldest first; empty if it is not visible."""
        ...

    async def versions(self, scopes: Sequence[Scope]) -> tuple[int, ...]:
        """Return the version of each scope; reads stay valid while it does not change.

        This is cheap and called before every recall. 0 is a scope that was never written to.
        """
        ...

    async def counts(self, scopes: Sequence[Scope]) -> StoreCounts:
        """Return the counts of what these scopes hold."""
        ...

    async def close(self) -> None: ...


# --- Snapshots: several reads as of one moment ----------------------------------------------------
# A recall makes many small reads, and a transaction for each would take longer than the reads.
# Within `one_snapshot()` a database keeps one transaction open for them.


class Snapshot:
    """The transactions that databases keep open for reads that belong together."""

    def __init__(self, within: Snapshot | None = None) -> None:
        # Whether the moment is over; a later snapshot ends with the one that it began within.
        self.has_ended = within is not None and within.has_ended
        # What each database keeps open for it, and how to let go of that.
        self.kept: dict[Hashable, tuple[Any, Callable[[], None]]] = {}
        self._begun_within: list[Snapshot] = []
        if within is not None:
            within._begun_within.append(self)

    def let_go(self) -> None:
        """End the open transactions; the next read begins new ones."""
        for _, let_go in self.kept.values():
            let_go()
        self.kept = {}

    def go_on_from(self, later: Snapshot) -> None:
        """Continue with the moment of a snapshot that began within this one."""
        self.let_go()
        self.kept, later.kept = later.kept, {}

    def end(self) -> None:
        """End the snapshot and those that began within it."""
        self.has_ended = True
        self.let_go()
        for snapshot in self._begun_within:
            snapshot.end()


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


# --- The log of changes that change feeds read ----------------------------------------------------


# --- Reading the traces of writes. They are written by the store's commit -------------------------
