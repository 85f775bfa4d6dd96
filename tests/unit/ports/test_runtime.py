"""Background work pauses while callers use a memory, and only then."""

import asyncio
import time

from recollect.ports.runtime import give_way, note_use, work_in_background


async def _pause_in_background(worked_seconds: float) -> float:
    work_in_background()
    began = time.monotonic()
    await give_way(worked_seconds)
    return time.monotonic() - began


async def test_background_work_pauses_after_a_use():
    note_use()
    assert await asyncio.create_task(_pause_in_background(1.0)) >= 0.029


async def test_the_pause_is_in_proportion_to_the_work():
    note_use()
    assert await asyncio.create_task(_pause_in_background(0.001)) >= 0.008


async def test_work_that_somebody_waits_for_does_not_pause():
    note_use()
    pausing = asyncio.ensure_future(give_way(60.0))
    await asyncio.sleep(0)
    assert pausing.done()


async def test_background_work_does_not_wait_for_itself():
    await asyncio.sleep(0.03)

    async def work() -> bool:
        work_in_background()
        note_use()
        pausing = asyncio.ensure_future(give_way(60.0))
        await asyncio.sleep(0)
        return pausing.done()

    assert await asyncio.create_task(work())
