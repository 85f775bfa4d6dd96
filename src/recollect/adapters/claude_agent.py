"""Memory for the Claude Agent SDK: `ClaudeAgentOptions(**memory.options())`.

The user's prompts and what sub-agents are started with get what is remembered and what tools have
found beside them. Large results of tools are archived, and what was said is read when the agent
stops. The memory tools run in this process, as `mcp__recollect__memory_save` and the like.

The command that the SDK drives keeps what a hook adds in its transcript: unlike elsewhere, what is
recalled stays in the conversation.
"""
# The framework has an environment of its own, where the tests of this module run.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from claude_agent_sdk import HookMatcher, SdkMcpTool, create_sdk_mcp_server, tool

from recollect.adapters.bridge import AnyMemory
from recollect.adapters.companion import Companion, Conversation, text_message
from recollect.context.notes import SessionNotes
from recollect.domain.context import Tongue
from recollect.domain.memory_tools import is_memory_tool, memory_guide

__all__ = ["ClaudeAgentMemory"]

_SERVER: Final = "recollect"
# What a background task reports comes as a prompt, which nobody typed.
_NOTICE: Final = "<task-notification>"
# Where the results of built-in tools have the text that the model reads.
_SHOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "Bash": ("stdout",),
    "Grep": ("content",),
    "Read": ("file", "content"),
    "WebFetch": ("result",),
}
_KNOWN: Final[Mapping[Tongue, str]] = {
    "en": "This call was made before and was not repeated. Its result:\n{}",
    "zh": "同样的调用之前已执行过，未重复执行。其结果如下：\n{}",
}


class ClaudeAgentMemory:
    """Memory for one agent; a conversation is the SDK's own session.

    Its user is the one that the memory was given to (`memory.scope(user=…)`), else somebody
    anonymous of the session: take `options` anew for each conversation then.
    `degraded` tells what went wrong with memory; the agent goes on without it.
    """

    def __init__(
        self, memory: AnyMemory, *, language: Tongue = "en", with_tools: bool = True
    ) -> None:
        self._companion = Companion(memory, language=language)
        self._with_tools = with_tools
        # The newest prompt of each session, for its sub-agents.
        self._asked: dict[str, str] = {}
        self._newest: str | None = None
        # What tools had found when a session was last told about it.
        self._found: dict[str, str] = {}

    @property
    def degraded(self) -> tuple[str, ...]:
        """Return what went wrong with memory so far."""
        return self._companion.degraded

    def options(self) -> dict[str, Any]:
        """Return what `ClaudeAgentOptions` takes: hooks, and the tools with leave to use them."""
        heard = _Heard()
        hooks = {
            name: [HookMatcher(hooks=[heard.through(hook)])] for name, hook in self.hooks().items()
        }
        if not self._with_tools:
            return {"hooks": hooks}
        tools = self._tools(heard)
        return {
            "hooks": hooks,
            "mcp_servers": {_SERVER: create_sdk_mcp_server(_SERVER, tools=tools)},
            "allowed_tools": [f"mcp__{_SERVER}__{it.name}" for it in tools],
        }

    def hooks(self) -> dict[str, Callable[..., Any]]:
        """Return the hooks by the event they are for, to put beside hooks of your own."""
        return {
            "UserPromptSubmit": self._prompted,
            "SubagentStart": self._sub_agent_started,
            "PreToolUse": self._tool_wanted,
            "PostToolUse": self._tool_used,
            "Stop": self._stopped,
        }

    async def notes(self, session: str | None = None) -> SessionNotes | None:
        """Return what the tools of a session have found, by default of the newest one.

        There are none where memory fails.
        """
        return await self._talk(session).notes()

    async def reset(self, session: str | None = None) -> None:
        """Let go of what belongs to the current question; cached structures stay."""
        await self._talk(session).reset()

    async def reset_all(self, session: str | None = None) -> None:
        """Let go of everything that the tools of a session have found."""
        await self._talk(session).reset(everything=True)

    def _talk(self, session: str | None) -> Conversation:
        return self._companion.conversation(session or self._newest)

    def tools(self) -> list[SdkMcpTool[Any]]:
        """Return the memory tools."""
        return self._tools(_Heard())

    def _tools(self, heard: _Heard) -> list[SdkMcpTool[Any]]:
        box = self._companion.memory.tools(self._companion.language)
        return [
            tool(told["name"], told["description"], told["parameters"])(
                self._tool(told["name"], heard)
            )
            for told in box.json_schemas()
        ]

    async def _prompted(self, given: Mapping[str, Any], _: str | None, __: Any) -> dict[str, Any]:
        prompt = given["prompt"]
        if prompt.lstrip().startswith(_NOTICE):
            return {}
        session = given["session_id"]
        # The transcript keeps it: once is enough. A system prompt could not be changed on resuming.
        is_new = session not in self._asked
        guide = memory_guide(self._companion.language) if self._with_tools and is_new else ""
        self._asked[session], self._newest = prompt, session
        await self._talk(session).observe([text_message("user", prompt)])
        found = await self._news(session)
        return await self._told("UserPromptSubmit", guide, prompt, session, found)

    async def _sub_agent_started(
        self, given: Mapping[str, Any], _: str | None, __: Any
    ) -> dict[str, Any]:
        session = given["session_id"]
        found = await self._talk(session).noted()
        return await self._told("SubagentStart", "", self._asked.get(session, ""), session, found)

    async def _tool_wanted(
        self, given: Mapping[str, Any], _: str | None, __: Any
    ) -> dict[str, Any]:
        """Answer a call whose result is known, where the settings allow it.

        A hook cannot return a result: it stops the call, and the reason is the result.
        """
        name, arguments, session = given["tool_name"], given["tool_input"], given["session_id"]
        known = await self._talk(session).known_result(name, arguments)
        if known is None:
            return {}
        kept = await self._kept(given, known)
        told = _KNOWN[self._companion.language].format(kept)
        return _answer("PreToolUse", permissionDecision="deny", permissionDecisionReason=told)

    async def _tool_used(self, given: Mapping[str, Any], _: str | None, __: Any) -> dict[str, Any]:
        """Note a result and archive it if it is large; that of a built-in tool keeps its shape."""
        name, response = given["tool_name"], given["tool_response"]
        text = _text_in(name, response)
        if is_memory_tool(name) or text is None:
            return {}
        kept = await self._kept(given, text)
        if kept == text:
            return {}
        return _answer("PostToolUse", updatedToolOutput=_with_text(name, response, kept))

    async def _kept(self, given: Mapping[str, Any], result: str) -> str:
        session = given["session_id"]
        return await self._talk(session).result(
            given["tool_name"],
            given["tool_input"],
            result,
            question=self._asked.get(session, ""),
        )

    async def _stopped(self, given: Mapping[str, Any], _: str | None, __: Any) -> dict[str, Any]:
        session, said = given["session_id"], given.get("last_assistant_message")
        if said:
            await self._talk(session).observe([text_message("assistant", said)])
        await self._talk(session).leave()
        return {}

    async def _news(self, session: str) -> str:
        """Return the structures that are known, and what was found since the last prompt.

        The transcript keeps what was told before.
        """
        notes = await self._talk(session).notes()
        if notes is None:
            return ""
        hint, found = notes.get_toc_cache_hint(), notes.get_memory_context()
        is_new = found != self._found.get(session, "")
        self._found[session] = found
        return "\n\n".join(filter(None, (hint, found if is_new else "")))

    async def _told(
        self, event: str, guide: str, asked: str, session: str, found: str
    ) -> dict[str, Any]:
        known = await self._talk(session).context(asked, with_notes=False) if asked else ""
        text = "\n\n".join(filter(None, (guide, known, found)))
        return _answer(event, additionalContext=text) if text else {}

    def _tool(self, name: str, heard: _Heard) -> Callable[[Any], Any]:
        async def call(arguments: Mapping[str, Any]) -> dict[str, Any]:
            text = await self._companion.conversation(heard.session).call(name, arguments)
            return {"content": [{"type": "text", "text": text}]}

        return call


class _Heard:
    """The session that a set of options serves: the SDK tells it to hooks, and not to tools."""

    session: str | None = None

    def through(self, hook: Callable[..., Any]) -> Callable[..., Any]:
        """Return a hook that notes the session first."""

        async def noting(given: Mapping[str, Any], *rest: Any) -> dict[str, Any]:
            self.session = given["session_id"]
            return await hook(given, *rest)

        return noting


def _answer(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def _text_in(tool: str, response: object) -> str | None:
    """Return the text of a result; None where there is anything else in it."""
    if not tool.startswith("mcp__"):
        found = response
        for name in _SHOWN.get(tool, ("",)):
            found = found.get(name) if isinstance(found, Mapping) else None
        return found if isinstance(found, str) else None
    blocks = response.get("content") if isinstance(response, Mapping) else response
    if isinstance(blocks, str):
        return blocks
    if not isinstance(blocks, Sequence) or not all(isinstance(block, Mapping) for block in blocks):
        return None
    if any(block.get("type") != "text" for block in blocks):
        return None
    return "\n".join(block["text"] for block in blocks)


def _with_text(tool: str, response: Any, text: str) -> Any:
    """Return a result with another text, in the shape that the command takes."""
    if tool.startswith("mcp__"):
        return [{"type": "text", "text": text}]
    return _replaced(response, _SHOWN[tool], text)


def _replaced(value: Mapping[str, Any], path: Sequence[str], text: str) -> dict[str, Any]:
    name, *rest = path
    return {**value, name: _replaced(value[name], rest, text) if rest else text}
