"""`recollect archives`: archived tool results and their retention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.options import Limit, Most, PageMark, Question, argument, option
from recollect.domain.archive import Archive
from recollect.domain.views import as_json
from recollect.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console

Session = Annotated[str | None, option("Only of this session.", metavar="ID")]


async def list_archives(
    memory: Memory,
    session: Session = None,
    tool: Annotated[str | None, option("Only of this tool.", metavar="NAME")] = None,
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Answer:
    """List archived tool results, newest first."""
    found = await memory.archives.list(session=session, tool=tool, limit=limit, cursor=cursor)
    return show.paged(found, _tell, "No archived tool results.")


async def show_archive(
    memory: Memory,
    archive_id: Annotated[str, argument("The archive.", metavar="ID")],
    query: Annotated[str | None, option("Only the passages about this.", metavar="TEXT")] = None,
    range: Annotated[
        str | None, option("Only a range: lines 10-20 or chars 0-2000.", metavar="RANGE")
    ] = None,
) -> Answer:
    """Show one archived tool result with its content."""
    archive = await memory.archives.get(archive_id)
    text = await memory.load_tool_history(archive_id, query, range)
    return show.said({**as_json(archive), "text": text}, text)


async def search_archives(
    memory: Memory,
    query: Question,
    session: Session = None,
    limit: Most = None,
) -> Answer:
    """Find passages of archived tool results, with the scores of what was found."""
    found = await memory.archives.search(query, session=session, limit=limit)
    return Answer.of(found, show.recalled)


async def delete_archive(
    memory: Memory,
    archive_id: Annotated[str, argument("The archive.", metavar="ID")],
) -> Answer:
    """Delete an archived tool result and its content for good."""
    gone = await memory.archives.delete(archive_id)
    return show.said(gone, f"Removed {gone.id}.")


async def sweep(
    memory: Memory,
    dry_run: Annotated[bool, option("Only report what would be removed.", "--dry-run")] = False,
) -> Answer:
    """Delete archived results that are past retention or over the configured limits."""
    swept = await memory.archives.sweep(dry_run=dry_run)

    def tell(console: Console) -> None:
        for it in swept.archives:
            _tell(console, it)
        done = "would be removed" if dry_run else "removed"
        show.line(console, f"{len(swept.archives):,} archives ({swept.bytes:,} bytes) {done}.")

    return Answer({**as_json(swept), "bytes": swept.bytes}, tell)


def _tell(console: Console, it: Archive) -> None:
    size = f"{it.chars:,} characters" if it.is_text else f"{it.bytes:,} bytes"
    when = f"{it.created_at.astimezone():%Y-%m-%d %H:%M}"
    show.line(console, f"{it.id} · {it.tool} · {when} · {size} · session {it.session}")
    show.line(console, f"  {it.query}")
