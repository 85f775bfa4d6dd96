"""Commands that find out what is wrong, and make vectors that are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import typer

from recollect.cli import show
from recollect.cli.answer import Answer, say
from recollect.cli.logs import log_to
from recollect.cli.options import Shared
from recollect.cli.progress import bar
from recollect.errors import NotAvailable, SettingsError
from recollect.memory import Memory

if TYPE_CHECKING:
    from recollect.domain.diagnosis import Diagnosis

_PROBLEM: Final = 5


async def reindex(memory: Memory) -> Answer:
    """Make the vectors that are missing, as after a change of the model; Ctrl-C loses little."""
    import asyncio

    model = (await memory.stats()).embedder
    if model == "none" and memory.settings.embedding.model != "none":
        raise NotAvailable(
            "The embedding model cannot be had, so no vectors can be made",
            code="embedder_unusable",
            hint="`recollect models check` says why.",
        )
    try:
        with bar("Making vectors") as progress:
            pieces = await memory.reindex(progress)
    except asyncio.CancelledError:
        typer.echo("Stopped; the vectors made so far are kept. The same command goes on.", err=True)
        raise
    return Answer(
        {"model": model, "pieces": pieces},
        lambda console: show.line(console, _told(model, pieces)),
    )


async def doctor(shared: Shared) -> None:
    """How every part is doing and how to mend it; the exit code is 5 if there is a problem."""
    diagnosis = await _diagnosis(shared)
    say(
        Answer(diagnosis, lambda console: show.diagnosis(console, diagnosis)),
        as_object=shared.json,
    )
    if diagnosis.verdict == "problem":
        raise typer.Exit(_PROBLEM)


def _told(model: str, pieces: int) -> str:
    if model == "none":
        return "No model is wanted, so there are no vectors to make."
    if not pieces:
        return f"Nothing was missing: every piece has a vector of {model}."
    return f"{pieces:,} pieces had no vector of {model}; all that it can read have one now."


async def _diagnosis(shared: Shared) -> Diagnosis:
    from recollect.assemble import diagnose, diagnose_settings

    try:
        settings = shared.settings()
    except SettingsError as problem:
        return diagnose_settings(problem)
    log_to(settings.log_file)
    return await diagnose(settings)
