"""Pages of a listing, and the cursor that continues it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from recollect.errors import InvalidInput

T = TypeVar("T")
MAX_PAGE: Final = 1_000
# As many digits as an integer of every database can hold.
_CURSOR: Final = re.compile(r"(-?[0-9]{1,18})~([!-~]{1,255})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """A page of items in order; `next_cursor` is None on the last page."""

    items: tuple[T, ...]
    next_cursor: str | None = None
    """send it as `cursor`; null on the last page"""

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> T:
        return self.items[index]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """A position in a listing that is sorted by time and then by id."""

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
    """Return the limit if it is a whole number from 1 to `most`, otherwise raise an error."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= most:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            f"limit must be a whole number from 1 to {most}, not {limit!r}", code="bad_limit"
        )
    return limit


@dataclass(frozen=True, slots=True, kw_only=True)
class PageWanted:
    """The part of a listing that is asked for."""

    limit: int = 50
    cursor: str | None = None

    @property
    def one_more(self) -> int:
        """Return one more than the limit: if that many are found, another page follows."""
        return checked_limit(self.limit, MAX_PAGE) + 1

    @property
    def after(self) -> Cursor | None:
        return None if self.cursor is None else parse_cursor(self.cursor)

    def of(self, found: Sequence[tuple[Cursor, T]]) -> Page[T]:
        """Return the page, given up to one item more than it holds."""
        items = tuple(it for _, it in found[: self.limit])
        if len(found) <= self.limit:
            return Page(items=items)
        return Page(items=items, next_cursor=str(found[self.limit - 1][0]))
