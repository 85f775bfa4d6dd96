"""Tools: what agents are given to use memory with, and their calls."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query
from pydantic import BaseModel

from recollect.domain.context import Tongue
from recollect.domain.memory_tools import READING_TOOLS
from recollect.domain.operation import Operation
from recollect.domain.scope import Role
from recollect.domain.views import Items
from recollect.errors import InvalidInput
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.identity import Asking
from recollect.server.problems import problems

Language = Annotated[Tongue, Query(description="of titles, descriptions and ages")]

router = APIRouter(prefix="/v1/tools", tags=["tools"], route_class=IdempotentRoute)


class Guide(BaseModel):
    """How to use memory, for a system prompt."""

    text: str


class ToolResult(BaseModel):
    """What a tool gave, as a model would read it."""

    result: Any


@router.get("")
async def list_tools(
    memory: CallersMemory,
    language: Language = "en",
    format: Annotated[
        Literal["openai", "anthropic", "json"], Query(description="the format of a framework")
    ] = "json",
) -> Items[dict[str, Any]]:
    """List the memory tools with their schemas; none when memory is disabled for the agent."""
    box = memory.tools(language)
    if format == "openai":
        return Items(items=box.openai())
    return Items(items=box.anthropic() if format == "anthropic" else box.json_schemas())


@router.get("/guide")
@Operation("POST", "/v1/tools/{name}", "call_tool", Role.READER)
async def get_guide(memory: CallersMemory, language: Language = "en") -> Guide:
    """Return instructions on using memory for a system prompt; empty if memory is disabled."""
    return Guide(text=memory.guide(language))


@router.post("/{name}", responses=problems(404, 409, 413))
async def call_tool(
    memory: CallersMemory,
    asking: Asking,
    name: str,
    arguments: Annotated[
        dict[str, Any],
        Body(description="arguments that match the tool's schema", examples=[{"query": "diet"}]),
    ],
    language: Language = "en",
    session: Annotated[
        str | None, Query(description="the session in which the tool is called")
    ] = None,
) -> ToolResult:
    """Call a tool as a model would."""
    if name not in READING_TOOLS:
        asking.require_role(Role.WRITER, name)
    box = memory.tools(language, session=session)
    if session is None and any(spec.name == name and spec.needs_session for spec in box.specs):
        raise InvalidInput(
            f"{name} belongs to a session", code="no_session", hint="Name it with ?session=ID."
        )
    return ToolResult(result=await box.run(name, arguments))
