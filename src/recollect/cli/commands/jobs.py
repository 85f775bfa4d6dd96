"""`recollect jobs`: background jobs, their progress and results."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.command import run_group
from recollect.cli.options import Limit, PageMark
from recollect.domain.job import JobReport, JobState
from recollect.memory import Memory

JobId = Annotated[str, typer.Argument(metavar="ID", help="The job.")]


def jobs(context: typer.Context) -> None:
    """List background jobs and cancel them."""
    commands = {"list": list_jobs, "show": show_job, "cancel": cancel_job}
    run_group(context, "Background jobs; finished ones are listed for a day.", commands)


async def list_jobs(
    memory: Memory,
    state: Annotated[
        str | None,
        typer.Option(metavar="STATE", help="waiting, running, failed, done or cancelled."),
    ] = None,
    kind: Annotated[str | None, typer.Option(metavar="KIND", help="Only of this kind.")] = None,
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Answer:
    """List jobs, newest first."""
    wanted = cast("JobState | None", state)
    found = await memory.jobs.list(state=wanted, kind=kind, limit=limit, cursor=cursor)

    return show.listed(found, _told, none="There are no jobs.")


async def show_job(memory: Memory, job_id: JobId) -> Answer:
    """Show the state and the progress of one job."""
    job = await memory.jobs.get(job_id)
    return Answer(job, lambda console: show.line(console, _told(job)))


async def cancel_job(memory: Memory, job_id: JobId) -> Answer:
    """Cancel a job; what it did so far is kept."""
    job = await memory.jobs.cancel(job_id)
    return Answer(job, lambda console: show.line(console, _told(job)))


def _told(job: JobReport) -> str:
    when = f"{job.at.astimezone():%Y-%m-%d %H:%M}"
    told = f"{job.id} · {job.kind} · {job.state} · {when}"
    if job.total is not None:
        told += f" · {job.done or 0:,} of {job.total:,}"
    return f"{told} · {job.error}" if job.error else told
