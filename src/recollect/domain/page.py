"""One page of a listing, and the mark from which the next one goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from recollect.errors import InvalidInput

T = TypeVar("T")
# As many digits as a database's whole numbers surely hold.
_CURSOR: Final = re.compile(r"(-?[0-9]{1,18})~([!-~]{1,255})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Some items in order; `next_cursor` is None on the last page."""

    items: tuple[T, ...]
    next_cursor: str | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """A place in a listing that is sorted by a time and then by id."""

    at: int
    id: str

    def __str__(self) -> str:
        return f"{self.at}~{self.id}"


def parse_cursor(text: str) -> Cursor:
    found = _CURSOR.fullmatch(text) if isinstance(text, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    if found is None:
        raise InvalidInput(
            f"{text!r} is not a cursor", code="bad_cursor", hint="Use the last page's next_cursor."
        )
    return Cursor(at=int(found[1]), id=found[2])


def checked_limit(limit: int, most: int) -> int:
    """The limit itself when it is a whole number from 1 to `most`."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= most:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            f"limit must be a whole number from 1 to {most}, not {limit!r}", code="bad_limit"
        )
    return limit
