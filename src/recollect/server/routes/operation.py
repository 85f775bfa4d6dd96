"""Operation: whether the server works, and how its parts are doing."""

from __future__ import annotations

from datetime import datetime
from importlib.metadata import version
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse

from recollect.assemble.doctor import diagnose
from recollect.domain.views import Json, as_json
from recollect.server import access_answers, answers, prometheus
from recollect.server.caller import CallersMemory, OpenMemory
from recollect.server.once import OnceRoute
from recollect.settings import settings_file
from recollect.settings.origins import settings_in_use

_TEXT: Final[dict[str, Any]] = {"schema": {"type": "string"}}

router = APIRouter(tags=["operation"], route_class=OnceRoute)


@router.get("/health", response_model=answers.ServerHealth)
async def server_health(memory: OpenMemory) -> Json:
    """Tell whether the server works: it has just read from its database, or this is an error."""
    await memory.list(limit=1)
    return {"status": "ok", "version": version("recollect"), "database": "ok"}


@router.get("/v1/scope", response_model=answers.CallersScope)
async def get_scope(memory: CallersMemory) -> Json:
    """Tell whose memory a request with this address is about."""
    disabled = [name for name, it in memory.settings.agents.items() if not it.enabled]
    return {"scope": as_json(memory.caller_scope), "disabled_agents": disabled}


@router.get("/v1/stats", response_model=answers.Stats)
async def get_stats(memory: CallersMemory) -> Json:
    """Count what this caller can read, and tell how the parts are doing.

    A call without a user counts what belongs to no user; `/v1/workspace/users` counts what the
    users of a workspace have. Jobs, bytes and the last day are of the whole database.
    """
    return as_json(await memory.stats())


@router.get("/v1/settings", response_model=access_answers.EffectiveSettings)
async def list_settings(memory: OpenMemory) -> Json:
    """List the settings that hold, without secrets, and where each comes from."""
    return {**as_json(settings_in_use(memory.settings)), "file": str(settings_file())}


@router.get("/v1/metrics", response_model=answers.Metrics)
async def get_metrics(
    memory: OpenMemory,
    since: Annotated[
        datetime | None, Query(alias="from", description="default: a day before the end")
    ] = None,
    until: Annotated[datetime | None, Query(alias="to", description="default: now")] = None,
    step: Annotated[int, Query(description="hours of one point")] = 1,
) -> Json:
    """Tell what all processes did in all open stores, hour by hour; it is kept for 30 days."""
    return as_json(await memory.metrics(since=since, until=until, step_hours=step))


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={200: {"description": "Metrics", "content": {"text/plain": _TEXT}}},
)
async def scrape_metrics(memory: OpenMemory) -> PlainTextResponse:
    """Tell what this process has counted, in the form that Prometheus reads."""
    told = prometheus.written(memory.meter.totals(), await memory.stats())
    return PlainTextResponse(told, media_type=prometheus.MEDIA_TYPE)


@router.get("/v1/doctor", response_model=answers.Diagnosis)
async def diagnose_server(memory: CallersMemory) -> Json:
    """Report how every part is doing and how to fix it; nothing is changed."""
    return as_json(await diagnose(memory.settings))
