"""Commands that move memory out of a database and into another."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, BinaryIO, Final

import typer

from recollect.cli import show
from recollect.cli.answer import Answer, bar
from recollect.cli.options import Shared, argument, option
from recollect.domain.transfer import (
    ORIGINS,
    ExportCounts,
    Imported,
    ImportedChats,
    LineProblem,
    MovedIn,
)
from recollect.domain.views import as_json
from recollect.errors import InvalidInput
from recollect.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console

_CONFLICTS: Final = 4
_STANDARD_INPUT: Final = 0

AllScopes = Annotated[
    bool,
    option(
        "All scopes and what is shared, not only this caller's; for an operator.",
        "--all-scopes",
        "--all",
    ),
]


async def export_to(
    memory: Memory,
    shared: Shared,
    file: Annotated[
        str,
        argument("File to create, compressed if it ends with .gz; - for stdout.", metavar="FILE"),
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
        return show.said(value, told)
    # Standard output has the lines themselves.
    typer.echo(json.dumps(as_json(counts)) if shared.json else _exported(counts), err=True)
    return None


async def import_from(
    memory: Memory,
    file: Annotated[
        str,
        argument(
            "A file made by export, a chat, or what --from names; - for stdin.", metavar="FILE"
        ),
    ],
    all_scopes: AllScopes = False,
    skip_bad: Annotated[bool, option("Skip bad lines and list them.", "--skip-bad")] = False,
    chat: Annotated[
        bool, option("FILE is a chat history: JSON lines, or from ChatGPT or Claude.", "--chat")
    ] = False,
    session: Annotated[
        str | None,
        option("With --chat: the conversation of messages that name none.", metavar="ID"),
    ] = None,
    origin: Annotated[
        str | None, option(f"Move in from {', '.join(ORIGINS)}.", "--from", metavar="MEMORY")
    ] = None,
    dry_run: Annotated[
        bool, option("With --from: only count what would be imported.", "--dry-run")
    ] = False,
    namespace: Annotated[
        str | None,
        option(
            "With --from langmem: whose a memory is, as 'app/{user}/{session}/*'.",
            metavar="PATTERN",
        ),
    ] = None,
) -> Answer:
    """Import what an export holds and this database lacks.

    Every line goes back to the user and agent it was exported for. Import as that caller (--user,
    --agent), or as an operator with --all-scopes; another caller's lines are refused.

    What is stored stays unchanged, and what was forgotten here stays forgotten. A conflicting line
    is listed, as is an archive whose content is missing or damaged, and the exit code is 4. Files
    of earlier formats can be read. After an interruption, run the same command again.

    With --chat the file is a chat history: messages as JSON lines (role, content, timestamp), or
    the file or archive that ChatGPT or Claude exports. Its messages become turns of this caller.
    Messages that are already here are skipped.

    With --from the file, the folder or the address is the store or the export of another memory:
    mem0 (the folder of its vector store, or JSON), langmem and langgraph (a SqliteStore's file,
    postgresql://…), letta (.af), zep (JSON), chatgpt and claude (the archive that was sent). What
    could not be carried over is counted with the reason. Importing again adds nothing twice.
    """
    import asyncio

    _require_usage(
        ("--all-scopes", all_scopes and chat, "with --chat"),
        ("--session", session is not None and not chat, "without --chat"),
        ("--chat", chat and origin is not None, "with --from"),
        ("--skip-bad", skip_bad and origin is not None, "with --from"),
        ("--dry-run", dry_run and origin is None, "without --from"),
        ("--namespace", namespace is not None and origin is None, "without --from"),
    )
    source = _standard_input() if file == "-" else file
    try:
        with bar("Importing") as progress:
            if origin is not None:
                moved = await memory.move_in(
                    source,
                    origin,
                    namespace=namespace,
                    all_scopes=all_scopes,
                    dry_run=dry_run,
                    progress=progress,
                )
                return Answer.of(moved, _tell_moved)
            if chat:
                chats = await memory.import_chat(
                    source, session=session, skip_bad=skip_bad, progress=progress
                )
                return Answer.of(chats, _tell_chats)
            done = await memory.import_from(
                source, all_scopes=all_scopes, skip_bad=skip_bad, progress=progress
            )
    except asyncio.CancelledError:
        typer.echo("Stopped; what was added is kept. Run the same command to continue.", err=True)
        raise
    return Answer.of(done, _tell, _CONFLICTS if done.conflicting or done.lost else 0)


def _require_usage(*rules: tuple[str, bool, str]) -> None:
    for given, is_wrong, where in rules:
        if is_wrong:
            raise InvalidInput(f"{given} does not go {where}", code="bad_usage")


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


def _tell_moved(console: Console, done: MovedIn) -> None:
    counts = {"memories": done.records, "messages": done.messages, "items": done.items}
    told = [
        f"{it.added:,} {name} {'to add' if done.dry_run else 'added'}, {it.known:,} here already"
        for name, it in counts.items()
        if it.added or it.known
    ]
    show.line(console, f"{done.origin}: {'; '.join(told) or 'nothing to import'}.")
    if done.conversations:
        show.line(console, f"The messages are of {done.conversations:,} conversations.")
    for name, count in done.owners.items():
        show.line(console, f"  {count:,} of {name}")
    for reason in done.left_out:
        example = f" (such as {reason.example})" if reason.example else ""
        show.line(console, f"Left out {reason.count:,}: {reason.reason}{example}")
    if done.dry_run:
        show.line(console, "Nothing was changed; leave --dry-run out to import it.")


def _tell_problems(console: Console, problems: Sequence[LineProblem], number: int) -> None:
    for problem in problems:
        show.line(console, f"line {problem.line}: {problem.message} ({problem.code})")
    if (unlisted := number - len(problems)) > 0:
        show.line(console, f"… and {unlisted:,} more.")
