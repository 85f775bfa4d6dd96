"""Work that nobody waits for pauses while somebody waits, but never for good."""

import asyncio
import time

from recollect.ports.runtime import caller_waits, give_way, work_in_background


async def _paused(worked: float) -> float:
    work_in_background()
    began = time.monotonic()
    await give_way(worked)
    return time.monotonic() - began


async def test_background_work_pauses_while_a_caller_waits_and_goes_on_after():
    with caller_waits():
        pausing = asyncio.create_task(_paused(10.0))
        done, _ = await asyncio.wait([pausing], timeout=0.2)
        assert not done
    assert await asyncio.wait_for(pausing, 5) >= 0.2


async def test_but_a_caller_that_never_ends_does_not_stop_it():
    with caller_waits():
        assert await asyncio.create_task(_paused(0.01)) < 5


async def test_who_waits_for_the_work_itself_is_not_kept():
    with caller_waits():
        began = time.monotonic()
        await give_way(10.0)
        assert time.monotonic() - began < 1
