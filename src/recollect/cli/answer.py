"""What a command says: one JSON document for scripts, or text laid out for a person."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.domain.views import as_json

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found or done, and how to show it to a person."""

    value: object
    show: Callable[[Console], None]


def say(answer: Answer, *, as_object: bool) -> None:
    """Print the answer on stdout."""
    if as_object:
        # JSON is UTF-8 whatever the terminal speaks.
        document = json.dumps(as_json(answer.value), ensure_ascii=False)
        sys.stdout.flush()
        sys.stdout.buffer.write(document.encode() + b"\n")
        sys.stdout.buffer.flush()
    else:
        answer.show(_console())


def _console() -> Console:
    # Drawing tables takes a library that most scripts never need.
    from rich.console import Console

    # What is remembered is shown as it is: `[red]` and `:tea:` in it are text.
    return Console(markup=False, emoji=False, highlight=False)
