"""Forgetting: erasing every trace for good, or counting what would go."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from fastapi import APIRouter
from pydantic import Field

from recollect.domain.access import Grant
from recollect.domain.filters import CommonFilters
from recollect.domain.record import Kind, Status
from recollect.domain.views import Json, as_json
from recollect.errors import NotAllowed
from recollect.server import answers
from recollect.server.bodies import Body, Several, described
from recollect.server.caller import CallersMemory
from recollect.server.identity import Asking
from recollect.server.once import OnceRoute
from recollect.server.problems import problems

router = APIRouter(prefix="/v1", tags=["records"], route_class=OnceRoute)


class Forget(Body):
    """What to forget, in one way: by ids, a session, a user, all of this scope, or by filters."""

    model_config = described({"user": "ann", "dry_run": True})

    records: Several[str] = Field(default=[], description="ids")
    session: str | None = None
    user: str | None = Field(default=None, description="of the caller's workspace")
    everything: bool = False
    all_agents: bool = Field(default=False, description="of a user: with every agent")
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


@router.post("/forget", response_model=answers.Forgotten, responses=problems(404, 409, 413))
async def forget(memory: CallersMemory, asking: Asking, body: Forget) -> Json:
    """Erase every trace of something, and tell what went and what was found afterwards."""
    _require_reach(asking.grant, body)
    forgotten = await memory.forget(
        body.records or None,
        session=body.session,
        user=body.user,
        everything=body.everything,
        with_evidence=body.with_evidence,
        all_agents=body.all_agents,
        dry_run=body.dry_run,
        verify=body.verify,
        **body.filters(),
    )
    return as_json(forgotten)


def _require_reach(grant: Grant, body: Forget) -> None:
    """Refuse to forget somebody whom a key does not reach."""
    is_foreign = body.user is not None and bool(grant.users) and body.user not in grant.users
    if is_foreign or (body.all_agents and grant.agents):
        raise NotAllowed(
            "This key does not reach all that would be forgotten; nothing was changed",
            code="foreign_scope",
            hint=f"It reaches {grant.reach}.",
        )
