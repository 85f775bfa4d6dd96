"""Commands that only read."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.commands.records import RecordId
from recollect.cli.options import (
    FilterOptions,
    Most,
    PageMark,
    PerPage,
    Question,
    argument,
    moment_of,
    option,
)
from recollect.cli.show import explained
from recollect.domain.unit import ARCHIVE, OwnerKind
from recollect.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console


class Among(StrEnum):
    """Where to look."""

    RECORDS = "records"
    TURNS = "turns"
    ARCHIVES = "archives"


_OWNERS: Final[dict[Among, OwnerKind]] = {
    Among.RECORDS: "record",
    Among.TURNS: "turn",
    Among.ARCHIVES: ARCHIVE,
}


async def recall(
    memory: Memory,
    query: Question,
    where: FilterOptions,
    limit: Most = None,
    min_score: Annotated[
        float | None, option("Minimum score, 0 to 1; default: from the settings.")
    ] = None,
    among: Annotated[
        list[Among] | None, option("Search these (repeatable); default: records and turns.", "--in")
    ] = None,
    explain: Annotated[bool, option("Also explain the scores in tables.", "--explain")] = False,
) -> Answer:
    """Recall what is remembered about a query, best first."""
    filters = where.filters()
    filters["owners"] = [_OWNERS[it] for it in among or ()]
    found = await memory.recall(query, limit=limit, min_score=min_score, **filters)
    # Documents have a search of their own, which nobody knows from the start.
    has_documents = not found.hits and bool(await memory.knowledge.collections())

    def tell(console: Console) -> None:
        show.recalled(console, found)
        if has_documents:
            show.line(console, "Documents are searched by `recollect kb search`.")
        if explain:
            explained(console, found)

    return Answer(found, tell)


async def list_records(
    memory: Memory,
    where: FilterOptions,
    limit: PerPage = 50,
    cursor: PageMark = None,
) -> Answer:
    """List the records that match the filters, latest first."""
    page = await memory.list(limit=limit, cursor=cursor, **where.filters())
    return show.records(page)


async def list_turns(
    memory: Memory,
    where: FilterOptions,
    limit: PerPage = 50,
    cursor: PageMark = None,
) -> Answer:
    """List turns, latest first; with --session, that session in order."""
    page = await memory.turns(limit=limit, cursor=cursor, **where.filters())
    return show.paged(page, show.turn_card, "No turns.")


async def show_record(
    memory: Memory,
    record_id: Annotated[str, argument("A record's or a turn's id.", metavar="ID")],
    as_of: Annotated[str | None, option("As it was known at this time.", metavar="TIME")] = None,
) -> Answer:
    """Show one record or turn with all its details."""
    if record_id.startswith("turn_"):
        return Answer.of(await memory.turn(record_id), show.in_full)
    record = await memory.get(record_id, as_of=moment_of(as_of, "--as-of"))
    return Answer.of(record, show.in_full)


async def history(memory: Memory, record_id: RecordId) -> Answer:
    """Show every version of a record, with its author and reason."""
    return Answer.of(await memory.history(record_id), show.versions)


async def stats(memory: Memory) -> Answer:
    """Show how much is stored and the state of the services."""
    return Answer.of(await memory.stats(), show.stats)
