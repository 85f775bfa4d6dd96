"""The command that loads and removes the demo workspace."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.memory import Memory

Language = Literal["en", "zh"]


async def demo(
    memory: Memory,
    language: Annotated[
        Language, typer.Option(help="In which language the people of the demo talk.")
    ] = "en",
    remove: Annotated[
        bool, typer.Option("--remove", help="Forget everything in the demo workspace.")
    ] = False,
) -> Answer:
    """Load the workspace `demo` with made-up people, to look around in the console."""
    from recollect.demo import WORKSPACE, load_demo, remove_demo

    if remove:
        gone = await remove_demo(memory)
        told = f"Removed the demo workspace: {gone['records']:,} records, {gone['turns']:,} turns."
        return Answer({"workspace": WORKSPACE, **gone}, lambda console: show.line(console, told))
    held = await load_demo(memory, language)
    told = (
        f"Loaded the workspace {WORKSPACE}: {held['records']:,} records,"
        f" {held['sessions']:,} sessions. Start the console: recollect serve"
    )
    return Answer({"workspace": WORKSPACE, **held}, lambda console: show.line(console, told))
