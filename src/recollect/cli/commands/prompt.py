"""Commands around a prompt: what goes into it and what of that helped."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.commands.records import RecordId
from recollect.cli.options import CommonFilterOptions, text_of
from recollect.domain.record import Procedure, Record
from recollect.memory import Memory


async def context(
    memory: Memory,
    message: Annotated[
        str, typer.Argument(help="The message; - reads it from standard input.", callback=text_of)
    ],
    where: CommonFilterOptions,
    limit: Annotated[
        int | None, typer.Option(help="Maximum number of items; default: from the settings.")
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(help="Minimum score, 0 to 1; default: from the settings.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Maximum length; default: from the settings.")
    ] = None,
    form: Annotated[
        Literal["structured", "flat"] | None, typer.Option(help="Default: from the settings.")
    ] = None,
    language: Annotated[
        Literal["zh", "en"] | None,
        typer.Option(help="Language of the headings; default: that of the message."),
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="The session of the prompt.")
    ] = None,
) -> Answer:
    """Print what is remembered for a message, as a block for the prompt.

    Nothing is printed when nothing is good enough. The recall_id, which `audit replay` takes, goes
    to stderr, so that stdout holds only the block.
    """
    made = await memory.context(
        message,
        limit=limit,
        min_score=min_score,
        max_tokens=max_tokens,
        form=form,
        language=language,
        session=session,
        **where.common(),
    )

    def tell(console: show.Console) -> None:
        if made.text:
            show.line(console, made.text)
            print(f"recall_id: {made.recall_id}", file=sys.stderr)

    return Answer(made, tell)


async def used(
    memory: Memory,
    record_id: RecordId,
    failed: Annotated[
        bool, typer.Option("--failed", help="The record was used and did not help.")
    ] = False,
) -> Answer:
    """Report that a record was used; one that helped ranks a little higher in later recalls."""
    return _told(await memory.used(record_id, success=not failed))


async def rejected(memory: Memory, record_id: RecordId) -> Answer:
    """Report that a record did not help; it ranks a little lower in later recalls."""
    return _told(await memory.rejected(record_id))


def _told(record: Record) -> Answer:
    words = f"{record.id}: helped {record.helped:,}×, no help {record.rejected:,}×"
    procedure = record.details
    if isinstance(procedure, Procedure) and procedure.success_rate is not None:
        words += f"; used {procedure.usage_count:,}×, {procedure.success_rate:.0%} with success"
    return Answer(record, lambda console: show.line(console, words))
