"""Commands after which something is gone for good."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.commands.saving import RecordId
from recollect.errors import InvalidInput
from recollect.memory import Memory


def _confirmed(yes: bool) -> bool:
    """Asked while options are read: nothing is open yet, and Ctrl-C works as everywhere."""
    if not yes:
        question = "The record and its whole history go for good; this cannot be undone. Go on?"
        print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
        yes = sys.stdin.readline().strip().lower() in {"y", "yes"}
    if not yes:
        raise InvalidInput(
            "Not confirmed; nothing was changed",
            code="not_confirmed",
            hint="--yes goes without asking.",
        )
    return True


Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.", callback=_confirmed)]


async def purge(memory: Memory, record_id: RecordId, yes: Yes = False) -> Answer:
    """Remove a deleted record with its history; this cannot be undone."""
    await memory.purge(record_id)
    return _gone("purged", record_id)


async def forget(memory: Memory, record_id: RecordId, yes: Yes = False) -> Answer:
    """Delete and purge at once; this cannot be undone."""
    await memory.forget(record_id)
    return _gone("forgotten", record_id)


def _gone(how: str, record_id: str) -> Answer:
    return Answer(
        {"id": record_id, "status": how},
        lambda console: show.line(console, f"{record_id} is {how}; this cannot be undone."),
    )
