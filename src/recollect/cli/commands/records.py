"""Commands that save something to memory or change it."""

from __future__ import annotations

from typing import Annotated, Any

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.options import RecordOptions, argument, moment_of, one_of, option, text_of
from recollect.domain.record import Record
from recollect.domain.upkeep import BulkChange
from recollect.errors import InvalidInput
from recollect.memory import Memory

Text = Annotated[str, argument("The text; - reads it from standard input.", callback=text_of)]
RecordId = Annotated[str, argument("The record's id.", metavar="ID")]
RecordIds = Annotated[list[str], argument("The records' ids.", metavar="ID…")]
Reason = Annotated[str, option("Reason, kept in the history.", show_default=False)]
ExpectedVersion = Annotated[int | None, option("Only if the record is still at this version.")]
Key = Annotated[str | None, option("The same request with the same key is carried out only once.")]


async def remember(
    memory: Memory, text: Text, record: RecordOptions, idempotency_key: Key = None
) -> Answer:
    """Save one record durably."""
    saved = await memory.remember(text, idempotency_key=idempotency_key, **record.given())
    return _told("Remembered,", saved)


async def edit(
    memory: Memory,
    record_id: RecordId,
    record: RecordOptions,
    text: Annotated[
        str | None, argument("The new text; - reads it from standard input.", callback=text_of)
    ] = None,
    content: Annotated[str | None, option("The same as TEXT.", callback=text_of)] = None,
    expected_version: ExpectedVersion = None,
    reason: Reason = "",
) -> Answer:
    """Change a record; the previous version stays in its history.

    An empty value, such as --valid-to '', clears a time, a label or a list.
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
    return _told("Changed,", changed)


async def observe(
    memory: Memory,
    text: Text,
    role: Annotated[str, option("user, assistant, system, tool …")] = "user",
    name: Annotated[str | None, option("Name of the speaker.")] = None,
    session: Annotated[
        str | None, option("The conversation; default: a new one.", metavar="ID")
    ] = None,
    task: Annotated[str | None, option("The task.", metavar="ID")] = None,
    at: Annotated[str | None, option("When it was said; default: now.", metavar="TIME")] = None,
    idempotency_key: Key = None,
) -> Answer:
    """Store one message of a conversation."""
    message: dict[str, Any] = {"role": role, "content": text}
    if name is not None:
        message["name"] = name
    if at is not None:
        message["at"] = moment_of(at, "--at")
    (turn,) = await memory.observe(
        [message], session=session, task=task, idempotency_key=idempotency_key
    )
    return Answer.of(turn, show.turn_card)


async def delete(memory: Memory, record_ids: RecordIds, reason: Reason = "") -> Answer:
    """Hide records everywhere; undo restores each of them."""
    if len(record_ids) == 1:
        return _told("Deleted,", await memory.delete(record_ids[0], reason=reason))
    return _told_many("deleted", await memory.delete_many(record_ids, reason=reason))


async def tag(
    memory: Memory,
    record_ids: RecordIds,
    add: Annotated[list[str] | None, option("A tag to add.")] = None,
    remove: Annotated[list[str] | None, option("A tag to remove.")] = None,
    reason: Reason = "",
) -> Answer:
    """Add or remove tags of records."""
    changed = await memory.update_many(
        record_ids, add_tags=add or (), remove_tags=remove or (), reason=reason
    )
    return _told_many("changed", changed)


async def undo(
    memory: Memory,
    record_id: RecordId,
    expected_version: ExpectedVersion = None,
    reason: Reason = "",
) -> Answer:
    """Revert the last change of a record, including a deletion; repeat to go further back."""
    restored = await memory.undo(record_id, expected_version=expected_version, reason=reason)
    return _told("Restored as", restored)


def _told(what: str, record: Record) -> Answer:
    def tell(console: show.Console) -> None:
        show.line(console, f"{what} version {record.version}:")
        show.record_card(console, record)

    return Answer(record, tell)


def _told_many(what: str, done: BulkChange) -> Answer:
    def tell(console: show.Console) -> None:
        show.line(console, f"{len(done.changed):,} records {what}.")
        for it in done.failed:
            show.line(console, f"{it.id}: {it.message}")

    return Answer(done, tell)
