"""Parameters that many routes take: pages, versions (ETag) and idempotency keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, TypedDict, TypeVar

from fastapi import Depends, Header, Query, Response

from recollect.domain.page import MAX_PAGE, Cursor, Page, PageWanted
from recollect.domain.record import Record
from recollect.errors import InvalidInput

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="a repeated request with the same key is carried out only once",
    ),
]
Reason = Annotated[str, Query(description="reason, kept in the history")]
# The description tells the bounds; the domain refuses what is beyond them.
LIMITS: Final[dict[str, Any]] = {"minimum": 1, "maximum": MAX_PAGE}
Limit = Annotated[int, Query(description="maximum number of items", json_schema_extra=LIMITS)]
PageMark = Annotated[str | None, Query(description="next_cursor of the previous page")]


class PageAsked(TypedDict):
    """Which page of a listing; the library takes it as it is."""

    limit: int
    cursor: str | None


async def _page_asked(limit: Limit = 50, cursor: PageMark = None) -> PageAsked:
    return {"limit": limit, "cursor": cursor}


# Before the parameter with the memory, so that the description has it before the scope.
Paged = Annotated[PageAsked, Depends(_page_asked)]


# --- Pages of what the library gives as a whole ---------------------------------------------------

T = TypeVar("T")


def page_of(items: Sequence[T], asked: PageAsked, name: Callable[[T], str]) -> Page[T]:
    """The page behind the item that the cursor names, wherever that stands now."""
    wanted = PageWanted(**asked)
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
        "The cursor points to an item that is no longer in the list",
        code="bad_cursor",
        hint="Start again without a cursor.",
    )


# --- ETag and If-Match: a change is made only to the version that its sender has seen -------------

_TAG: Final = re.compile(r'(?:W/)?"?([0-9]{1,18})"?')

IfMatch = Annotated[
    str | None,
    Header(description="ETag of the expected version; answers 412 if it is another"),
]
ExpectedVersion = Annotated[
    int | None, Query(description="expected version, as If-Match; answers 409 if it is another")
]
IfNoneMatch = Annotated[
    str | None, Header(description="known ETag; answers 304 if it is unchanged")
]


def etag(record: Record) -> str:
    """The tag of a record's version."""
    return f'"{record.version}"'


def tagged(response: Response, record: Record) -> Record:
    """The record, whose version the response tells in its header."""
    response.headers["ETag"] = etag(record)
    return record


def seen_version(if_match: str | None, otherwise: int | None = None) -> int | None:
    """The version that a change was decided on, if its sender says so."""
    if if_match is None or if_match.strip() == "*":
        return otherwise
    found = _TAG.fullmatch(if_match.strip())
    if found is None:
        raise InvalidInput(
            f"If-Match {if_match!r} is not the ETag of a record; nothing was changed",
            code="bad_etag",
            hint='Send the ETag header of the record as it came, for example "3".',
        )
    return int(found[1])


async def _expected(
    expected_version: ExpectedVersion = None, if_match: IfMatch = None
) -> int | None:
    return seen_version(if_match, expected_version)


Expected = Annotated[int | None, Depends(_expected)]
