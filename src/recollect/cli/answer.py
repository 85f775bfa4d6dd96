"""What a command says: one JSON document or text for a person, and progress on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, TypeVar

from recollect.domain.views import as_json
from recollect.errors import StorageError

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.domain.job import Progress
    from recollect.domain.write import Pending

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found or done, how to show it to a person, and the exit code of the command."""

    value: object
    show: Callable[[Console], None]
    status: int = 0

    @classmethod
    def of(cls, value: T, show: Callable[[Console, T], None], status: int = 0) -> Answer:
        """Return the answer of a value that is shown as a whole."""
        return cls(value, lambda console: show(console, value), status)


def say(answer: Answer, *, as_object: bool) -> None:
    """Print the answer on stdout."""
    try:
        if as_object:
            # JSON is UTF-8 whatever the terminal speaks.
            document = json.dumps(as_json(answer.value), ensure_ascii=False)
            sys.stdout.flush()
            sys.stdout.buffer.write(document.encode() + b"\n")
        else:
            answer.show(_console())
        sys.stdout.flush()
    except OSError as problem:
        # What is still in the buffer would fail once more when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(problem, BrokenPipeError):
            # Whoever reads has seen enough.
            raise SystemExit(1) from None
        raise StorageError(
            f"The answer could not be written: {problem.strerror}",
            code="output_unwritable",
            hint="The command itself was carried out.",
        ) from problem


def render(
    answer: Answer, *, as_object: bool, width: int | None, environment: Mapping[str, str]
) -> str:
    """Return what `say` would print on a terminal of this width, or where there is none."""
    if as_object:
        return json.dumps(as_json(answer.value), ensure_ascii=False) + "\n"
    from rich.console import Console

    written = StringIO()
    answer.show(
        Console(
            file=written,
            width=width,
            force_terminal=None if width is None else True,
            # A terminal's variables are those of whoever asks.
            _environ=environment,
            markup=False,
            emoji=False,
            highlight=False,
        )
    )
    return written.getvalue()


def tell_pending(pending: Pending) -> None:
    """Say on stderr what was told and is not read yet."""
    if pending:
        told = "1 message is" if pending.turns == 1 else f"{pending.turns:,} messages are"
        print(f"{told} still to be read; the next command goes on with that.", file=sys.stderr)


def _console() -> Console:
    # Drawing tables takes a library that most scripts never need.
    from rich.console import Console

    # What is remembered is shown as it is: `[red]` and `:tea:` in it are text.
    return Console(markup=False, emoji=False, highlight=False)


# --------------------------------------------------------------------------------------------------
# Telling how far long work is: on stderr while somebody looks, because stdout has the result.


@contextmanager
def bar(what: str) -> Generator[Progress]:
    """Show a bar for work whose size is known."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = _stderr()
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as drawn:
        task = drawn.add_task(what, total=None)
        yield lambda done, total: drawn.update(task, completed=done, total=total)


@contextmanager
def steps(what: str) -> Generator[Callable[[str], None]]:
    """Show a spinner with the current step; earlier steps stay readable."""
    console = _stderr()

    def tell(step: str) -> None:
        status.update(step)
        console.print(f"{step} …", markup=False, highlight=False)

    with console.status(what) as status:
        yield tell


def _stderr() -> Console:
    from rich.console import Console

    return Console(stderr=True)
