"""Edits of a list of messages by index, so that any list of the same length can take them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from recollect.domain.message import Message
from recollect.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Keep:
    """An edit that keeps a message."""

    index: int


@dataclass(frozen=True, slots=True)
class Drop:
    """An edit that leaves a message out."""

    index: int


@dataclass(frozen=True, slots=True)
class Replace:
    """An edit that sends another message in its place."""

    index: int
    message: Message


@dataclass(frozen=True, slots=True)
class Insert:
    """An edit that sends a new message before the one at `before`, or at the end."""

    before: int
    message: Message


Edit: TypeAlias = Keep | Drop | Replace | Insert


def apply(messages: Sequence[Message], edits: Iterable[Edit]) -> tuple[Message, ...]:
    """Return the messages after the edits; messages without an edit are kept."""
    changes: dict[int, Keep | Drop | Replace] = {}
    inserted: dict[int, list[Message]] = {}
    for edit in edits:
        if isinstance(edit, Insert):
            _check_index(edit.before, len(messages))
            inserted.setdefault(edit.before, []).append(edit.message)
        else:
            _check_index(edit.index, len(messages) - 1)
            if edit.index in changes:
                raise InvalidInput(
                    f"Two edits change message {edit.index}", code="conflicting_edits"
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


def _check_index(index: int, last: int) -> None:
    if not 0 <= index <= last:
        raise InvalidInput(
            f"An edit changes message {index}, but the last is {last}", code="edit_out_of_range"
        )
