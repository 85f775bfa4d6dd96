"""Operation: whether the server works, and how its parts are doing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from importlib.metadata import version
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse

from recollect.assemble.doctor import diagnose
from recollect.domain.meter import BUCKETS, CounterName, bucket
from recollect.domain.stats import Stats
from recollect.domain.views import Json, as_json
from recollect.server import access_answers, answers
from recollect.server.caller import CallersMemory, OpenMemory
from recollect.server.once import OnceRoute
from recollect.settings import settings_file
from recollect.settings.origins import settings_in_use

# --- What this process counted, as Prometheus reads it --------------------------------------------

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_TIMED: Final = re.compile(r"(\w+_seconds)_(?:count|sum|le_[\d.]+)")


def written(totals: Mapping[CounterName, float], stats: Stats) -> str:
    """Return counters and the state of the parts as text."""
    return "\n".join((*_counters(totals), *_times(totals), *_gauges(stats), ""))


def _counters(totals: Mapping[CounterName, float]) -> Iterator[str]:
    by_name: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (name, label), value in sorted(totals.items()):
        if _TIMED.fullmatch(name) is None:
            by_name[name][label] = value
    for name, values in by_name.items():
        yield f"# TYPE recollect_{name}_total counter"
        for label, value in values.items():
            yield f"recollect_{name}_total{_labels(label=label)} {value:g}"


def _times(totals: Mapping[CounterName, float]) -> Iterator[str]:
    found = {
        (timed[1], label) for name, label in totals if (timed := _TIMED.fullmatch(name)) is not None
    }
    previous = ""
    for name, label in sorted(found):
        if name != previous:
            yield f"# TYPE recollect_{name} histogram"
            previous = name
        count = totals.get((f"{name}_count", label), 0)
        for end in BUCKETS:
            value = totals.get((bucket(name, end), label), 0)
            yield f"recollect_{name}_bucket{_labels(label=label, le=f'{end:g}')} {value:g}"
        yield f"recollect_{name}_bucket{_labels(label=label, le='+Inf')} {count:g}"
        yield f"recollect_{name}_sum{_labels(label=label)} {totals.get((f'{name}_sum', label), 0)}"
        yield f"recollect_{name}_count{_labels(label=label)} {count:g}"


def _gauges(stats: Stats) -> Iterator[str]:
    gauges = {
        ("jobs", "waiting"): stats.jobs.waiting,
        ("jobs", "failed"): stats.jobs.failed,
        ("index_bytes", "keyword"): stats.keyword_index.bytes,
        ("index_bytes", "vector"): stats.vector_index.bytes,
        ("database_bytes", ""): stats.database_bytes,
        **{("model_paused", it.task): int(it.paused_until is not None) for it in stats.models},
    }
    previous = ""
    for (name, label), value in gauges.items():
        if name != previous:
            yield f"# TYPE recollect_{name} gauge"
            previous = name
        yield f"recollect_{name}{_labels(label=label)} {value}"


def _labels(**given: str) -> str:
    told = [f'{name}="{value.translate(_ESCAPES)}"' for name, value in given.items() if value != ""]
    return f"{{{','.join(told)}}}" if told else ""


_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


# --- Operation: whether the server works, and how its parts are doing -----------------------------

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
    """Tell what all processes on this database did, hour by hour; it is kept for 30 days."""
    return as_json(await memory.metrics(since=since, until=until, step_hours=step))


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={200: {"description": "Metrics", "content": {"text/plain": _TEXT}}},
)
async def scrape_metrics(memory: OpenMemory) -> PlainTextResponse:
    """Tell what this process has counted, in the form that Prometheus reads."""
    told = written(memory.meter.totals(), await memory.stats())
    return PlainTextResponse(told, media_type=MEDIA_TYPE)


@router.get("/v1/doctor", response_model=answers.Diagnosis)
async def diagnose_server(memory: CallersMemory) -> Json:
    """Report how every part is doing and how to fix it; nothing is changed."""
    return as_json(await diagnose(memory.settings))
