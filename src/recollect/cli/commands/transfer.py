"""Commands that move memory out of a database and into another."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, BinaryIO, Final

import typer

from recollect.cli import show
from recollect.cli.answer import Answer, bar, say
from recollect.cli.options import Shared
from recollect.domain.transfer import ExportCounts, Imported, ImportedChats, LineProblem
from recollect.domain.views import as_json
from recollect.errors import InvalidInput
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
        help="All scopes and what is shared, not only this caller's; for an operator.",
    ),
]


async def export_to(
    memory: Memory,
    shared: Shared,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="File to create, compressed if it ends with .gz; - for stdout."
        ),
    ],
    all_scopes: AllScopes = False,
) -> Answer | None:
    """Export what this caller may import again as JSON lines.

    An export holds records with their history, turns, archived tool results with their contents,
    conflicts, and how far sessions were read. Shared records and proposals need --all-scopes. The
    scratch state of sessions is not exported; traces of writes and the audit log stay with the
    database: `recollect backup` copies them. An import puts everything back to the user and agent
    it was exported for.
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
        str,
        typer.Argument(metavar="FILE", help="A file made by export or a chat; - for stdin."),
    ],
    all_scopes: AllScopes = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Skip bad lines and list them.")
    ] = False,
    chat: Annotated[
        bool,
        typer.Option(
            "--chat", help="FILE is a chat history: JSON lines, or from ChatGPT or Claude."
        ),
    ] = False,
    session: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="With --chat: the conversation of messages that name none."
        ),
    ] = None,
) -> None:
    """Import what an export holds and this database lacks.

    Every line goes back to the user and agent it was exported for. Import as that caller (--user,
    --agent), or as an operator with --all-scopes; another caller's lines are refused.

    What is stored stays unchanged, and what was forgotten here stays forgotten. A conflicting line
    is listed, as is an archive whose content is missing or damaged, and the exit code is 4. Files
    of earlier formats can be read. After an interruption, run the same command again.

    With --chat the file is a chat history: messages as JSON lines (role, content, timestamp), or
    the file or archive that ChatGPT or Claude exports. Its messages become turns of this caller.
    Messages that are already here are skipped.
    """
    import asyncio

    if (chat and all_scopes) or (session is not None and not chat):
        given = "--all-scopes" if chat else "--session"
        raise InvalidInput(
            f"{given} does not go {'with' if chat else 'without'} --chat", code="bad_usage"
        )
    source = _standard_input() if file == "-" else file
    try:
        with bar("Importing") as progress:
            if chat:
                chats = await memory.import_chat(
                    source, session=session, skip_bad=skip_bad, progress=progress
                )
                say(Answer(chats, lambda it: _tell_chats(it, chats)), as_object=shared.json)
                return
            done = await memory.import_from(
                source, all_scopes=all_scopes, skip_bad=skip_bad, progress=progress
            )
    except asyncio.CancelledError:
        typer.echo("Stopped; what was added is kept. Run the same command to continue.", err=True)
        raise
    say(Answer(done, lambda console: _tell(console, done)), as_object=shared.json)
    if done.conflicting or done.lost:
        raise typer.Exit(_CONFLICTS)


def _standard_input() -> BinaryIO:
    # A reader of its own: on Ctrl-C one that waits in sys.stdin would keep Python from ending.
    return os.fdopen(_STANDARD_INPUT, "rb", closefd=False)


def _exported(counts: ExportCounts, where: str = "") -> str:
    told = (
        f"{counts.records:,} records ({counts.versions:,} versions), {counts.turns:,} turns, "
        f"{counts.archives:,} archives, {counts.documents:,} documents and {counts.items:,} items "
        f"written{where}."
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
    _tell_problems(console, done.problems, done.conflicting + done.lost + done.bad)


def _tell_chats(console: Console, done: ImportedChats) -> None:
    show.line(
        console,
        f"{done.conversations:,} conversations: {done.added:,} messages added, {done.known:,} "
        f"here already, {done.empty:,} without words, {done.bad:,} bad ones left out.",
    )
    _tell_problems(console, done.problems, done.bad)


def _tell_problems(console: Console, problems: Sequence[LineProblem], number: int) -> None:
    for problem in problems:
        show.line(console, f"line {problem.line}: {problem.message} ({problem.code})")
    if (unlisted := number - len(problems)) > 0:
        show.line(console, f"… and {unlisted:,} more.")
