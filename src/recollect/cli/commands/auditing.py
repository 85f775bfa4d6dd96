"""`recollect audit`: what happened, the proof that nobody changed it, and past recalls again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from recollect.cli import show_audit
from recollect.cli.answer import Answer, say
from recollect.cli.groups import run_group
from recollect.cli.options import Shared
from recollect.memory import Memory

if TYPE_CHECKING:
    from recollect.domain.audit import AuditVerdict

_CHANGED: Final = 5


def audit(context: typer.Context) -> None:
    """See what happened to memory and by whom, and check that nobody changed the account."""
    run_group(
        context,
        "What happened to memory, by whom and why.",
        {"tail": tail, "list": tail, "show": show, "verify": verify, "replay": replay},
    )


async def tail(
    memory: Memory,
    limit: Annotated[int, typer.Option(help="How many at most.")] = 20,
    cursor: Annotated[
        str | None, typer.Option(metavar="CURSOR", help="Go on where the last page ended.")
    ] = None,
    action: Annotated[
        str | None, typer.Option(metavar="WORD", help="Only remember, update, observe, inject …")
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="ID", help="Only what was done to this.")
    ] = None,
) -> Answer:
    """What happened, the latest first."""
    page = await memory.audit.tail(limit=limit, cursor=cursor, action=action, target=target)
    return Answer(page, lambda console: show_audit.page_of_entries(console, page))


async def show(
    memory: Memory,
    id: Annotated[str, typer.Argument(help="A record, a turn or a recall.")],
) -> Answer:
    """All that happened to one thing or because of it, in its order."""
    entries = await memory.audit.show(id)
    return Answer(entries, lambda console: show_audit.entries_in_full(console, entries))


async def verify(memory: Memory, shared: Shared) -> None:
    """Check the whole chain of the workspace; the exit code is 5 if something was changed."""
    verdict: AuditVerdict = await memory.audit.verify()
    say(
        Answer(verdict, lambda console: show_audit.verdict(console, verdict)),
        as_object=shared.json,
    )
    if not verdict.is_intact:
        raise typer.Exit(_CHANGED)


async def replay(
    memory: Memory,
    recall_id: Annotated[str, typer.Argument(help="As `context` and `audit tail` tell it.")],
) -> Answer:
    """What a prompt was given then, and what the same question gives now."""
    replayed = await memory.audit.replay(recall_id)
    return Answer(replayed, lambda console: show_audit.replay(console, replayed))
