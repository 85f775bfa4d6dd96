"""Commands about the data as a whole: where it is, backups, background jobs and the demo."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from recollect.cli import show
from recollect.cli.answer import Answer, bar
from recollect.cli.options import Limit, PageMark, Shared, argument, option
from recollect.domain.job import JobReport, JobState
from recollect.domain.views import as_json
from recollect.errors import SettingsError
from recollect.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console


def where(shared: Shared) -> Answer:
    """Show where the data, the settings and the log are."""
    from recollect.settings import settings_file

    try:
        settings = shared.settings()
    except SettingsError as problem:
        hint = f"The settings file is {settings_file()}; variables begin with RECOLLECT_."
        raise SettingsError(problem.message, hint=hint) from None
    places = {
        "data directory": settings.data_dir,
        "database": settings.database,
        "settings file": settings_file(),
        "log file": settings.log_file,
    }
    if settings.server_url:
        # Only what lies beside a server's database is a file.
        places["beside server"] = places.pop("database").parent
    value: dict[str, object] = {
        name.replace(" ", "_"): {"path": str(path), "exists": path.exists()}
        for name, path in places.items()
    }
    if not settings.server_url:
        return Answer(value, lambda console: show.places(console, places))

    def tell(console: Console) -> None:
        show.line(console, f"{settings.store_name} holds the memory.")
        show.places(console, places)

    return Answer({"server": settings.store_name, **value}, tell)


async def backup(
    memory: Memory,
    target: Annotated[Path, argument("File to create; it must not exist yet.")],
) -> Answer:
    """Copy the database and the archived contents, and check the copy, while they are in use.

    An agent with a store of its own (`agents.NAME.store`) is not in it: `recollect backup FILE
    --agent NAME` copies that store.
    """
    contents = await memory.backup(target)
    size = target.stat().st_size
    told = f"Backed up to {target} ({size:,} bytes), with {contents.copied:,} archived contents."
    if contents.lost:
        told += f" {len(contents.lost):,} contents are gone or damaged: the log names them."
    if contents.agents_left_out:
        names = ", ".join(contents.agents_left_out)
        told += (
            f" Not in it, since they have stores of their own: {names} (--agent NAME copies it)."
        )
    return show.said({"path": str(target), "bytes": size, **as_json(contents)}, told)


async def restore(
    shared: Shared, copy: Annotated[Path, argument("A file made by backup.")]
) -> Answer:
    """Replace the database, which must not be in use, with a backup.

    The previous database is kept beside it; what was forgotten since the backup stays forgotten.
    """
    from recollect.assemble.stores import restore as bring_back

    settings = shared.settings()
    kept = "; the previous one is kept beside it" if settings.database.exists() else ""
    database = await bring_back(copy, settings)
    return show.said({"path": str(database)}, f"Restored {database}{kept}.")


async def copy(
    shared: Shared,
    origin: Annotated[
        str, option("File, folder or database URL to copy.", "--from", metavar="PLACE")
    ],
    target: Annotated[str, option("Empty place of any of these kinds.", "--to", metavar="PLACE")],
) -> Answer:
    """Copy everything from one store to another, of whichever kind.

    Every table row by row (records, versions, turns, proposals, the audit, jobs,
    session state, vectors), archived contents, and what was forgotten; both sides
    are compared in the end. Run again, it goes on where it was interrupted.
    Nobody should write to the source meanwhile: what comes later is not copied.
    With --agent it copies that agent's memory alone, to any store that has none of it;
    `recollect agents move` copies it and switches.
    """
    from recollect.assemble.stores import copy_agent, copy_store
    from recollect.settings import Settings

    places = Settings.at(origin), Settings.at(target)
    with bar("Copying") as progress:
        if shared.agent is None:
            copied = await copy_store(*places, progress=progress)
        else:
            copied = await copy_agent(*places, shared.agent, progress=progress)
    rows = sum(copied.rows.values())
    told = (
        f"Copied {rows:,} rows of {len(copied.rows)} tables and {copied.contents:,} archived "
        "contents; both sides are the same."
    )
    if copied.lost:
        told += f" {len(copied.lost):,} contents were gone or damaged in the source."
    return show.said(as_json(copied), told)


async def work(
    memory: Memory,
    once: Annotated[bool, option("Run the jobs that are due, then stop.", "--once")] = False,
) -> Answer:
    """Run background jobs until Ctrl-C."""
    ran = await memory.work()
    if not once:
        typer.echo("Working; Ctrl-C stops.", err=True)
        ran += await _work_until_stopped(memory)
    jobs = (await memory.stats()).jobs
    value = {"ran": ran, "waiting": jobs.waiting, "failed": jobs.failed}
    told = f"{ran} jobs done, {jobs.waiting} waiting, {jobs.failed} failed."
    return show.said(value, told)


async def _work_until_stopped(memory: Memory) -> int:
    import asyncio

    ran = 0
    try:
        while True:
            await asyncio.sleep(1)
            ran += await memory.work()
    except asyncio.CancelledError:
        # Ctrl-C, which is how this ends.
        return ran


# --- `recollect jobs`: background jobs, their progress and results --------------------------------

JobId = Annotated[str, argument("The job.", metavar="ID")]


async def list_jobs(
    memory: Memory,
    state: Annotated[
        str | None, option("waiting, running, failed, done or cancelled.", metavar="STATE")
    ] = None,
    kind: Annotated[str | None, option("Only of this kind.", metavar="KIND")] = None,
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
    return show.said(job, _told(job))


async def cancel_job(memory: Memory, job_id: JobId) -> Answer:
    """Cancel a job; what it did so far is kept."""
    job = await memory.jobs.cancel(job_id)
    return show.said(job, _told(job))


def _told(job: JobReport) -> str:
    when = f"{job.at.astimezone():%Y-%m-%d %H:%M}"
    told = f"{job.id} · {job.kind} · {job.state} · {when}"
    if job.total is not None:
        told += f" · {job.done or 0:,} of {job.total:,}"
    return f"{told} · {job.error}" if job.error else told


# --- The command that loads and removes the demo workspace ----------------------------------------

Language = Literal["en", "zh"]


async def demo(
    memory: Memory,
    language: Annotated[Language, option("Language of the demo.")] = "en",
    remove: Annotated[bool, option("Forget everything in the demo workspace.", "--remove")] = False,
) -> Answer:
    """Load the workspace `demo` with made-up people, to look around in the console."""
    from recollect.demo import WORKSPACE, load_demo, remove_demo

    if remove:
        gone = await remove_demo(memory)
        told = f"Removed the demo workspace: {gone['records']:,} records, {gone['turns']:,} turns."
        return show.said({"workspace": WORKSPACE, **gone}, told)
    held = await load_demo(memory, language)
    told = (
        f"Loaded the workspace {WORKSPACE}: {held['records']:,} records,"
        f" {held['sessions']:,} sessions. Start the console: recollect serve"
    )
    return show.said({"workspace": WORKSPACE, **held}, told)
