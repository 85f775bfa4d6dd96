"""The files of a spool hold what was acknowledged, whatever else goes wrong."""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.domain.ids import new_id
from recollect.domain.meter import Meter
from recollect.domain.scope import Caller, Scope
from recollect.domain.turn import new_turn
from recollect.spool.entries import SpoolEntry
from recollect.spool.files import SpoolFolder
from recollect.spool.service import Outcome, Spool

pytestmark = pytest.mark.sqlite("about the files of a spool")


@contextmanager
def _room_for(size: int) -> Iterator[None]:
    """Let no file become larger."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _entry() -> SpoolEntry:
    scope, at = Scope(user="ann"), datetime.now(UTC)
    turn = new_turn({"role": "user", "content": "hello"}, scope, "s", at, None)
    return SpoolEntry(id=new_id("spool"), at=at, caller=Caller(scope=scope), turns=(turn,))


def test_a_mark_that_found_no_room_spoils_nothing(tmp_path: Path) -> None:
    folder = SpoolFolder.make(tmp_path, "spool_1")
    entries = [_entry(), _entry()]
    for entry in entries:
        folder.append(entry)
    with _room_for(folder.bytes + 10), pytest.raises(OSError, match="too large"):
        folder.done([entries[0].id])
    last = _entry()
    folder.append(last)
    folder.leave()
    again = SpoolFolder.adopt(tmp_path / "spool_1")
    assert again is not None
    assert [it.id for it in again.load()] == [*(it.id for it in entries), last.id]
    again.leave()


class _Stores:
    """Stores whose servers are away until they are back."""

    def __init__(self, place: Path) -> None:
        self.is_away = True
        self.stored: list[str] = []
        self.spool = Spool(
            place,
            max_bytes=1 << 20,
            is_away=lambda scope: self.is_away,
            away_seconds=lambda: 0,
            forgotten=self._forgotten,
            stored=self._known,
            store=self._store,
            meter=Meter(),
        )

    async def keep(self, entry: SpoolEntry) -> None:
        async def never(_: SpoolEntry) -> Outcome:
            raise AssertionError

        assert (await self.spool.write(entry, never)).is_waiting

    async def _forgotten(self, since: datetime, scopes: Collection[Scope]) -> list[None]:
        return []

    async def _known(self, entries: Sequence[SpoolEntry]) -> Collection[str]:
        return [it.id for it in entries if it.id in self.stored]

    async def _store(self, entries: Sequence[SpoolEntry]) -> bool:
        self.stored += [it.id for it in entries]
        return True


async def test_what_is_meant_is_stored_in_whatever_order_it_came(tmp_path: Path) -> None:
    """A write that waited for its turn has an older id than one that did not wait so long."""
    stores = _Stores(tmp_path)
    older, newer = _entry(), _entry()
    for entry in (newer, older):
        await stores.keep(entry)
    await stores.spool.drain(lambda it: it.id == older.id)
    assert stores.stored == [newer.id, older.id]


async def test_a_folder_that_cannot_be_read_holds_up_nothing(tmp_path: Path) -> None:
    damaged = tmp_path / "spool_0" / "entries.jsonl"
    damaged.parent.mkdir()
    damaged.write_bytes(b'{"done":"spool_\n')
    stores = _Stores(tmp_path)
    await stores.keep(entry := _entry())
    await stores.spool.open()
    stores.is_away = False
    stores.spool.call()
    ends = time.monotonic() + 10
    while not stores.stored:
        assert time.monotonic() < ends
        await asyncio.sleep(0.01)
    await stores.spool.close()
    assert stores.stored == [entry.id]
    assert damaged.read_bytes() == b'{"done":"spool_\n'
