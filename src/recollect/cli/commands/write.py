"""Commands that use the write pipeline and show what it decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.commands.records import Key, Text
from recollect.cli.options import RecordOptions, argument, one_of, option
from recollect.domain.views import as_json
from recollect.domain.write import Route, Trace, WritePolicy, Written
from recollect.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console


async def write(
    memory: Memory,
    text: Text,
    record: RecordOptions,
    namespace: Annotated[str | None, option("One of your own, such as user_profile/ann.")] = None,
    buffered: Annotated[bool, option("Start in the short-term buffer.", "--buffered")] = False,
    idempotency_key: Key = None,
) -> Answer:
    """Remember a claim after comparing it with what is stored.

    --meta strategy=overwrite, append or summarise chooses how a change is applied.
    """
    written = await memory.write(
        text,
        namespace=namespace,
        explicit=not buffered,
        idempotency_key=idempotency_key,
        **record.given(),
    )
    return Answer.of(written, _tell_written)


async def extract(
    memory: Memory,
    session: Annotated[
        str | None, argument("One session; default: all of them.", metavar="SESSION")
    ] = None,
    of_session: Annotated[
        str | None, option("The same as SESSION.", "--session", metavar="ID")
    ] = None,
) -> Answer:
    """Extract what is worth remembering from conversations; no turn is read twice."""
    found = await memory.extract(one_of(session, of_session, "SESSION", "--session"))

    def tell(console: Console) -> None:
        if not found:
            show.line(console, "Nothing new to remember.")
        for written in found:
            _tell_written(console, written)

    return Answer(found, tell)


async def trace(
    memory: Memory,
    write_id: Annotated[str, argument("A write's id, shown by write and extract.", metavar="ID")],
) -> Answer:
    """Show what each step of a write decided, and why."""
    return Answer.of(await memory.trace(write_id), _tell_trace)


async def route(
    memory: Memory,
    text: Text,
    policy: Annotated[
        WritePolicy | None, option("auto, explicit or off; default: from the settings.")
    ] = None,
    said_before: Annotated[str, option("What the assistant said before it.", "--context")] = "",
) -> Answer:
    """Decide whether a message needs memory to be answered and whether to remember it."""
    return Answer.of(await memory.route(text, policy=policy, context=said_before), _tell_route)


def _tell_written(console: Console, written: Written) -> None:
    because = f": {written.reason}" if written.reason else ""
    show.line(console, f"{written.status} ({written.write_id}){because}")
    if written.record is not None:
        show.record_card(console, written.record)
    if written.degraded:
        show.line(console, f"A model was not available, so rules decided: {written.degraded}")
    if written.conflict is not None:
        show.line(
            console,
            "It conflicts with another record; both are kept until you decide: "
            f"`recollect resolve {written.conflict} keep_second` keeps this one, "
            "`recollect conflicts` shows both.",
        )


def _tell_trace(console: Console, found: Trace) -> None:
    show.line(console, f"{found.id} at {found.created_at:%Y-%m-%d %H:%M:%S} UTC")
    table = show.plain_table("step", "ms", "result")
    for step in found.steps:
        rows = as_json(step.result)
        took = "-" if step.ms is None else f"{step.ms:,.1f}"
        table.add_row(step.name, took, show.harmless(show.told(rows)) if rows else "-")
    console.print(table)


def _tell_route(console: Console, found: Route) -> None:
    show.line(console, f"read: {'yes' if found.should_read else 'no'}")
    show.line(console, f"write: {'yes' if found.should_write else 'no'}")
    show.line(console, f"namespaces: {', '.join(found.namespaces) or '-'}")
    if found.reason:
        show.line(console, f"reason: {found.reason}")
    show.line(console, f"by: {found.by}")


async def names(
    memory: Memory,
    name: Annotated[list[str] | None, argument("The names; they replace those set before.")] = None,
) -> Answer:
    """Show or set the names of the user."""
    if name:
        await memory.set_user_names(name)
    known = sorted(await memory.user_names())
    return show.said({"items": known}, ", ".join(known))
