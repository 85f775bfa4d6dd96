"""Pages of what the library gives as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from recollect.domain.page import Cursor, Page, PageWanted
from recollect.errors import InvalidInput

T = TypeVar("T")


def page_of(
    items: Sequence[T], limit: int, cursor: str | None, name: Callable[[T], str]
) -> Page[T]:
    """The page behind the item that the cursor names, wherever that stands now."""
    wanted = PageWanted(limit=limit, cursor=cursor)
    start = 0 if wanted.after is None else _place(items, wanted.after, name) + 1
    placed = [
        (Cursor(at=number, id=name(it)), it)
        for number, it in enumerate(items[start : start + wanted.one_more], start)
    ]
    return wanted.of(placed)


def _place(items: Sequence[T], after: Cursor, name: Callable[[T], str]) -> int:
    for number, it in enumerate(items):
        if name(it) == after.id:
            return number
    raise InvalidInput(
        "What the cursor names is no longer in the list",
        code="bad_cursor",
        hint="Begin again without a cursor.",
    )
