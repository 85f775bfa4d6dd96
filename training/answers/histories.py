"""Invented histories: what somebody told an assistant over months, and what they ask at the end.

A file in `data` (histories_*.txt) is made to be written by hand:

    # who they are                             a history begins
    @ 12                                       day 12 begins a conversation
    7 u what the user says                     the number is the name of a message
    8 a what the assistant says
    ? a question | now 7 | was 3               what answers it now, and what answered it before
    ! a request | now 2 7                      what a good answer to a request uses
    - a question or request that nothing answers

`python -m training.answers.histories FILE...` checks files and counts what they hold.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_MESSAGE: Final = re.compile(r"(\d+) ([ua]) (\S.*)")
_ASKED: Final = re.compile(r"[?!] (?P<q>[^|]+?) \| now(?P<now>( \d+)+)( \| was(?P<was>( \d+)+))?")


@dataclass(frozen=True, slots=True)
class Message:
    """What was said, on which day, and by whom."""

    name: int
    day: int
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A question or request, with the names of the messages that answer it and that did."""

    text: str
    now: frozenset[int] = frozenset()
    was: frozenset[int] = frozenset()
    is_request: bool = False


@dataclass(slots=True)
class History:
    """Everything that one person told, and asks."""

    who: str
    messages: list[Message] = field(default_factory=list[Message])
    asked: list[Asked] = field(default_factory=list[Asked])


def read_histories(file: Path) -> Iterator[History]:
    """Yield the histories of a file; a line that cannot be read is an error."""
    history: History | None = None
    day = 0
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        text = line.strip()
        if text.startswith("# "):
            if history is not None:
                yield history
            history, day = History(text[2:]), 0
        elif not text:
            continue
        elif history is None:
            raise ValueError(f"{file.name}:{number}: no history has begun")
        elif text.startswith("@ ") and int(text[2:]) >= day:
            day = int(text[2:])
        elif found := _MESSAGE.fullmatch(text):
            name, speaker, said = found.groups()
            history.messages.append(Message(int(name), day, speaker, said))
        elif text.startswith("- "):
            history.asked.append(Asked(text[2:]))
        elif found := _ASKED.fullmatch(text):
            now, was = (frozenset(map(int, (found[it] or "").split())) for it in ("now", "was"))
            history.asked.append(Asked(found["q"], now, was, is_request=text[0] == "!"))
        else:
            raise ValueError(f"{file.name}:{number}: cannot be read: {text[:60]}")
    if history is not None:
        yield history


def faults(history: History) -> Iterator[str]:
    """Yield what is wrong with a history."""
    names = [it.name for it in history.messages]
    if len(set(names)) < len(names):
        yield "two messages have one name"
    for asked in history.asked:
        if missing := (asked.now | asked.was) - set(names):
            yield f"{asked.text}: there is no message {min(missing)}"
        if asked.now & asked.was:
            yield f"{asked.text}: one message answers it now and did before"


def main() -> None:
    for file in map(Path, sys.argv[1:]):
        histories = list(read_histories(file))
        for history in histories:
            for fault in faults(history):
                print(f"{file.name}: {history.who[:40]}: {fault}")
        asked = [it for history in histories for it in history.asked]
        print(
            f"{file.name}: {len(histories)} histories,",
            f"{sum(len(it.messages) for it in histories)} messages,",
            f"{sum(bool(it.now) and not it.is_request for it in asked)} questions,",
            f"{sum(bool(it.was) for it in asked)} with changes,",
            f"{sum(it.is_request for it in asked)} requests,",
            f"{sum(not it.now for it in asked)} unanswered",
        )


if __name__ == "__main__":
    main()
