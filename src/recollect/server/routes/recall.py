"""Recall: what is remembered about a question, the block for a prompt, and the profile."""

from __future__ import annotations

from fastapi import APIRouter

from recollect.domain.views import Json, as_json
from recollect.server import answers, operation_answers
from recollect.server.bodies import Prompt, Question, Showing
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.problems import problems

router = APIRouter(prefix="/v1", tags=["recall"], route_class=IdempotentRoute)


@router.post("/recall", response_model=answers.Recalled, responses=problems(413))
async def recall(memory: CallersMemory, body: Question) -> Json:
    """Recall what is remembered about a question, best first, each hit with its explanation."""
    return as_json(
        await memory.recall(
            body.query,
            limit=body.limit,
            min_score=body.min_score,
            namespace=body.namespace,
            asked_at=body.asked_at,
            **body.filters(),
        )
    )


@router.post("/context", response_model=answers.MemoryContext, responses=problems(413))
async def make_context(memory: CallersMemory, body: Prompt) -> Json:
    """Make the text that a prompt gets for a message: the profile, and what is remembered."""
    return as_json(await memory.context(body.message, **body.wanted()))


@router.get("/profile", response_model=answers.Profile)
async def get_profile(memory: CallersMemory) -> Json:
    """Read the profile of the user: what stands in every prompt, each line of one record."""
    return as_json(await memory.profile())


@router.put("/profile/{record_id}", response_model=answers.Record, responses=problems(404))
async def show_in_profile(memory: CallersMemory, record_id: str, body: Showing) -> Json:
    """Show a record in the profile, whatever its facet and origin, or hide it from there."""
    return as_json(await memory.show_in_profile(record_id, shown=body.shown))


@router.get(
    "/recalls/{recall_id}/replay", response_model=operation_answers.Replay, responses=problems(404)
)
async def replay_recall(memory: CallersMemory, recall_id: str) -> Json:
    """Compare what a prompt was given with what the same question gives now."""
    return as_json(await memory.audit.replay(recall_id))
