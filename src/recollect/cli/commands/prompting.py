"""Commands around a prompt: what goes into it, and what of that helped."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.commands.saving import RecordId
from recollect.cli.input import text_of
from recollect.cli.options import CommonFilterOptions
from recollect.domain.record import Procedure, Record
from recollect.memory import Memory


async def context(
    memory: Memory,
    message: Annotated[
        str, typer.Argument(help="The message; - reads it from standard input.", callback=text_of)
    ],
    where: CommonFilterOptions,
    limit: Annotated[
        int | None, typer.Option(help="How many items at most; default: from the settings.")
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(help="How good at least, 0 to 1; default: from the settings.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="How long at most; default: from the settings.")
    ] = None,
    form: Annotated[
        Literal["structured", "flat"] | None, typer.Option(help="Default: from the settings.")
    ] = None,
    language: Annotated[
        Literal["zh", "en"] | None, typer.Option(help="Of the headings; default: the message's.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="The session that the prompt belongs to.")
    ] = None,
) -> Answer:
    """What is remembered for a message, as a block for the prompt; nothing if nothing is.

    Its recall_id, by which `audit replay` tells later what the prompt was given, goes to stderr:
    what is on stdout is the block alone.
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
    failed: Annotated[bool, typer.Option("--failed", help="It was used and did not help.")] = False,
) -> Answer:
    """Tell that a record was used: what helped counts a little more in later recalls."""
    return _told(await memory.used(record_id, success=not failed))


async def rejected(memory: Memory, record_id: RecordId) -> Answer:
    """Tell that a record was no help: it counts a little less in later recalls."""
    return _told(await memory.rejected(record_id))


def _told(record: Record) -> Answer:
    words = f"{record.id}: helped {record.helped:,}×, no help {record.rejected:,}×"
    procedure = record.details
    if isinstance(procedure, Procedure) and procedure.success_rate is not None:
        words += f"; used {procedure.usage_count:,}×, {procedure.success_rate:.0%} with success"
    return Answer(record, lambda console: show.line(console, words))
