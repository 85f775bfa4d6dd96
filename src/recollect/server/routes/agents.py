"""Agents: whether and how each of them uses memory."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from recollect.domain.views import Json, as_json
from recollect.domain.write import WritePolicy
from recollect.server import access_answers
from recollect.server.bodies import Body, described
from recollect.server.caller import AdministeredMemory
from recollect.server.once import OnceRoute
from recollect.server.parameters import Limit, PageMark
from recollect.server.problems import problems

router = APIRouter(prefix="/v1/agents", tags=["agents"], route_class=OnceRoute)


class AgentWanted(Body):
    """How an agent is to be set up; what is left out is as the settings file says."""

    model_config = described({"enabled": True, "prefetch_limit": 3, "role": "reviewer"})

    enabled: bool | None = None
    store: str | None = Field(
        default=None, description="a name under `stores` in the settings file; never a path"
    )
    prefetch_limit: int | None = None
    write_policy: WritePolicy | None = None
    role: str | None = None
    children: list[str] | None = Field(
        default=None, description="agents whose memory it may read and write"
    )


@router.get("", response_model=access_answers.AgentPage)
async def list_agents(
    memory: AdministeredMemory, limit: Limit = 50, cursor: PageMark = None
) -> Json:
    """List the agents that are set up, by name; any other is as by default."""
    return as_json(await memory.agents.list(limit=limit, cursor=cursor))


@router.get("/{name}", response_model=access_answers.Agent, responses=problems(404))
async def get_agent(memory: AdministeredMemory, name: str) -> Json:
    """Read how an agent is set up now."""
    return as_json(await memory.agents.get(name))


@router.put("/{name}", response_model=access_answers.Agent, responses=problems(404, 409))
async def set_agent(memory: AdministeredMemory, name: str, body: AgentWanted) -> Json:
    """Set an agent up, in place of what was set before; it goes before the settings file."""
    return as_json(await memory.agents.put(name, **body.model_dump()))


@router.delete("/{name}", status_code=204, responses=problems(404, 409))
async def delete_agent(memory: AdministeredMemory, name: str) -> None:
    """Remove what was set for an agent here: it is as the settings file says."""
    await memory.agents.delete(name)
