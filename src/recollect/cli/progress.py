"""Telling how far long work is: on stderr while somebody looks, because stdout has the result."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recollect.domain.job import Progress

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def bar(what: str) -> Generator[Progress]:
    """A bar for work whose size is known."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = _stderr()
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as drawn:
        task = drawn.add_task(what, total=None)
        yield lambda done, total: drawn.update(task, completed=done, total=total)


@contextmanager
def steps(what: str) -> Generator[Callable[[str], None]]:
    """A spinner for work that can only say what it does now; what it said stays readable."""
    console = _stderr()

    def tell(step: str) -> None:
        status.update(step)
        console.print(f"{step} …", markup=False, highlight=False)

    with console.status(what) as status:
        yield tell


def _stderr() -> Console:
    from rich.console import Console

    return Console(stderr=True)
