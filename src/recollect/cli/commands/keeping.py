"""Commands about the data as a whole: where it lies, copies of it, work on it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.options import Shared
from recollect.domain.views import as_json
from recollect.errors import SettingsError
from recollect.memory import Memory


def where(shared: Shared) -> Answer:
    """Where the data, the settings and the log are."""
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
    value = {
        name.replace(" ", "_"): {"path": str(path), "exists": path.exists()}
        for name, path in places.items()
    }
    return Answer(value, lambda console: show.places(console, places))


async def backup(
    memory: Memory,
    target: Annotated[Path, typer.Argument(help="File to make; it must not exist yet.")],
) -> Answer:
    """Copy the database and the archived contents, checked, while others go on using them."""
    contents = await memory.backup(target)
    size = target.stat().st_size
    told = f"Backed up to {target} ({size:,} bytes), with {contents.copied:,} archived contents."
    if contents.lost:
        told += f" {len(contents.lost):,} contents are gone or damaged: the log names them."
    return Answer(
        {"path": str(target), "bytes": size, **as_json(contents)},
        lambda console: show.line(console, told),
    )


async def restore(
    shared: Shared, copy: Annotated[Path, typer.Argument(help="A file made by backup.")]
) -> Answer:
    """Put a backup in the place of the database, which nobody may have open.

    What was there is kept beside it; what was forgotten since the backup stays forgotten.
    """
    from recollect.assemble.restoring import restore as bring_back

    settings = shared.settings()
    kept = "; the one that was there is kept beside it" if settings.database.exists() else ""
    database = await bring_back(copy, settings)
    return Answer(
        {"path": str(database)},
        lambda console: show.line(console, f"Restored {database}{kept}."),
    )


async def work(
    memory: Memory,
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, then stop.")] = False,
) -> Answer:
    """Do background work until Ctrl-C."""
    ran = await memory.work()
    if not once:
        typer.echo("Working; Ctrl-C stops.", err=True)
        ran += await _work_until_stopped(memory)
    jobs = (await memory.stats()).jobs
    value = {"ran": ran, "waiting": jobs.waiting, "failed": jobs.failed}
    told = f"{ran} jobs done, {jobs.waiting} waiting, {jobs.failed} given up."
    return Answer(value, lambda console: show.line(console, told))


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
