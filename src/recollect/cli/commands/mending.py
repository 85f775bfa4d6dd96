"""Commands that find out what is wrong, and make vectors that are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from recollect.cli import show
from recollect.cli.answer import Answer, say
from recollect.cli.commands.choosing import NAMES, NO_MODEL, Chosen, choose, tried_model
from recollect.cli.logs import log_to
from recollect.cli.options import Shared
from recollect.cli.progress import bar
from recollect.domain.views import as_json
from recollect.errors import NotAvailable, SettingsError
from recollect.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.domain.diagnosis import Diagnosis

_PROBLEM: Final = 5


async def reindex(
    shared: Shared,
    model: Annotated[
        str | None,
        typer.Option("--model", help=f"Change to a model: one of {NAMES}.", metavar="NAME"),
    ] = None,
    background: Annotated[
        bool, typer.Option("--background", help="Leave the work to an open memory or `work`.")
    ] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Only tell how far it is, wherever it goes on.")
    ] = False,
    stop: Annotated[
        bool, typer.Option("--stop", help="End it, wherever it goes on; what is made is kept.")
    ] = False,
) -> Answer:
    """Make the vectors that are missing, or change to another model; Ctrl-C loses little.

    Until a model has made all vectors of a scope, the one before it answers there.
    """
    if status or stop:
        async with Memory.open(shared.settings()) as memory:
            return await _followed(memory, stop=stop)
    chosen = None if model is None else await _changed(shared, model)
    settings = shared.settings()
    log_to(settings.log_file)
    async with Memory.open(settings) as memory:
        return await remade(memory, chosen, background=background)


async def remade(
    memory: Memory, chosen: Chosen | None = None, *, background: bool = False
) -> Answer:
    """What came of making vectors, of the model that was chosen now or is in use."""
    import asyncio

    name = chosen.check.model if chosen is not None else (await memory.stats()).embedder
    if name == NO_MODEL and memory.settings.embedder.model != NO_MODEL:
        raise NotAvailable(
            "The embedding model cannot be had, so no vectors can be made",
            code="embedder_unusable",
            hint="`recollect models check` says why.",
        )
    try:
        with bar("Making vectors") as progress:
            pieces = await memory.reindex(
                progress, model=None if chosen is None else chosen.name, background=background
            )
    except asyncio.CancelledError:
        typer.echo(
            "Stopped; the vectors made so far are kept. The same command goes on, and so does "
            "`recollect work` or a memory that is open.",
            err=True,
        )
        raise

    def tell(console: Console) -> None:
        if chosen is not None:
            chosen.tell(console)
        show.line(console, _queued(name, pieces) if background else _told(name, pieces))

    return Answer({"model": name, "pieces": pieces, "queued": background}, tell)


async def _followed(memory: Memory, *, stop: bool) -> Answer:
    """How far a change of the model is, after it was ended if that is wished."""
    stopped = {"stopped": await memory.stop_reindexing()} if stop else {}
    now = await memory.reindexing()

    def tell(console: Console) -> None:
        if stop:
            show.line(console, "Ended." if stopped["stopped"] else "Nothing goes on.")
        state = "goes on" if now.is_going_on else "does not go on"
        show.line(
            console,
            f"{now.model or 'no model'}: {now.units - now.lacking:,} of {now.units:,} pieces have "
            f"a vector; a change {state}.",
        )
        if now.stale:
            show.line(
                console,
                f"{now.stale:,} pieces are found as an earlier version read them; an open memory "
                "or `recollect work` reads them again.",
            )

    return Answer({**stopped, **as_json(now)}, tell)


async def doctor(shared: Shared) -> None:
    """How every part is doing and how to mend it; the exit code is 5 if there is a problem."""
    diagnosis = await _diagnosis(shared)
    say(
        Answer(diagnosis, lambda console: show.diagnosis(console, diagnosis)),
        as_object=shared.json,
    )
    if diagnosis.verdict == "problem":
        raise typer.Exit(_PROBLEM)


async def _changed(shared: Shared, model: str) -> Chosen:
    """Take a model that makes vectors; nothing is changed by one that does not."""
    tried = await tried_model(shared, model)
    if not tried.model:
        raise NotAvailable(
            f"{tried.name} makes no vectors",
            code="embedder_unusable",
            hint="`recollect models use none` lets search go by words only.",
        )
    return choose(shared, tried)


def _queued(model: str, pieces: int) -> str:
    return (
        f"{pieces:,} pieces get a vector of {model} by `recollect work` or a memory that is open; "
        "`recollect doctor` tells how far it is."
    )


def _told(model: str, pieces: int) -> str:
    if model == NO_MODEL:
        return "No model is wanted, so there are no vectors to make."
    if not pieces:
        return f"Nothing was missing: every piece has a vector of {model}."
    return f"{pieces:,} pieces had no vector of {model}; all that it can read have one now."


async def _diagnosis(shared: Shared) -> Diagnosis:
    from recollect.assemble.doctoring import diagnose, diagnose_settings

    try:
        settings = shared.settings()
    except SettingsError as problem:
        return diagnose_settings(problem)
    log_to(settings.log_file)
    return await diagnose(settings)
