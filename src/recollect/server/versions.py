"""ETag and If-Match: a change is made only to the version that its sender has seen."""

from __future__ import annotations

import re
from typing import Annotated, Final

from fastapi import Header, Query, Response

from recollect.domain.record import Record
from recollect.errors import InvalidInput

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
