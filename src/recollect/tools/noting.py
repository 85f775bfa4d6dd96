"""The tool that updates the scratchpad of a task."""

from __future__ import annotations

from recollect.domain.notes import Decision, ScratchpadUpdate
from recollect.domain.views import Json
from recollect.tools.arguments import UpdateScratchpad
from recollect.tools.desk import Desk


async def update_scratchpad(desk: Desk, asked: UpdateScratchpad) -> Json:
    """Update the scratchpad and return it."""
    news = ScratchpadUpdate(
        current_goal=asked.current_goal,
        sub_goals=tuple(asked.sub_goals),
        completed=tuple(asked.completed),
        current_step=asked.current_step,
        decisions=tuple(Decision(what=made.what, why=made.why) for made in asked.decisions),
        blockers=tuple(asked.blockers),
        unblocked=tuple(asked.unblocked),
    )
    pad = await desk.memory.session(desk.session).scratchpad.update(news)
    return pad.to_json()
