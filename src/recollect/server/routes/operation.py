"""Operation: health, metrics, background jobs, reindexing and the demo workspace."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from http import HTTPStatus
from importlib.metadata import version
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, Field

from recollect.assemble.doctor import diagnose
from recollect.demo import WORKSPACE, load_demo, remove_demo
from recollect.domain.embedding import Reindexing
from recollect.domain.followers import Reconciled
from recollect.domain.job import JobReport, JobState
from recollect.domain.meter import BUCKETS, CounterName, Metrics, bucket
from recollect.domain.operation import Operation
from recollect.domain.page import Page
from recollect.domain.scope import Role, Scope
from recollect.domain.stats import Diagnosis, SpoolStats, Stats
from recollect.errors import NotAllowed, StorageError
from recollect.memory import Memory
from recollect.server.bodies import Body, described
from recollect.server.caller import CallersMemory, OpenMemory, WholeWorkspace
from recollect.server.idempotency import IdempotentRoute
from recollect.server.parameters import Paged
from recollect.server.problems import problems
from recollect.settings import settings_file
from recollect.settings.origins import SettingInUse, settings_in_use

# --- What this process counted, as Prometheus reads it --------------------------------------------

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_TIMED: Final = re.compile(r"(\w+_seconds)_(?:count|sum|le_[\d.]+)")


def written(
    totals: Mapping[CounterName, float], stats: Stats | None, spool: SpoolStats | None
) -> str:
    """Return counters and the state of the parts as text; no stats while the database is away."""
    gauges = [] if stats is None else [*_gauges(_of_stats(stats))]
    waiting = [] if spool is None else [*_gauges(_of_spool(spool))]
    return "\n".join((*_counters(totals), *_times(totals), *gauges, *waiting, ""))


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


def _of_stats(stats: Stats) -> dict[tuple[str, str], float]:
    return {
        ("jobs", "waiting"): stats.jobs.waiting,
        ("jobs", "failed"): stats.jobs.failed,
        ("index_bytes", "keyword"): stats.keyword_index.bytes,
        ("index_bytes", "vector"): stats.vector_index.bytes,
        ("database_bytes", ""): stats.database_bytes,
        **{
            ("model_paused", model.task): int(model.paused_until is not None)
            for model in stats.models
        },
        **{("follower_lag", it.name): it.lag for it in stats.followers},
        **{("follower_away", it.name): int(it.condition == "away") for it in stats.followers},
    }


def _of_spool(spool: SpoolStats) -> dict[tuple[str, str], float]:
    return {
        ("spool_waiting", ""): spool.waiting,
        ("spool_bytes", ""): spool.bytes,
        ("spool_set_aside", ""): spool.set_aside,
        ("database_away_seconds", ""): spool.away_seconds,
    }


def _gauges(gauges: Mapping[tuple[str, str], float]) -> Iterator[str]:
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

router = APIRouter(tags=["operation"], route_class=IdempotentRoute)


class ServerHealth(BaseModel):
    """That the server works, and whether its database answers."""

    status: Literal["ok", "degraded"]
    version: str
    database: Literal["ok", "away"] = Field(
        description="away: writes wait on this machine until it is back"
    )


class CallersScope(BaseModel):
    """Whose memory a request is about."""

    scope: Scope
    user_is_named: bool = Field(
        description="by the address or the key; otherwise it is the server's default user"
    )
    disabled_agents: list[str] = Field(description="agents that have no memory tools and no guide")


class EffectiveSettings(BaseModel):
    """All settings that hold now, and where each comes from."""

    items: tuple[SettingInUse, ...]
    file: str = Field(description="the settings file, whether or not it is there")


@router.get("/health")
@Operation("GET", "/health", "server_health", None)
async def server_health(memory: OpenMemory) -> ServerHealth:
    """Check that the server can read its database."""
    number = version("recollect")
    try:
        await memory.list(limit=1)
    except StorageError:
        # Whoever sends requests here may go on: what is said is kept.
        if memory.spool is None or not memory.spool.away_seconds:
            raise
        return ServerHealth(status="degraded", version=number, database="away")
    return ServerHealth(status="ok", version=number, database="ok")


@router.get("/v1/scope")
async def get_scope(memory: CallersMemory) -> CallersScope:
    """Return the scope that the query parameters select."""
    disabled = [name for name, it in memory.settings.agents.items() if not it.enabled]
    return CallersScope(
        scope=memory.caller_scope, user_is_named=memory.user_is_named, disabled_agents=disabled
    )


@router.get("/v1/stats")
async def get_stats(memory: CallersMemory) -> Stats:
    """Return how much this caller can read and the state of the services.

    A call without a user counts what belongs to no user; `/v1/workspace/users` counts what the
    users of a workspace have. Jobs, bytes and the last day are of the whole database.
    """
    return await memory.stats()


@router.get("/v1/settings")
@Operation("GET", "/v1/settings", "list_settings", Role.ADMIN, reach="server")
async def list_settings(memory: OpenMemory) -> EffectiveSettings:
    """List the settings in effect, without secrets, and where each comes from."""
    return EffectiveSettings(items=settings_in_use(memory.settings), file=str(settings_file()))


@router.get("/v1/metrics")
async def get_metrics(
    memory: OpenMemory,
    since: Annotated[
        datetime | None, Query(alias="from", description="default: a day before the end")
    ] = None,
    until: Annotated[datetime | None, Query(alias="to", description="default: now")] = None,
    step: Annotated[int, Query(description="hours of one point")] = 1,
) -> Metrics:
    """Return what all processes did in all open stores, hour by hour; kept for 30 days."""
    return await memory.metrics(since=since, until=until, step_hours=step)


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={200: {"description": "Metrics", "content": {"text/plain": _TEXT}}},
)
@Operation("GET", "/metrics", "scrape_metrics", Role.ADMIN, reach="server")
async def scrape_metrics(memory: OpenMemory) -> PlainTextResponse:
    """Return the counters of this process in Prometheus format."""
    spool = memory.spool
    try:
        stats = await memory.stats()
    except StorageError:
        if spool is None or not spool.away_seconds:
            raise
        stats = None
    told = written(memory.meter.totals(), stats, spool)
    return PlainTextResponse(told, media_type=MEDIA_TYPE)


@router.get("/v1/doctor")
@Operation("GET", "/v1/doctor", "diagnose_server", Role.ADMIN, reach="server")
async def diagnose_server(memory: CallersMemory) -> Diagnosis:
    """Report the state of every part and how to fix what is wrong; nothing is changed."""
    return await diagnose(memory.settings)


# --- Jobs: the background work of the whole database ----------------------------------------------

jobs_router = APIRouter(prefix="/v1/jobs", tags=["jobs"], route_class=IdempotentRoute)


class Worked(BaseModel):
    """How many background jobs ran."""

    ran: int


@jobs_router.get("")
async def list_jobs(
    page: Paged,
    memory: CallersMemory,
    state: Annotated[JobState | None, Query(description="only jobs in this state")] = None,
    kind: Annotated[str | None, Query(description="only jobs of this kind")] = None,
) -> Page[JobReport]:
    """List background jobs, newest first; finished ones for a day."""
    return await memory.jobs.list(state=state, kind=kind, **page)


@jobs_router.post("/run")
async def run_due_jobs(memory: CallersMemory) -> Worked:
    """Run the jobs that are due, and wait for them."""
    return Worked(ran=await memory.work())


@jobs_router.post("/drain", status_code=204)
async def drain_jobs(memory: CallersMemory) -> None:
    """Wait until all background work has finished or failed."""
    await memory.drain()


@jobs_router.get("/{job_id}", responses=problems(404))
async def get_job(memory: CallersMemory, job_id: str) -> JobReport:
    """Return the state, the progress where known, and the result of a job."""
    return await memory.jobs.get(job_id)


@jobs_router.delete("/{job_id}", responses=problems(404, 409))
async def cancel_job(memory: CallersMemory, job_id: str) -> JobReport:
    """Cancel a job; a running one stops soon, and what it did is kept."""
    return await memory.jobs.cancel(job_id)


# --- Reindexing: changing the model that makes vectors, in the background -------------------------

reindex_router = APIRouter(prefix="/v1/reindex", tags=["operation"], route_class=IdempotentRoute)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedReindexing(Reindexing):
    """Whether a change was ended, and how far it had got."""

    stopped: bool


class ReindexWanted(Body):
    """The embedding model to switch to."""

    model_config = described({"model": "local"})

    model: str | None = Field(
        default=None,
        description="that of the settings, or one in server.offered_models; default: the former",
    )


@reindex_router.post("", status_code=HTTPStatus.ACCEPTED)
async def start_reindexing(memory: CallersMemory, body: ReindexWanted | None = None) -> Reindexing:
    """Start creating the missing vectors, with the current model or another.

    In each scope the old vectors are used until all new ones exist.
    """
    model = (body or ReindexWanted()).model
    _require_offered(memory, model)
    await memory.reindex(model=model, background=True)
    return await memory.reindexing()


def _require_offered(memory: Memory, model: str | None) -> None:
    """Refuse a model that the settings do not name: a request must not choose what is loaded."""
    settings = memory.settings
    if model is None or model in {settings.embedding.model, *settings.server.offered_models}:
        return
    raise NotAllowed(
        f"The settings do not offer the model {model!r}; nothing was changed",
        code="model_not_offered",
        hint="Name it in server.offered_models, or change it with: recollect reindex --model NAME.",
    )


@reindex_router.get("")
async def get_reindexing(memory: CallersMemory) -> Reindexing:
    """Return the progress of a model switch, or what the current model still has to embed."""
    return await memory.reindexing()


@reindex_router.delete("")
async def stop_reindexing(memory: CallersMemory) -> StoppedReindexing:
    """Stop a model switch; the vectors made so far are kept."""
    stopped = await memory.stop_reindexing()
    return StoppedReindexing(stopped=stopped, **asdict(await memory.reindexing()))


# --- Derived stores: comparing them with the database ---------------------------------------------

reconcile_router = APIRouter(
    prefix="/v1/reconcile", tags=["operation"], route_class=IdempotentRoute
)


class ReconcileWanted(Body):
    """How to compare derived stores with the database."""

    model_config = described({"dry_run": True})

    dry_run: bool = Field(default=False, description="compare only, and repair nothing")
    rebuild: bool = Field(default=False, description="empty the stores and build them anew")
    clear: bool = Field(
        default=False, description="empty the stores before they are left out of the settings"
    )


class ReconciledStores(BaseModel):
    """What each derived store has, compared with the database."""

    items: list[Reconciled]


@reconcile_router.post("")
async def reconcile(memory: CallersMemory, body: ReconcileWanted | None = None) -> ReconciledStores:
    """Compare derived stores, such as a vector store, with the database, and repair them.

    Recall goes on meanwhile; `GET /v1/stats` shows the progress in `followers`.
    """
    found = await memory.reconcile(**(body or ReconcileWanted()).arguments())
    return ReconciledStores(items=list(found))


# --- The demo workspace: loaded and removed by one request each -----------------------------------

demo_router = APIRouter(prefix="/v1/demo", tags=["operation"], route_class=IdempotentRoute)


class Demo(BaseModel):
    """The demo workspace, and how much it holds."""

    workspace: str
    records: int
    sessions: int


class RemovedDemo(BaseModel):
    """The demo workspace, and how much of it was forgotten."""

    workspace: str
    records: int
    turns: int


class WantedDemo(Body):
    """The language of the demo."""

    model_config = described({"language": "en"})

    language: Literal["en", "zh"] = "en"


@demo_router.post("", status_code=201, responses=problems(409))
@Operation("POST", "/v1/demo", "load_demo_workspace", Role.ADMIN, reach="server")
async def load_demo_workspace(memory: WholeWorkspace, body: WantedDemo | None = None) -> Demo:
    """Load the workspace `demo` with made-up people."""
    held = await load_demo(memory, (body or WantedDemo()).language)
    return Demo(workspace=WORKSPACE, **held)


@demo_router.delete("")
@Operation("DELETE", "/v1/demo", "remove_demo_workspace", Role.ADMIN, reach="server")
async def remove_demo_workspace(memory: WholeWorkspace) -> RemovedDemo:
    """Forget everything in the workspace `demo` for good."""
    gone = await remove_demo(memory)
    return RemovedDemo(workspace=WORKSPACE, **gone)
