"""The MCP server: answer a client's requests for the memory that its connection belongs to.

Whose memory it is comes from the process (stdio) or the HTTP request, never from an argument.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

import mcp_types as types
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from recollect.domain.context import Tongue
from recollect.domain.hit import Explanation, Hit
from recollect.domain.memory_tools import READING_TOOLS, ToolName, memory_guide
from recollect.domain.record import Record
from recollect.domain.scope import Role
from recollect.domain.sections import RecallSettings
from recollect.domain.views import as_json
from recollect.errors import InvalidInput, NotFound, RecollectError
from recollect.language.token_estimate import EstimatedTokens
from recollect.memory import Memory
from recollect.recall.inject import build_block
from recollect.tools import Toolbox, ToolSpec

# --- The memory tools as MCP shows them: their schemas, what they may do, and calls by name -------

__all__ = ["Toolbox", "call_tool", "list_tools"]


def _hints(*, reads: bool = False, destroys: bool = False, repeats: bool) -> types.ToolAnnotations:
    return types.ToolAnnotations(
        read_only_hint=reads,
        destructive_hint=destroys,
        idempotent_hint=repeats,
        open_world_hint=False,
    )


_READS: Final = _hints(reads=True, repeats=True)
# Saying the same thing twice leaves memory as it is after the first time.
_MERGES: Final = _hints(repeats=True)
_REPLACES: Final = _hints(destroys=True, repeats=True)
ANNOTATIONS: Final[Mapping[ToolName, types.ToolAnnotations]] = {
    "memory_save": _hints(destroys=True, repeats=False),
    "memory_recall": _READS,
    "memory_profile": _READS,
    "memory_search": _READS,
    "memory_write": _MERGES,
    "memory_update": _REPLACES,
    "memory_delete": _REPLACES,
    "memory_summarize": _READS,
    "memory_route": _READS,
    "memory_propose": _hints(repeats=False),
    "load_tool_history": _READS,
    "scratchpad_update": _MERGES,
    "knowledge_search": _READS,
}

# Elsewhere what is remembered comes back by itself; a server cannot add to a prompt. Many clients
# show a model these and not the server's instructions.
DESCRIPTIONS: Final[Mapping[ToolName, Mapping[Tongue, str]]] = {
    "memory_save": {
        "en": "Store, update or delete a long-term memory. memory_recall finds it in later "
        "conversations.",
        "zh": "存储、更新或删除长期记忆。以后的对话可用 memory_recall 找到它。",
    },
    "memory_recall": {
        "en": "Look up long-term memories and what was said in earlier conversations. Nothing is "
        "recalled by itself: call this when a conversation begins, and whenever the user may have "
        "told you something before.",
        "zh": "检索长期记忆和过去对话的内容。记忆不会自动出现：对话开始时，"
        "以及用户可能说过相关内容时，请先调用。",
    },
}


def list_tools(box: Toolbox, language: Tongue, role: Role, has_session: bool) -> list[types.Tool]:
    """Return the tools of one caller; those of a session only where there is one.

    Who may only read is not shown what writes.
    """
    described = {told["name"]: told for told in box.json_schemas()}
    return [
        types.Tool(
            name=spec.name,
            title=described[spec.name]["title"],
            description=DESCRIPTIONS[spec.name][language]
            if spec.name in DESCRIPTIONS
            else described[spec.name]["description"],
            input_schema=described[spec.name]["parameters"],
            annotations=ANNOTATIONS[spec.name],
        )
        for spec in box.specs
        if has_session or not spec.needs_session
        if spec.name in READING_TOOLS or role.includes(Role.WRITER)
    ]


async def call_tool(
    box: Toolbox, name: str, arguments: Mapping[str, Any], *, role: Role, has_session: bool
) -> types.CallToolResult:
    """Answer a call as JSON text; what went wrong is told to the model, which can try again."""
    # Elsewhere the tools are spelled memory.search; models' providers take no dots.
    name = name.replace(".", "_")
    try:
        if name not in READING_TOOLS:
            role.require(Role.WRITER, name)
        _require_session(box.specs, name, has_session)
        result = await box.run(name, arguments)
    except RecollectError as problem:
        told = {"code": problem.code, "message": problem.message, "hint": problem.hint}
        return _answer({"error": told}, is_error=True)
    return _answer(result)


def _require_session(specs: tuple[ToolSpec, ...], name: str, has_session: bool) -> None:
    if not has_session and any(spec.name == name and spec.needs_session for spec in specs):
        raise InvalidInput(
            f"{name} belongs to a session, and this connection names none; nothing was changed",
            code="no_session",
            hint="Connect to /mcp?session=ID, or use `recollect mcp` over stdio.",
        )


def _answer(result: object, *, is_error: bool = False) -> types.CallToolResult:
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=is_error)


# --- What an MCP client can attach to a conversation: what is known, and single records -----------

CONTEXT: Final = "memory://context"
_PROFILE: Final = "memory://profile"
_CONTEXT_PREFIX: Final = "memory://context/"
_RECORD: Final = "memory://records/"
_TEXT: Final = "text/plain"
_JSON: Final = "application/json"
# So many of the newest records tell where things stand.
_NEWEST: Final = 20
_PAGE_SIZE: Final = 50
_LONGEST_NAME: Final = 80
_RESOURCE_WORDS: Final[Mapping[Tongue, Mapping[str, str]]] = {
    "en": {
        "known": "What is known now",
        "profile": "The user's profile",
        "profile_about": "What holds in every answer, as a block for the prompt",
        "context": "The newest memories, as a block for the prompt",
        "about": "What is remembered about a message, as a block for the prompt",
        "record": "One memory with its origin, times and version",
    },
    "zh": {
        "known": "目前所知",
        "profile": "用户档案",
        "profile_about": "每次回答都要考虑的内容，可直接放入提示词",
        "context": "最新的记忆，可直接放入提示词",
        "about": "与一条消息相关的记忆，可直接放入提示词",
        "record": "一条记忆及其来源、时间和版本",
    },
}


async def list_resources(
    memory: Memory, language: Tongue, cursor: str | None
) -> types.ListResourcesResult:
    """Return a page of the records, the newest first, behind the profile and the context."""
    page = await memory.list(limit=_PAGE_SIZE, cursor=cursor)
    first = [
        types.Resource(
            name="profile",
            title=_RESOURCE_WORDS[language]["profile"],
            uri=_PROFILE,
            description=_RESOURCE_WORDS[language]["profile_about"],
            mime_type=_TEXT,
        ),
        types.Resource(
            name="context",
            title=_RESOURCE_WORDS[language]["known"],
            uri=CONTEXT,
            description=_RESOURCE_WORDS[language]["context"],
            mime_type=_TEXT,
        ),
    ]
    records = [
        types.Resource(
            name=_name(record),
            uri=f"{_RECORD}{record.id}",
            description=record.description or None,
            mime_type=_JSON,
        )
        for record in page.items
    ]
    return types.ListResourcesResult(
        resources=records if cursor else [*first, *records], next_cursor=page.next_cursor
    )


def templates(language: Tongue) -> list[types.ResourceTemplate]:
    """Return the addresses that a client completes itself."""
    words = _RESOURCE_WORDS[language]
    return [
        types.ResourceTemplate(
            name="context-about",
            uri_template=f"{_CONTEXT_PREFIX}{{message}}",
            description=words["about"],
            mime_type=_TEXT,
        ),
        types.ResourceTemplate(
            name="record",
            uri_template=f"{_RECORD}{{id}}",
            description=words["record"],
            mime_type=_JSON,
        ),
    ]


async def read_resource(memory: Memory, language: Tongue, uri: str) -> types.ReadResourceResult:
    """Return what stands at an address."""
    if uri == _PROFILE:
        text, kind = (await memory.profile()).text, _TEXT
    elif uri == CONTEXT:
        text, kind = await _newest(memory, language), _TEXT
    elif uri.startswith(_CONTEXT_PREFIX):
        message = unquote(uri.removeprefix(_CONTEXT_PREFIX))
        text, kind = (await memory.context(message, language=language)).text, _TEXT
    elif uri.startswith(_RECORD):
        record = await memory.get(uri.removeprefix(_RECORD))
        text, kind = json.dumps(as_json(record), ensure_ascii=False), _JSON
    else:
        raise NotFound(
            f"There is no resource {uri!r}",
            code="unknown_resource",
            hint=f"There are {_PROFILE}, {CONTEXT}, {_CONTEXT_PREFIX}MESSAGE and {_RECORD}ID.",
        )
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=uri, mime_type=kind, text=text)],
        cache_scope="private",
    )


async def _newest(memory: Memory, language: Tongue) -> str:
    page = await memory.list(limit=_NEWEST)
    hits = [
        Hit(
            item=record,
            score=1.0,
            span=(0, len(record.content)),
            explanation=Explanation(paths=()),
        )
        for record in page.items
    ]
    return build_block(
        hits, RecallSettings(), EstimatedTokens(), now=datetime.now(UTC), language=language
    ).context.text


def _name(record: Record) -> str:
    told = " ".join((record.title or record.content).split())
    return told if len(told) <= _LONGEST_NAME else f"{told[: _LONGEST_NAME - 1]}…"


# --------------------------------------------------------------------------------------------------
# Prompts that a person chooses in an MCP client: answer from memory, and store what matters.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    title: str
    description: str
    argument: str = ""
    text: str = ""


_RECALL: Final = "recall"
_GUIDE: Final = "memory_guide"
_REMEMBER: Final = "remember_conversation"
_WORDS: Final[Mapping[str, Mapping[Tongue, _Words]]] = {
    _RECALL: {
        "en": _Words(
            title="Answer from memory",
            description="Ask a question together with what is remembered about it",
            argument="The question",
            text="Nothing is remembered about this.",
        ),
        "zh": _Words(
            title="根据记忆回答",
            description="提出一个问题，并附上与它相关的记忆",
            argument="问题",
            text="没有与此相关的记忆。",
        ),
    },
    _REMEMBER: {
        "en": _Words(
            title="Remember this conversation",
            description="Store what this conversation holds for later ones",
            text="Go through our conversation. Store with memory_save what will be of value in "
            "later ones: preferences, decisions and their reasons, constraints, corrections and "
            "links, one memory each. Look first with memory_recall whether it is known, and "
            "update instead of repeating. Then tell me in one line each what you stored.",
        ),
        "zh": _Words(
            title="记住这次对话",
            description="保存这次对话中对以后有用的内容",
            text="请回顾我们的对话，用 memory_save 保存对以后有价值的内容：偏好、决定及其理由、"
            "约束、纠正和链接，每条一个记忆。先用 memory_recall 查看是否已经记过，"
            "已有的更新而不要重复。最后用一行一条告诉我保存了什么。",
        ),
    },
    _GUIDE: {
        "en": _Words(title="How to use memory", description="Tell the model how to use its memory"),
        "zh": _Words(title="记忆使用说明", description="告诉模型如何使用记忆"),
    },
}


def list_prompts(language: Tongue) -> list[types.Prompt]:
    """Return the prompts there are."""
    return [
        types.Prompt(
            name=name,
            title=words[language].title,
            description=words[language].description,
            arguments=[
                types.PromptArgument(
                    name="question", description=words[language].argument, required=True
                )
            ]
            if words[language].argument
            else None,
        )
        for name, words in _WORDS.items()
    ]


async def get_prompt(
    memory: Memory, language: Tongue, name: str, arguments: Mapping[str, str]
) -> types.GetPromptResult:
    """Return a prompt, filled in."""
    if name not in _WORDS:
        raise NotFound(
            f"There is no prompt {name!r}",
            code="unknown_prompt",
            hint=f"There are: {', '.join(_WORDS)}.",
        )
    words = _WORDS[name][language]
    if name == _RECALL:
        question = arguments.get("question", "").strip()
        if not question:
            raise InvalidInput("The question is missing", code="missing_field")
        known = await memory.context(question, language=language)
        told = known.text if known.ids else "\n\n".join(filter(None, (known.text, words.text)))
        text = f"{told}\n\n{question}"
    else:
        text = memory_guide(language) if name == _GUIDE else words.text
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=words.description, messages=[message])


# --- The MCP server: answer a client's requests for the memory that its connection belongs to -----

_NAME: Final = "recollect"
_ABOUT: Final = "Long-term memory for agents that people can see, search, correct and delete."
# A server cannot add to a prompt.
_ASK_FIRST: Final[Mapping[Tongue, str]] = {
    "en": "Nothing is recalled by itself here: call memory_recall when a conversation begins, and "
    "whenever the user may have told you something before. memory_profile tells who the user is "
    "and what holds in every answer.",
    "zh": "这里不会自动召回记忆：对话开始时，以及用户可能说过相关内容时，请先调用 memory_recall。"
    "memory_profile 给出用户档案，每次回答都要考虑。",
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

    async def on_list_tools(
        context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        here = await find(context)
        return types.ListToolsResult(
            tools=list_tools(_toolbox(here), here.language, here.role, _has_session(here))
        )

    async def on_call_tool(
        context: Context, asked: types.CallToolRequestParams
    ) -> types.CallToolResult:
        here = await find(context)
        return await call_tool(
            _toolbox(here),
            asked.name,
            asked.arguments or {},
            role=here.role,
            has_session=_has_session(here),
        )

    async def on_list_resources(
        context: Context, asked: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        here = await find(context)
        cursor = None if asked is None else asked.cursor
        with _telling():
            return await list_resources(here.memory, here.language, cursor)

    async def on_list_templates(
        context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        here = await find(context)
        return types.ListResourceTemplatesResult(resource_templates=templates(here.language))

    async def on_read_resource(
        context: Context, asked: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        here = await find(context)
        with _telling(about=asked.uri):
            return await read_resource(here.memory, here.language, asked.uri)

    async def on_list_prompts(
        context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        here = await find(context)
        return types.ListPromptsResult(prompts=list_prompts(here.language))

    async def on_get_prompt(
        context: Context, asked: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        here = await find(context)
        with _telling():
            return await get_prompt(here.memory, here.language, asked.name, asked.arguments or {})

    return Server(
        _NAME,
        version=version("recollect"),
        title="Recollect",
        description=_ABOUT,
        instructions=f"{memory_guide(language)}\n\n{_ASK_FIRST[language]}",
        on_list_tools=on_list_tools,
        on_call_tool=on_call_tool,
        on_list_resources=on_list_resources,
        on_list_resource_templates=on_list_templates,
        on_read_resource=on_read_resource,
        on_list_prompts=on_list_prompts,
        on_get_prompt=on_get_prompt,
    )


async def serve_stdio(memory: Memory, language: Tongue, session: str) -> None:
    """Serve one client over standard input and output until it closes them."""
    here = Connection(memory=memory, language=language, session=session)

    async def find(_: Context) -> Connection:
        return here

    server = create_mcp_server(find, language)
    async with stdio_server() as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())


def _toolbox(here: Connection) -> Toolbox:
    return here.memory.tools(here.language, session=here.session)


def _has_session(here: Connection) -> bool:
    return here.session is not None


@contextmanager
def _telling(about: str | None = None) -> Generator[None]:
    """Turn our errors into the protocol's: a client shows their message and code."""
    try:
        yield
    except RecollectError as problem:
        code = types.INTERNAL_ERROR if problem.retryable else types.INVALID_PARAMS
        data = {"code": problem.code, "hint": problem.hint}
        if isinstance(problem, NotFound) and about is not None:
            data["uri"] = about
        raise MCPError(code, problem.message, data) from problem
