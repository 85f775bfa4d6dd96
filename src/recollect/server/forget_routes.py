"""The route /v1/forget: erasing for good, or counting what would go."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from fastapi import APIRouter
from pydantic import Field

from recollect.domain.filters import CommonFilters
from recollect.domain.record import Kind, Status
from recollect.domain.views import Json, as_json
from recollect.server.bodies import Body, Several
from recollect.server.caller import CallersMemory

router = APIRouter(prefix="/v1", tags=["records"])


class Forget(Body):
    """What to forget, in one way: by ids, a session, a user, all of this scope, or by filters."""

    records: Several[str] = Field(default=[], description="ids")
    session: str | None = None
    user: str | None = Field(default=None, description="of the caller's workspace")
    everything: bool = False
    with_evidence: bool = Field(default=False, description="the turns that records rest on too")
    dry_run: bool = Field(default=False, description="only count")
    verify: bool = Field(default=False, description="search every store and file afterwards")
    kind: Several[Kind] = Field(default=[])
    category: Several[str] = Field(default=[])
    tags: Several[str] = Field(default=[])
    status: Several[Status] = Field(default=[])
    since: datetime | None = None
    until: datetime | None = None
    task: str | None = None
    as_of: datetime | None = None
    valid_at: datetime | None = None

    def filters(self) -> CommonFilters:
        """The filters that the request named."""
        names = self.model_fields_set & CommonFilters.__annotations__.keys()
        return cast("CommonFilters", {name: getattr(self, name) for name in names})


@router.post("/forget")
async def forget(memory: CallersMemory, body: Forget) -> Json:
    """Erase every trace of it; what went, in numbers, and whether nothing was found afterwards."""
    forgotten = await memory.forget(
        body.records or None,
        session=body.session,
        user=body.user,
        everything=body.everything,
        with_evidence=body.with_evidence,
        dry_run=body.dry_run,
        verify=body.verify,
        **body.filters(),
    )
    return as_json(forgotten)
