"""Writing: what is said is compared with what is known, and kept once."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from recollect.domain.views import Json, as_json
from recollect.domain.write import WritePolicy
from recollect.server import answers
from recollect.server.bodies import Body, NewRecord, described
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.parameters import IdempotencyKey
from recollect.server.problems import problems

router = APIRouter(prefix="/v1", tags=["writing"], route_class=IdempotentRoute)


class NewClaim(NewRecord):
    """A claim to remember, with what is known about it."""

    model_config = described({"content": "Ann works in Porto"})

    explicit: bool = Field(
        default=True, description="false lets it prove itself in the short-term buffer"
    )


class NamesGiven(Body):
    """The names of the user, instead of those set before."""

    model_config = described({"names": ["Ann", "安妮"]})

    names: list[str]


class Reading(Body):
    """Which conversations to read."""

    model_config = described({"session": "monday"})

    session: str | None = Field(default=None, description="one session; default: all of them")


class RoutedMessage(Body):
    """A message to judge."""

    model_config = described({"message": "From now on, answer in Chinese"})

    message: str
    policy: WritePolicy | None = Field(default=None, description="default: from the settings")
    context: str = Field(default="", description="what the assistant said before it")


@router.post("/write", response_model=answers.Written, responses=problems(409, 413))
async def write_claim(
    memory: CallersMemory, body: NewClaim, idempotency_key: IdempotencyKey = None
) -> Json:
    """Remember a claim unless it is known: new, said again, changed or contradicted."""
    return as_json(
        await memory.write(
            body.content,
            namespace=body.namespace,
            explicit=body.explicit,
            idempotency_key=idempotency_key,
            **body.given(),
        )
    )


@router.post("/extract", response_model=answers.WrittenItems)
async def extract_conversations(memory: CallersMemory, body: Reading | None = None) -> Json:
    """Read conversations now for what is worth remembering; no turn is read twice."""
    return as_json(await memory.extract(None if body is None else body.session))


@router.get("/writes/{write_id}", response_model=answers.Trace, responses=problems(404))
async def get_trace(memory: CallersMemory, write_id: str) -> Json:
    """Tell what each step of a write decided, and why."""
    return as_json(await memory.trace(write_id))


@router.post("/route", response_model=answers.Route, responses=problems(413))
async def route_message(memory: CallersMemory, body: RoutedMessage) -> Json:
    """Judge whether a message should be answered with memory, and whether it should become some."""
    return as_json(await memory.route(body.message, policy=body.policy, context=body.context))


@router.get("/user-names", response_model=answers.UserNames)
async def get_user_names(memory: CallersMemory) -> Json:
    """List the names that the user of this scope is known by."""
    return {"items": sorted(await memory.user_names())}


@router.put("/user-names", response_model=answers.Record, responses=problems(413))
async def set_user_names(memory: CallersMemory, body: NamesGiven) -> Json:
    """Say which names the user goes by: what is told of these names is told of the user."""
    return as_json(await memory.set_user_names(body.names))
