"""Writing: what is said is compared with what is known, and kept once."""

from __future__ import annotations

from fastapi import APIRouter, Response
from pydantic import Field

from recollect.domain.record import Record
from recollect.domain.views import Items
from recollect.domain.write import Route, Trace, WritePolicy, Written
from recollect.server.bodies import Body, NewRecord, described
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.parameters import IdempotencyKey
from recollect.server.problems import problems
from recollect.server.spooled import SPOOLED, tell_spooled

router = APIRouter(prefix="/v1", tags=["writing"], route_class=IdempotentRoute)


class NewClaim(NewRecord):
    """A claim to remember, with its fields."""

    model_config = described({"content": "Ann works in Porto"})

    explicit: bool = Field(
        default=True, description="false lets it prove itself in the short-term buffer"
    )


class NamesGiven(Body):
    """The names of the user; they replace those set before."""

    model_config = described({"names": ["Ann", "安妮"]})

    names: list[str]


class Reading(Body):
    """The conversations to extract from."""

    model_config = described({"session": "monday"})

    session: str | None = Field(default=None, description="one session; default: all of them")


class RoutedMessage(Body):
    """A message to route."""

    model_config = described({"message": "From now on, answer in Chinese"})

    message: str
    policy: WritePolicy | None = Field(default=None, description="default: from the settings")
    context: str = Field(default="", description="what the assistant said before it")


@router.post("/write", responses={**SPOOLED, **problems(409, 413)})
async def write_claim(
    memory: CallersMemory,
    body: NewClaim,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> Written:
    """Remember a claim after comparing it with what is stored."""
    written = await memory.write(
        body.content,
        namespace=body.namespace,
        explicit=body.explicit,
        idempotency_key=idempotency_key,
        **body.given(),
    )
    if written.record is not None:
        tell_spooled(response, written.record)
    return written


@router.post("/extract")
async def extract_conversations(
    memory: CallersMemory, body: Reading | None = None
) -> Items[Written]:
    """Extract what is worth remembering from conversations; no turn is read twice."""
    return Items(items=await memory.extract(None if body is None else body.session))


@router.get("/writes/{write_id}", responses=problems(404))
async def get_trace(memory: CallersMemory, write_id: str) -> Trace:
    """Return what each step of a write decided, and why."""
    return await memory.trace(write_id)


@router.post("/route", responses=problems(413))
async def route_message(memory: CallersMemory, body: RoutedMessage) -> Route:
    """Decide whether a message needs memory to be answered and whether to remember it."""
    return await memory.route(**body.arguments())


@router.get("/user-names")
async def get_user_names(memory: CallersMemory) -> Items[str]:
    """Return the names of the user of this scope."""
    return Items(items=sorted(await memory.user_names()))


@router.put("/user-names", responses=problems(413))
async def set_user_names(memory: CallersMemory, body: NamesGiven) -> Record:
    """Set the names of the user; statements about these names are statements about the user."""
    return await memory.set_user_names(body.names)
