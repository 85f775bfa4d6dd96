"""Commands that keep memory in order: health, conflicts, quarantine, buffer and sweeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.commands.records import Reason, RecordId
from recollect.cli.options import PageMark, PerPage, argument, moment_of, option, text_of
from recollect.cli.show import line, record_card
from recollect.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.domain.record import Record
    from recollect.domain.relation import Resolution

ConflictId = Annotated[str, argument("The conflict's id.", metavar="ID")]
DryRun = Annotated[bool, option("Only report what would be done.", "--dry-run")]
Content = Annotated[
    str | None, option("The text; - reads it from standard input.", callback=text_of)
]


async def health(memory: Memory) -> Answer:
    """Show how much is stored, how far it is trusted, and what needs attention."""
    return Answer.of(await memory.upkeep.health(), show.health)


async def conflicts(memory: Memory) -> Answer:
    """List the open conflicts between records."""
    return Answer.of(await memory.upkeep.conflicts(), show.disputes)


async def resolve(
    memory: Memory,
    conflict_id: ConflictId,
    resolution: Annotated[
        str, argument("keep_first, keep_second, merge or both_at_different_times.")
    ],
    content: Content = None,
    at: Annotated[
        str | None, option("When the later record replaced the earlier one.", metavar="TIME")
    ] = None,
    reason: Reason = "",
) -> Answer:
    """Resolve a conflict; the previous versions of both records stay in their history."""
    decided = await memory.upkeep.resolve(
        conflict_id,
        cast("Resolution", resolution),
        content=content,
        at=moment_of(at, "--at"),
        reason=reason,
    )
    return Answer.of(decided, show.dispute)


async def reopen(
    memory: Memory,
    conflict_id: ConflictId,
    resolved_at: Annotated[
        str | None, option("Only the decision of this time, as --json shows it.", metavar="TIME")
    ] = None,
) -> Answer:
    """Take back the decision on a conflict: both records are as before, and it is open."""
    seen = moment_of(resolved_at, "--resolved-at")
    return Answer.of(await memory.upkeep.reopen(conflict_id, resolved_at=seen), show.dispute)


async def quarantine(
    memory: Memory,
    limit: PerPage = 50,
    cursor: PageMark = None,
) -> Answer:
    """List records that their source does not support; they are not recalled until accepted."""
    return show.records(await memory.upkeep.quarantined(limit=limit, cursor=cursor))


async def accept(
    memory: Memory, record_id: RecordId, content: Content = None, reason: Reason = ""
) -> Answer:
    """Release a record from quarantine, as it is or with new --content."""
    return _told("Accepted", await memory.upkeep.accept(record_id, content, reason=reason))


async def reject(memory: Memory, record_id: RecordId, reason: Reason = "") -> Answer:
    """Delete a quarantined record; undo restores it."""
    return _told("Rejected", await memory.upkeep.reject(record_id, reason))


async def buffer(memory: Memory) -> Answer:
    """List short-term records, newest and most important first, with the time they have left."""
    return Answer.of(await memory.upkeep.buffer(), show.buffered)


async def promote(memory: Memory, record_id: RecordId, reason: Reason = "") -> Answer:
    """Make a short-term record permanent."""
    return _told("Kept", await memory.upkeep.promote(record_id, reason=reason))


async def sweep(
    memory: Memory,
    dry_run: DryRun = False,
    all_scopes: Annotated[
        bool, option("Sweep the records of everybody in this database.", "--all-scopes")
    ] = False,
) -> Answer:
    """Hide or remove records that are expired, past retention, or over capacity."""
    return Answer.of(await memory.upkeep.sweep(dry_run=dry_run, all_scopes=all_scopes), show.swept)


def _told(what: str, record: Record) -> Answer:
    def tell(console: Console) -> None:
        line(console, f"{what}, version {record.version}:")
        record_card(console, record)

    return Answer(record, tell)
