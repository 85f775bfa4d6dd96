"""Parameters that many routes take."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Query

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="the same key with the same request happens only once",
    ),
]
Reason = Annotated[str, Query(description="why, for the history")]
Limit = Annotated[int, Query(description="how many at most")]
PageMark = Annotated[str | None, Query(description="the last page's next_cursor")]
