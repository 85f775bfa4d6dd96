"""`recollect eval`: whether recall answers the questions of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.cli import show
from recollect.cli.answer import Answer, bar, say
from recollect.cli.options import Shared
from recollect.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.evaluation.questions import OwnQuestions, Shares

_TOO_FEW = 1
_LONGEST = 100


async def evaluate(
    memory: Memory,
    shared: Shared,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="One question a line, as JSON.")],
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many hits to look at.")] = 5,
    at_least: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Exit with 1 if a smaller share is answered."),
    ] = None,
) -> None:
    """Ask the questions of FILE and tell how often recall answers them.

    Each line is {"ask": "Where does Ann live?", "want": ["Basel"]}: a hit is right when it contains
    one of the texts. "ids" names records instead, and "nothing": true says that nothing is to be
    found; "group" counts questions apart. Nothing in memory is changed.
    """
    from recollect.evaluation.questions import ask_all, read_questions

    questions = read_questions(file)
    with bar("Asking") as progress:
        told = await ask_all(memory, questions, limit=limit, step=progress)
    say(Answer(told, lambda console: _tell(console, told)), as_object=shared.json)
    right = 1 - len(told.missed) / len(questions)
    if at_least is not None and right < at_least:
        raise typer.Exit(_TOO_FEW)


def _tell(console: Console, told: OwnQuestions) -> None:
    _tell_shares(console, "all", told.overall)
    for name, shares in told.groups.items():
        _tell_shares(console, name, shares)
    show.line(console, f"recall p50 {told.recall_p50_ms} ms, p95 {told.recall_p95_ms} ms")
    for it in told.missed:
        best = it.best[:_LONGEST] or "nothing"
        show.line(console, f"not answered: {it.question.ask} (found first: {best})")


def _tell_shares(console: Console, name: str, shares: Shares) -> None:
    figures = {
        "first": shares.first,
        "in three": shares.in_three,
        "found": shares.found,
        "silent": shares.silent,
    }
    shown = "  ".join(f"{title} {it:.3f}" for title, it in figures.items() if it is not None)
    show.line(console, f"{name} ({shares.questions}): {shown}")
