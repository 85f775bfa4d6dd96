"""Jobs: the background work of the whole database."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from recollect.domain.job import JobState
from recollect.domain.views import Json, as_json
from recollect.server import answers
from recollect.server.caller import CallersMemory
from recollect.server.once import OnceRoute
from recollect.server.parameters import Limit, PageMark
from recollect.server.problems import problems

router = APIRouter(prefix="/v1/jobs", tags=["jobs"], route_class=OnceRoute)


@router.get("", response_model=answers.JobPage)
async def list_jobs(
    memory: CallersMemory,
    state: Annotated[JobState | None, Query(description="only jobs in this state")] = None,
    kind: Annotated[str | None, Query(description="only jobs of this kind")] = None,
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Json:
    """List background jobs, the newest first; finished ones are told for a day."""
    return as_json(await memory.jobs.list(state=state, kind=kind, limit=limit, cursor=cursor))


@router.post("/run", response_model=answers.Worked)
async def run_due_jobs(memory: CallersMemory) -> Json:
    """Run the jobs that are due now, and answer when they have run."""
    return {"ran": await memory.work()}


@router.post("/drain", status_code=204)
async def drain_jobs(memory: CallersMemory) -> None:
    """Wait until all background work is done or given up."""
    await memory.drain()


@router.get("/{job_id}", response_model=answers.Job, responses=problems(404))
async def get_job(memory: CallersMemory, job_id: str) -> Json:
    """Read how a job is doing: its state, how far it is where that is known, and its result."""
    return as_json(await memory.jobs.get(job_id))


@router.delete("/{job_id}", response_model=answers.Job, responses=problems(404, 409))
async def cancel_job(memory: CallersMemory, job_id: str) -> Json:
    """Cancel a job; one that runs stops soon, and what it did is kept."""
    return as_json(await memory.jobs.cancel(job_id))
