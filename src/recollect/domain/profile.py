"""The profile of a user: what must hold in every answer, each line from one record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from recollect.domain.record import Record

TAG: Final = "profile"
"""The tag of a record that is shown in the profile although its facet does not belong there."""

_HIDDEN: Final = "profile"
_WRITTEN_BY: Final = "written_by"
_MARKS: Final = frozenset({_HIDDEN, _WRITTEN_BY})

Author = Literal["model", "person"]
"""Who wrote the words of a record, where its evidence does not tell: a model that called a tool, or
a person who changed them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileLine:
    """One line of a profile: a record, the attribute it states, and its words."""

    id: str
    version: int
    facet: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The current profile of a user, as a prompt gets it.

    `text` is the block for the prompt, empty without any lines. What a person has hidden is in
    `hidden`, and what the budget has no room for in `left_out`.
    """

    lines: tuple[ProfileLine, ...] = ()
    text: str = ""
    tokens: int = 0
    hidden: tuple[ProfileLine, ...] = ()
    left_out: tuple[ProfileLine, ...] = ()


# --- Marks in the metadata of a record ------------------------------------------------------------


def author_of(record: Record) -> Author | None:
    """Return who wrote the words of a record; None if its evidence tells, or nothing does."""
    marked = record.metadata.get(_WRITTEN_BY)
    return marked if marked in ("model", "person") else None


def written_by(metadata: Mapping[str, Any], author: Author | None) -> dict[str, Any]:
    """Return the metadata with the author of the words, or without any."""
    rest = {name: value for name, value in metadata.items() if name != _WRITTEN_BY}
    return rest if author is None else {**rest, _WRITTEN_BY: author}


def edited(before: Record, after: Record, author: Author) -> Record:
    """Return a changed record with the author of its words, if these have changed.

    A model cannot set or remove the marks of the profile.
    """
    if author == "model":
        after = after.evolve(
            tags=with_tag(after.tags, TAG in before.tags),
            metadata={**unmarked(after.metadata), **_marks(before.metadata)},
        )
    if after.content == before.content:
        return after
    is_known = author == "person" and not after.evidence and author_of(before) is None
    return after.evolve(metadata=written_by(after.metadata, None if is_known else author))


def with_tag(tags: Iterable[str], is_tagged: bool) -> tuple[str, ...]:
    """Return the tags with or without the one that shows a record in the profile."""
    return (*(tag for tag in tags if tag != TAG), *((TAG,) if is_tagged else ()))


def unmarked(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata without the marks of the profile."""
    return {name: value for name, value in metadata.items() if name not in _MARKS}


def _marks(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if name in _MARKS}


def is_hidden(record: Record) -> bool:
    """Return whether a person has hidden the record from the profile."""
    return record.metadata.get(_HIDDEN) is False


def hidden(metadata: Mapping[str, Any], *, is_hidden: bool) -> dict[str, Any]:
    """Return the metadata of a record that is hidden from the profile, or not any more."""
    rest = {name: value for name, value in metadata.items() if name != _HIDDEN}
    return {**rest, _HIDDEN: False} if is_hidden else rest
