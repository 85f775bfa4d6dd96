"""Commands that only read."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.commands.saving import RecordId
from recollect.cli.explain import explained
from recollect.cli.input import moment_of, text_of
from recollect.cli.options import FilterOptions
from recollect.domain.filters import OwnerKind
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
    Among.ARCHIVES: "archive",
}


async def recall(
    memory: Memory,
    query: Annotated[
        str, typer.Argument(help="The question; - reads it from standard input.", callback=text_of)
    ],
    where: FilterOptions,
    limit: Annotated[
        int | None, typer.Option(help="How many at most; default: from the settings.")
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(help="How good at least, 0 to 1; default: from the settings.")
    ] = None,
    among: Annotated[
        list[Among] | None,
        typer.Option("--in", help="Look among these (repeatable); default: records and turns."),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Also show why, in tables.")] = False,
) -> Answer:
    """What is remembered about a question, best first."""
    filters = where.filters()
    filters["owners"] = [_OWNERS[it] for it in among or ()]
    found = await memory.recall(query, limit=limit, min_score=min_score, **filters)

    def tell(console: Console) -> None:
        show.recalled(console, found)
        if explain:
            explained(console, found)

    return Answer(found, tell)


async def list_records(
    memory: Memory,
    where: FilterOptions,
    limit: Annotated[int, typer.Option(help="How many on a page.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Where the page before ended.")] = None,
) -> Answer:
    """Records that pass the filters, the latest first, a page at a time."""
    page = await memory.list(limit=limit, cursor=cursor, **where.filters())
    return Answer(page, lambda console: show.page_of_records(console, page))


async def list_turns(
    memory: Memory,
    where: FilterOptions,
    limit: Annotated[int, typer.Option(help="How many on a page.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Where the page before ended.")] = None,
) -> Answer:
    """Turns of conversations, the latest first; with --session that one in its order."""
    page = await memory.turns(limit=limit, cursor=cursor, **where.filters())
    return Answer(page, lambda console: show.page_of_turns(console, page))


async def show_record(
    memory: Memory,
    record_id: Annotated[str, typer.Argument(metavar="ID", help="A record's or a turn's id.")],
    as_of: Annotated[
        str | None, typer.Option(metavar="TIME", help="As it was known at this time.")
    ] = None,
) -> Answer:
    """One record or turn with everything that is known about it."""
    if record_id.startswith("turn_"):
        turn = await memory.turn(record_id)
        return Answer(turn, lambda console: show.in_full(console, turn))
    record = await memory.get(
        record_id, as_of=None if as_of is None else moment_of(as_of, "--as-of")
    )
    return Answer(record, lambda console: show.in_full(console, record))


async def history(memory: Memory, record_id: RecordId) -> Answer:
    """Every version of a record, who made it and why."""
    versions = await memory.history(record_id)
    return Answer(versions, lambda console: show.versions(console, versions))


async def stats(memory: Memory) -> Answer:
    """How much is stored, and how the parts are doing."""
    figures = await memory.stats()
    return Answer(figures, lambda console: show.stats(console, figures))
