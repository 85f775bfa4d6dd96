"""`recollect audit`: the audit log, its verification and the replay of past recalls."""

from __future__ import annotations

from typing import Annotated, Final

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.options import Limit, PageMark, argument, option
from recollect.memory import Memory

_CHANGED: Final = 5


async def tail(
    memory: Memory,
    limit: Limit = 20,
    cursor: PageMark = None,
    action: Annotated[
        str | None, option("Only remember, update, observe, inject …", metavar="WORD")
    ] = None,
    target: Annotated[str | None, option("Only entries about this.", metavar="ID")] = None,
) -> Answer:
    """Show the audit log, newest first."""
    page = await memory.audit.tail(limit=limit, cursor=cursor, action=action, target=target)
    return show.listed(page, show.entry_line, none="No entries.")


async def show_entries(
    memory: Memory,
    id: Annotated[str, argument("A record, a turn or a recall.")],
) -> Answer:
    """Show every entry about a record, a turn or a recall, oldest first."""
    return Answer.of(await memory.audit.show(id), show.entries_in_full)


async def verify(memory: Memory) -> Answer:
    """Verify the whole audit log of the workspace; exit code 5 if it was changed."""
    verdict = await memory.audit.verify()
    return Answer.of(verdict, show.verdict, 0 if verdict.is_intact else _CHANGED)


async def replay(
    memory: Memory,
    recall_id: Annotated[str, argument("The recall_id that `context` and `audit tail` print.")],
) -> Answer:
    """Compare what a past prompt was given with what the same query returns now."""
    return Answer.of(await memory.audit.replay(recall_id), show.replay)
