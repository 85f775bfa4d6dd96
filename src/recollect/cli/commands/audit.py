"""`recollect audit`: the audit log, its verification and the replay of past recalls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from recollect.cli import show
from recollect.cli.answer import Answer, say
from recollect.cli.options import Limit, PageMark, Shared
from recollect.memory import Memory

if TYPE_CHECKING:
    from recollect.domain.audit import AuditVerdict

_CHANGED: Final = 5


async def tail(
    memory: Memory,
    limit: Limit = 20,
    cursor: PageMark = None,
    action: Annotated[
        str | None, typer.Option(metavar="WORD", help="Only remember, update, observe, inject …")
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="ID", help="Only entries about this.")
    ] = None,
) -> Answer:
    """Show the audit log, newest first."""
    page = await memory.audit.tail(limit=limit, cursor=cursor, action=action, target=target)
    return Answer(page, lambda console: show.page_of_entries(console, page))


async def show_entries(
    memory: Memory,
    id: Annotated[str, typer.Argument(help="A record, a turn or a recall.")],
) -> Answer:
    """Show every entry about a record, a turn or a recall, oldest first."""
    entries = await memory.audit.show(id)
    return Answer(entries, lambda console: show.entries_in_full(console, entries))


async def verify(memory: Memory, shared: Shared) -> None:
    """Verify the whole audit log of the workspace; exit code 5 if it was changed."""
    verdict: AuditVerdict = await memory.audit.verify()
    say(
        Answer(verdict, lambda console: show.verdict(console, verdict)),
        as_object=shared.json,
    )
    if not verdict.is_intact:
        raise typer.Exit(_CHANGED)


async def replay(
    memory: Memory,
    recall_id: Annotated[
        str, typer.Argument(help="The recall_id that `context` and `audit tail` print.")
    ],
) -> Answer:
    """Compare what a past prompt was given with what the same query returns now."""
    replayed = await memory.audit.replay(recall_id)
    return Answer(replayed, lambda console: show.replay(console, replayed))
