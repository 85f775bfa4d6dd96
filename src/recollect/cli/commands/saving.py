"""Commands that put something into memory or change it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.input import moment_of, one_of, text_of
from recollect.cli.options import RecordOptions
from recollect.domain.record import Record
from recollect.errors import InvalidInput
from recollect.memory import Memory

Text = Annotated[
    str, typer.Argument(help="The text; - reads it from standard input.", callback=text_of)
]
RecordId = Annotated[str, typer.Argument(metavar="ID", help="The record's id.")]
Reason = Annotated[str, typer.Option(help="Why, for the history.", show_default=False)]
Key = Annotated[
    str | None, typer.Option(help="The same key with the same request happens only once.")
]


async def remember(
    memory: Memory, text: Text, record: RecordOptions, idempotency_key: Key = None
) -> Answer:
    """Save one record, durably."""
    saved = await memory.remember(text, idempotency_key=idempotency_key, **record.given())
    return _told("Remembered", saved)


async def edit(
    memory: Memory,
    record_id: RecordId,
    record: RecordOptions,
    text: Annotated[
        str | None,
        typer.Argument(help="The new text; - reads it from standard input.", callback=text_of),
    ] = None,
    content: Annotated[str | None, typer.Option(help="The same as TEXT.", callback=text_of)] = None,
    expected_version: Annotated[
        int | None, typer.Option(help="Only if the record is still at this version.")
    ] = None,
    reason: Reason = "",
) -> Answer:
    """Change a record; what it said before stays in its history.

    An empty value, such as --valid-to '', takes a time, a label or a list away.
    """
    fields = record.given()
    text = one_of(text, content, "TEXT", "--content")
    if text is None and not fields:
        raise InvalidInput(
            "Nothing to change was given",
            code="nothing_to_change",
            hint="Give a new text or an option such as --title.",
        )
    changed = await memory.update(
        record_id,
        text,
        expected_version=expected_version,
        reason=reason,
        **fields,
    )
    return _told("Changed", changed)


async def observe(
    memory: Memory,
    text: Text,
    role: Annotated[str, typer.Option(help="user, assistant, system, tool …")] = "user",
    name: Annotated[str | None, typer.Option(help="Who speaks.")] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="The conversation; default: a new one.")
    ] = None,
    task: Annotated[str | None, typer.Option(metavar="ID", help="The task.")] = None,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="When it was said, if not now.")
    ] = None,
    idempotency_key: Key = None,
) -> Answer:
    """Keep one message of a conversation, as it was said."""
    message: dict[str, Any] = {"role": role, "content": text}
    if name is not None:
        message["name"] = name
    if at is not None:
        message["at"] = moment_of(at, "--at")
    (turn,) = await memory.observe(
        [message], session=session, task=task, idempotency_key=idempotency_key
    )
    return Answer(turn, lambda console: show.turn_card(console, turn))


async def delete(memory: Memory, record_id: RecordId, reason: Reason = "") -> Answer:
    """Hide a record everywhere; undo brings it back."""
    return _told("Deleted", await memory.delete(record_id, reason=reason))


async def undo(memory: Memory, record_id: RecordId, reason: Reason = "") -> Answer:
    """Take back the last change of a record, a deletion too; again, the one before it."""
    return _told("Back", await memory.undo(record_id, reason=reason))


def _told(what: str, record: Record) -> Answer:
    def tell(console: show.Console) -> None:
        show.line(console, f"{what}, version {record.version}:")
        show.record_card(console, record)

    return Answer(record, tell)
