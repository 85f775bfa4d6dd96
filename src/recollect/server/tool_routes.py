"""The routes under /v1/tools: what agents are given to use memory with, and their calls."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query

from recollect.domain.context import Tongue
from recollect.domain.views import Json
from recollect.errors import InvalidInput
from recollect.server.caller import CallersMemory

Language = Annotated[Tongue, Query(description="of titles, descriptions and ages")]

router = APIRouter(prefix="/v1/tools", tags=["tools"])


@router.get("")
async def list_tools(
    memory: CallersMemory,
    language: Language = "en",
    format: Annotated[
        Literal["openai", "anthropic", "json"], Query(description="as which framework takes them")
    ] = "json",
) -> Json:
    """The memory tools with their schemas; none when memory is disabled for the agent."""
    box = memory.tools(language)
    if format == "openai":
        return {"items": box.openai()}
    return {"items": box.anthropic() if format == "anthropic" else box.json_schemas()}


@router.post("/{name}")
async def call_tool(
    memory: CallersMemory,
    name: str,
    arguments: Annotated[dict[str, Any], Body(description="as the tool's schema says")],
    language: Language = "en",
    session: Annotated[str | None, Query(description="the one in which the tool is called")] = None,
) -> Json:
    """Call a tool as a model would; what it gives stands under `result`."""
    box = memory.tools(language, session=session)
    if session is None and any(it.name == name and it.needs_session for it in box.specs):
        raise InvalidInput(
            f"{name} belongs to a session", code="no_session", hint="Name it with ?session=ID."
        )
    return {"result": await box.run(name, arguments)}
