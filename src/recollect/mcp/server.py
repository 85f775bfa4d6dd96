"""The MCP server: answer a client's requests for the memory that its connection belongs to.

Whose memory it is comes from the process (stdio) or the HTTP request, never from an argument.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final, TypeAlias

import mcp_types as types
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from recollect.domain.context import Tongue
from recollect.domain.memory_tools import memory_guide
from recollect.domain.scope import Role
from recollect.errors import NotFound, RecollectError
from recollect.mcp import prompts, resources, tools
from recollect.memory import Memory

_NAME: Final = "recollect"
_ABOUT: Final = "Long-term memory for agents that people can see, search, correct and delete."
# A server cannot add to a prompt.
_ASK_FIRST: Final[Mapping[Tongue, str]] = {
    "en": "Nothing is recalled by itself here: call memory_recall when a conversation begins, and "
    "whenever the user may have told you something before.",
    "zh": "这里不会自动召回记忆：对话开始时，以及用户可能说过相关内容时，请先调用 memory_recall。",
}

Context: TypeAlias = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Whose memory a request is about, what it may do, the language, and the session if any."""

    memory: Memory
    language: Tongue = "en"
    session: str | None = None
    role: Role = Role.WRITER


FindConnection = Callable[[Context], Awaitable[Connection]]


def create_mcp_server(find: FindConnection, language: Tongue = "en") -> Server[Any]:
    """Return a server that asks `find` whose memory each request is about."""

    async def list_tools(
        context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        here = await find(context)
        return types.ListToolsResult(
            tools=tools.list_tools(_toolbox(here), here.language, here.role, _has_session(here))
        )

    async def call_tool(
        context: Context, asked: types.CallToolRequestParams
    ) -> types.CallToolResult:
        here = await find(context)
        return await tools.call_tool(
            _toolbox(here),
            asked.name,
            asked.arguments or {},
            role=here.role,
            has_session=_has_session(here),
        )

    async def list_resources(
        context: Context, asked: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        here = await find(context)
        cursor = None if asked is None else asked.cursor
        with _Told():
            return await resources.list_resources(here.memory, here.language, cursor)

    async def list_templates(
        context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        here = await find(context)
        return types.ListResourceTemplatesResult(
            resource_templates=resources.templates(here.language)
        )

    async def read_resource(
        context: Context, asked: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        here = await find(context)
        with _Told(about=asked.uri):
            return await resources.read_resource(here.memory, here.language, asked.uri)

    async def list_prompts(
        context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        here = await find(context)
        return types.ListPromptsResult(prompts=prompts.list_prompts(here.language))

    async def get_prompt(
        context: Context, asked: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        here = await find(context)
        with _Told():
            return await prompts.get_prompt(
                here.memory, here.language, asked.name, asked.arguments or {}
            )

    return Server(
        _NAME,
        version=version("recollect"),
        title="Recollect",
        description=_ABOUT,
        instructions=f"{memory_guide(language)}\n\n{_ASK_FIRST[language]}",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


async def serve_stdio(memory: Memory, language: Tongue, session: str) -> None:
    """Serve one client over standard input and output until it closes them."""
    here = Connection(memory=memory, language=language, session=session)

    async def find(_: Context) -> Connection:
        return here

    server = create_mcp_server(find, language)
    async with stdio_server() as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())


def _toolbox(here: Connection) -> tools.Toolbox:
    return here.memory.tools(here.language, session=here.session)


def _has_session(here: Connection) -> bool:
    return here.session is not None


class _Told:
    """Turn our errors into the protocol's: a client shows their message and code."""

    def __init__(self, about: str | None = None) -> None:
        self._about = about

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        if not isinstance(problem, RecollectError):
            return
        code = types.INTERNAL_ERROR if problem.retryable else types.INVALID_PARAMS
        data = {"code": problem.code, "hint": problem.hint}
        if isinstance(problem, NotFound) and self._about is not None:
            data["uri"] = self._about
        raise MCPError(code, problem.message, data) from problem
