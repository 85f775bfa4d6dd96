"""Edits of a list of messages by index, so that any list of the same length can take them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from recollect.domain.message import Message
from recollect.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep the message."""

    index: int


@dataclass(frozen=True, slots=True)
class Drop:
    """Do not send the message."""

    index: int


@dataclass(frozen=True, slots=True)
class Replace:
    """Send another message in its place."""

    index: int
    message: Message


@dataclass(frozen=True, slots=True)
class Insert:
    """Send a new message before the one at `before`, or at the end."""

    before: int
    message: Message


Edit: TypeAlias = Keep | Drop | Replace | Insert


def apply(messages: Sequence[Message], edits: Iterable[Edit]) -> tuple[Message, ...]:
    """Return the messages after the edits; messages without an edit are kept."""
    changes: dict[int, Keep | Drop | Replace] = {}
    inserted: dict[int, list[Message]] = {}
    for edit in edits:
        if isinstance(edit, Insert):
            _refuse_outside(edit.before, len(messages))
            inserted.setdefault(edit.before, []).append(edit.message)
        else:
            _refuse_outside(edit.index, len(messages) - 1)
            if edit.index in changes:
                raise InvalidInput(
                    f"Two edits speak of message {edit.index}", code="conflicting_edits"
                )
            changes[edit.index] = edit
    result: list[Message] = []
    for index, message in enumerate(messages):
        result += inserted.get(index, ())
        match changes.get(index):
            case Drop():
                pass
            case Replace(message=other):
                result.append(other)
            case _:
                result.append(message)
    return (*result, *inserted.get(len(messages), ()))


def _refuse_outside(index: int, last: int) -> None:
    if not 0 <= index <= last:
        raise InvalidInput(
            f"An edit speaks of message {index}, and the last is {last}", code="edit_out_of_range"
        )
