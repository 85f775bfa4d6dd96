"""The answer to a write that waits on this machine, because the database server is away."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from fastapi import Response

from recollect.domain.record import Record
from recollect.domain.turn import Turn

SPOOLED: Final[dict[int | str, dict[str, Any]]] = {
    202: {
        "description": "The database server is away: it waits on this machine, durable and with "
        "its final ids, and is stored when the server is back (`spooled` is true)"
    }
}


def tell_spooled(response: Response, *items: Record | Turn) -> None:
    """Answer 202 when something waits."""
    if any(item.spooled for item in items):
        response.status_code = HTTPStatus.ACCEPTED
