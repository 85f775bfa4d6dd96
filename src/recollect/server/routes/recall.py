"""Recall: what is remembered about a question, the block for a prompt, and the profile."""

from __future__ import annotations

from fastapi import APIRouter

from recollect.domain.context import MemoryContext
from recollect.domain.hit import Recalled
from recollect.domain.injection import Replay
from recollect.domain.preview import ContextPreview
from recollect.domain.profile import Profile
from recollect.domain.record import Record
from recollect.server.bodies import Prompt, Question, Showing, TriedPrompt
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.problems import problems

router = APIRouter(prefix="/v1", tags=["recall"], route_class=IdempotentRoute)


@router.post("/recall", responses=problems(413))
async def recall(memory: CallersMemory, body: Question) -> Recalled:
    """Recall what is remembered about a question, best first, with explanations."""
    return await memory.recall(**body.arguments())


@router.post("/context", responses=problems(413))
async def make_context(memory: CallersMemory, body: Prompt) -> MemoryContext:
    """Return the text for a prompt: the profile and what is remembered about a message."""
    return await memory.context(**body.arguments())


@router.post("/context/preview", responses=problems(404, 413))
async def preview_context(memory: CallersMemory, body: TriedPrompt) -> ContextPreview:
    """Return what a prompt would be told, part by part, with what is left out and why.

    Nothing counts as used. `changes` are tried as if they were saved, and not stored.
    """
    changes = [tried.change() for tried in body.changes]
    return await memory.preview(changes=changes, **body.arguments("changes"))


@router.get("/profile")
async def get_profile(memory: CallersMemory) -> Profile:
    """Return the profile of the user: the lines in every prompt, one per record."""
    return await memory.profile()


@router.put("/profile/{record_id}", responses=problems(404))
async def show_in_profile(memory: CallersMemory, record_id: str, body: Showing) -> Record:
    """Show a record in the profile, whatever its facet and origin, or hide it from there."""
    return await memory.show_in_profile(record_id, shown=body.shown)


@router.get("/recalls/{recall_id}/replay", responses=problems(404))
async def replay_recall(memory: CallersMemory, recall_id: str) -> Replay:
    """Compare what a past prompt was given with what the same query returns now."""
    return await memory.audit.replay(recall_id)
