"""Parameters that many routes take: pages, versions (ETag) and idempotency keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Final, TypeVar

from fastapi import Header, Query, Response

from recollect.domain.page import MAX_PAGE, Cursor, Page, PageWanted
from recollect.domain.record import Record
from recollect.errors import InvalidInput

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="the same key with the same request happens only once",
    ),
]
Reason = Annotated[str, Query(description="why, for the history")]
# The description tells the bounds; the domain refuses what is beyond them.
LIMITS: Final = {"minimum": 1, "maximum": MAX_PAGE}
Limit = Annotated[int, Query(description="how many at most", json_schema_extra=LIMITS)]
PageMark = Annotated[str | None, Query(description="the last page's next_cursor")]


# --- Pages of what the library gives as a whole ---------------------------------------------------

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


# --- ETag and If-Match: a change is made only to the version that its sender has seen -------------

_TAG: Final = re.compile(r'(?:W/)?"?([0-9]{1,18})"?')

IfMatch = Annotated[
    str | None,
    Header(description="the ETag of the version that was seen; another one is answered with 412"),
]
ExpectedVersion = Annotated[
    int | None, Query(description="the same as If-Match, answered with 409")
]
IfNoneMatch = Annotated[
    str | None, Header(description="the ETag that is known already; answered with 304")
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
