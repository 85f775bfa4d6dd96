"""Commands that diagnose problems and create missing vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from recollect.cli import show
from recollect.cli.answer import Answer, bar
from recollect.cli.command import log_to, require_memory
from recollect.cli.commands.models import NAMES, NO_MODEL, Chosen, choose, tried_model
from recollect.cli.options import Shared, option
from recollect.domain.views import as_json
from recollect.errors import NotAvailable, SettingsError
from recollect.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.domain.followers import Reconciled
    from recollect.domain.stats import Diagnosis

_PROBLEM: Final = 5
_POLL_SECONDS: Final = 1.0


async def reindex(
    shared: Shared,
    model: Annotated[
        str | None, option(f"Switch to a model: one of {NAMES}.", "--model", metavar="NAME")
    ] = None,
    background: Annotated[
        bool, option("Leave the work to a running process or to `recollect work`.", "--background")
    ] = False,
    status: Annotated[
        bool, option("Only report the progress, in whichever process it runs.", "--status")
    ] = False,
    stop: Annotated[
        bool, option("Stop it in whichever process it runs; what was made is kept.", "--stop")
    ] = False,
) -> Answer:
    """Create missing vectors, or switch to another model; safe to interrupt.

    Until a model has made all vectors of a scope, the previous one is used there.
    """
    require_memory(shared.settings())
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
    """Create the missing vectors and report the result."""
    import asyncio

    name = chosen.check.model if chosen is not None else (await memory.stats()).embedder
    if name == NO_MODEL and memory.settings.embedder.model != NO_MODEL:
        raise NotAvailable(
            "The embedding model is not available, so no vectors can be made",
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
    """Report the progress of a model switch, after stopping it if asked."""
    stopped = {"stopped": await memory.stop_reindexing()} if stop else {}
    now = await memory.reindexing()

    def tell(console: Console) -> None:
        if stop:
            show.line(console, "Stopped." if stopped["stopped"] else "Nothing to stop.")
        state = "a switch is running" if now.is_going_on else "no switch is running"
        show.line(
            console,
            f"{now.model or 'no model'}: {now.units - now.lacking:,} of {now.units:,} units have "
            f"a vector; {state}.",
        )
        if now.stale:
            show.line(
                console,
                f"{now.stale:,} units were analysed by an earlier version; `recollect work` or "
                "any running process analyses them again.",
            )

    return Answer({**stopped, **as_json(now)}, tell)


async def reconcile(
    shared: Shared,
    dry_run: Annotated[bool, option("Only compare, and repair nothing.", "--dry-run")] = False,
    rebuild: Annotated[bool, option("Empty the stores and build them anew.", "--rebuild")] = False,
    clear: Annotated[
        bool, option("Empty the stores before you leave them out of the settings.", "--clear")
    ] = False,
) -> Answer:
    """Compare derived stores, such as a vector store, with the database, and repair them.

    Safe to interrupt; recall goes on meanwhile.
    """
    import asyncio

    async with Memory.open(shared.settings()) as memory:
        with bar("Comparing stores") as progress:
            wanted = memory.reconcile(dry_run=dry_run, rebuild=rebuild, clear=clear)
            work = asyncio.create_task(wanted)
            while not (await asyncio.wait([work], timeout=_POLL_SECONDS))[0]:
                states = (await memory.stats()).followers
                progress(sum(it.done for it in states), sum(it.total for it in states))
        stores = await work

    def tell(console: Console) -> None:
        for store in stores:
            show.line(console, _compared(store))
        if not stores:
            show.line(console, "There is no derived store (storage.vectors); nothing to compare.")

    return Answer([as_json(store) for store in stores], tell)


def _compared(store: Reconciled) -> str:
    """Return what was found in a store, in one line."""
    found = f"{store.name}: {store.items:,} entries of {store.scopes:,} scopes"
    if not (store.missing or store.extra):
        return f"{found}, no difference"
    done = "repaired" if store.repaired else "not repaired"
    return f"{found}, {store.missing:,} missing, {store.extra:,} to be removed; {done}"


async def doctor(
    shared: Shared,
    fix: Annotated[
        bool,
        option(
            "Remove the access of others to the data; with --deep also damaged parts of the "
            "index, which are made anew.",
            "--fix",
        ),
    ] = False,
    deep: Annotated[
        bool, option("Also read everything stored: texts, contents and index.", "--deep")
    ] = False,
) -> Answer:
    """Check every part and say how to fix what is wrong; exit code 5 if there is a problem."""
    diagnosis = await _diagnosis(shared, fix=fix, deep=deep)
    return Answer.of(diagnosis, show.diagnosis, _PROBLEM if diagnosis.verdict == "problem" else 0)


async def _changed(shared: Shared, model: str) -> Chosen:
    """Choose a model that makes vectors; change nothing for one that does not."""
    tried = await tried_model(shared, model)
    if not tried.model:
        raise NotAvailable(
            f"{tried.name} makes no vectors",
            code="embedder_unusable",
            hint="`recollect models use none` makes recall use words only.",
        )
    return choose(shared, tried)


def _queued(model: str, pieces: int) -> str:
    return (
        f"{pieces:,} units get a vector of {model} from `recollect work` or any running process; "
        "`recollect reindex --status` shows the progress."
    )


def _told(model: str, pieces: int) -> str:
    if model == NO_MODEL:
        return "No model is wanted, so there are no vectors to make."
    if not pieces:
        return f"Nothing to do: every unit has a vector of {model}."
    return f"{pieces:,} units had no vector of {model}; all that it can read have one now."


async def _diagnosis(shared: Shared, *, fix: bool, deep: bool) -> Diagnosis:
    from recollect.assemble.doctor import diagnose, diagnose_settings, make_private

    try:
        settings = shared.settings()
    except SettingsError as problem:
        return diagnose_settings(problem)
    log_to(settings.log_file)
    if fix:
        await make_private(settings)
    if not deep:
        return await diagnose(settings)
    with bar("Reading everything") as progress:
        return await diagnose(settings, deep=True, mend=fix, progress=progress)
