"""Commands that move memory out of a database and into another."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Annotated, BinaryIO, Final

import typer

from recollect.cli import show
from recollect.cli.answer import Answer, say
from recollect.cli.options import Shared
from recollect.cli.progress import bar
from recollect.domain.transfer import ExportCounts, Imported
from recollect.domain.views import as_json
from recollect.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console

_CONFLICTS: Final = 4
_STANDARD_INPUT: Final = 0

AllScopes = Annotated[
    bool,
    typer.Option(
        "--all-scopes",
        "--all",
        help="Everybody's and what is shared, not only this caller's: for an operator.",
    ),
]


async def export_to(
    memory: Memory,
    shared: Shared,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="File to make, compressed if it ends with .gz; - for stdout."
        ),
    ],
    all_scopes: AllScopes = False,
) -> Answer | None:
    """Write what this caller may import again as JSON lines.

    Records with their history, turns, archived tool results with their
    contents, conflicts, and how far sessions were read. What the workspace
    shares, and proposals for it, need --all-scopes. The scratch state of
    sessions is left behind; traces of writes and the audit stay with the database:
    `recollect backup` copies them.
    """
    target = sys.stdout.buffer if file == "-" else file
    with bar("Exporting") as progress:
        counts = await memory.export_to(target, all_scopes=all_scopes, progress=progress)
    if file != "-":
        told = _exported(counts, f" to {file}")
        value = {"path": file, **as_json(counts)}
        return Answer(value, lambda console: show.line(console, told))
    # Standard output has the lines themselves.
    typer.echo(json.dumps(as_json(counts)) if shared.json else _exported(counts), err=True)
    return None


async def import_from(
    memory: Memory,
    shared: Shared,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file made by export; - for stdin.")
    ],
    all_scopes: AllScopes = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave bad lines out and list them.")
    ] = False,
) -> None:
    """Add what an export holds and is missing here.

    What is stored stays as it is, and what was forgotten here stays forgotten.
    A line that contradicts it is listed, as is an archive whose content is
    missing or damaged, and the exit code is 4. Files of earlier formats are
    read too. After a break the same command goes on.
    """
    import asyncio

    source = _standard_input() if file == "-" else file
    try:
        with bar("Importing") as progress:
            done = await memory.import_from(
                source, all_scopes=all_scopes, skip_bad=skip_bad, progress=progress
            )
    except asyncio.CancelledError:
        typer.echo("Stopped; what was added is kept. The same command goes on.", err=True)
        raise
    say(Answer(done, lambda console: _tell(console, done)), as_object=shared.json)
    if done.conflicting or done.lost:
        raise typer.Exit(_CONFLICTS)


def _standard_input() -> BinaryIO:
    # A reader of its own: on Ctrl-C one that waits in sys.stdin would keep Python from ending.
    return os.fdopen(_STANDARD_INPUT, "rb", closefd=False)


def _exported(counts: ExportCounts, where: str = "") -> str:
    told = (
        f"{counts.records:,} records ({counts.versions:,} versions), {counts.turns:,} turns and "
        f"{counts.archives:,} archives written{where}."
    )
    if counts.lost:
        told += (
            f" {len(counts.lost):,} archives have no content in it, which is gone or damaged: "
            "the log names them."
        )
    return told


def _tell(console: Console, done: Imported) -> None:
    told = f"{done.added:,} added, {done.unchanged:,} unchanged, {done.conflicting:,} conflicting"
    if done.lost:
        told += f", {done.lost:,} archives without their content"
    show.line(console, f"{told}, {done.bad:,} bad lines left out.")
    for problem in done.problems:
        show.line(console, f"line {problem.line}: {problem.message} ({problem.code})")
    if (unlisted := done.conflicting + done.lost + done.bad - len(done.problems)) > 0:
        show.line(console, f"… and {unlisted:,} more.")
