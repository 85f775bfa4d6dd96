"""Commands that only read."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.commands.records import RecordId
from recollect.cli.options import FilterOptions, PageMark, moment_of, text_of
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
    query: Annotated[
        str, typer.Argument(help="The question; - reads it from standard input.", callback=text_of)
    ],
    where: FilterOptions,
    limit: Annotated[
        int | None, typer.Option(help="Maximum number; default: from the settings.")
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(help="Minimum score, 0 to 1; default: from the settings.")
    ] = None,
    among: Annotated[
        list[Among] | None,
        typer.Option("--in", help="Search these (repeatable); default: records and turns."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also explain the scores in tables.")
    ] = False,
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
    limit: Annotated[int, typer.Option(help="Number per page.")] = 50,
    cursor: PageMark = None,
) -> Answer:
    """List the records that match the filters, latest first."""
    page = await memory.list(limit=limit, cursor=cursor, **where.filters())
    return Answer(page, lambda console: show.page_of_records(console, page))


async def list_turns(
    memory: Memory,
    where: FilterOptions,
    limit: Annotated[int, typer.Option(help="Number per page.")] = 50,
    cursor: PageMark = None,
) -> Answer:
    """List turns, latest first; with --session, that session in order."""
    page = await memory.turns(limit=limit, cursor=cursor, **where.filters())
    return Answer(page, lambda console: show.page_of_turns(console, page))


async def show_record(
    memory: Memory,
    record_id: Annotated[str, typer.Argument(metavar="ID", help="A record's or a turn's id.")],
    as_of: Annotated[
        str | None, typer.Option(metavar="TIME", help="As it was known at this time.")
    ] = None,
) -> Answer:
    """Show one record or turn with all its details."""
    if record_id.startswith("turn_"):
        turn = await memory.turn(record_id)
        return Answer(turn, lambda console: show.in_full(console, turn))
    record = await memory.get(
        record_id, as_of=None if as_of is None else moment_of(as_of, "--as-of")
    )
    return Answer(record, lambda console: show.in_full(console, record))


async def history(memory: Memory, record_id: RecordId) -> Answer:
    """Show every version of a record, with its author and reason."""
    versions = await memory.history(record_id)
    return Answer(versions, lambda console: show.versions(console, versions))


async def stats(memory: Memory) -> Answer:
    """Show how much is stored and the state of the services."""
    figures = await memory.stats()
    return Answer(figures, lambda console: show.stats(console, figures))
