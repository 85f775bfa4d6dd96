"""Memory for the Claude Agent SDK: `ClaudeAgentOptions(**memory.options())`.

The user's prompts and what sub-agents are started with get what is remembered beside them, large
results of MCP tools are archived, and what was said is read when the agent stops. The memory tools
run in this process, as `mcp__recollect__memory_save` and the like.

The command that the SDK drives keeps what a hook adds in its transcript: unlike elsewhere, what is
recalled stays in the conversation.
"""
# The framework has an environment of its own, where the tests of this module run.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from claude_agent_sdk import HookMatcher, SdkMcpTool, create_sdk_mcp_server, tool

from recollect.adapters.bridge import AnyMemory, Bridge
from recollect.adapters.companion import Companion, text_message
from recollect.domain.context import Tongue
from recollect.domain.memory_tools import is_memory_tool, memory_guide

__all__ = ["ClaudeAgentMemory"]

_SERVER: Final = "recollect"
# What a background task reports comes as a prompt, which nobody typed.
_NOTICE: Final = "<task-notification>"


class ClaudeAgentMemory:
    """Memory for one agent; a conversation is the SDK's own session.

    `degraded` tells what went wrong with memory; the agent goes on without it.
    """

    def __init__(
        self, memory: AnyMemory, *, language: Tongue = "en", with_tools: bool = True
    ) -> None:
        self._bridge = Bridge(memory)
        self._companion = Companion(self._bridge.memory, language=language)
        self._with_tools = with_tools
        # The newest prompt of each session, for its sub-agents.
        self._asked: dict[str, str] = {}

    @property
    def degraded(self) -> tuple[str, ...]:
        """Return what went wrong with memory so far."""
        return self._companion.degraded

    def options(self) -> dict[str, Any]:
        """Return what `ClaudeAgentOptions` takes: hooks, and the tools with leave to use them."""
        hooks = {name: [HookMatcher(hooks=[hook])] for name, hook in self.hooks().items()}
        if not self._with_tools:
            return {"hooks": hooks}
        tools = self.tools()
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
            "PostToolUse": self._tool_used,
            "Stop": self._stopped,
        }

    def tools(self) -> list[SdkMcpTool[Any]]:
        """Return the memory tools."""
        return [
            tool(told["name"], told["description"], told["parameters"])(self._tool(told["name"]))
            for told in self._companion.toolbox().json_schemas()
        ]

    async def _prompted(self, given: Mapping[str, Any], _: str | None, __: Any) -> dict[str, Any]:
        prompt = given["prompt"]
        if prompt.lstrip().startswith(_NOTICE):
            return {}
        session = given["session_id"]
        # The transcript keeps it: once is enough. A system prompt could not be changed on resuming.
        is_new = session not in self._asked
        guide = memory_guide(self._companion.language) if self._with_tools and is_new else ""
        self._asked[session] = prompt
        await self._bridge.arun(
            lambda: self._companion.observe([text_message("user", prompt)], session=session)
        )
        return await self._told("UserPromptSubmit", guide, prompt, session)

    async def _sub_agent_started(
        self, given: Mapping[str, Any], _: str | None, __: Any
    ) -> dict[str, Any]:
        session = given["session_id"]
        return await self._told("SubagentStart", "", self._asked.get(session, ""), session)

    async def _tool_used(self, given: Mapping[str, Any], _: str | None, __: Any) -> dict[str, Any]:
        """Archive a large result of an MCP tool; those of built-in tools keep their shape."""
        name, response = given["tool_name"], given["tool_response"]
        text = _text_of(response)
        if not name.startswith("mcp__") or is_memory_tool(name) or text is None:
            return {}
        session = given["session_id"]
        kept = await self._bridge.arun(
            lambda: self._companion.result(
                name,
                given["tool_input"],
                text,
                question=self._asked.get(session, ""),
                session=session,
            )
        )
        if kept == text:
            return {}
        return _answer("PostToolUse", updatedToolOutput=[{"type": "text", "text": kept}])

    async def _stopped(self, given: Mapping[str, Any], _: str | None, __: Any) -> dict[str, Any]:
        session, said = given["session_id"], given.get("last_assistant_message")
        await self._bridge.arun(lambda: self._left(session, said))
        return {}

    async def _told(self, event: str, guide: str, asked: str, session: str) -> dict[str, Any]:
        known = ""
        if asked:
            known = await self._bridge.arun(lambda: self._companion.context(asked, session=session))
        text = "\n\n".join(filter(None, (guide, known)))
        return _answer(event, additionalContext=text) if text else {}

    async def _left(self, session: str, said: str | None) -> None:
        if said:
            await self._companion.observe([text_message("assistant", said)], session=session)
        await self._companion.leave(session=session)

    def _tool(self, name: str) -> Callable[[Any], Any]:
        async def call(arguments: Mapping[str, Any]) -> dict[str, Any]:
            box = self._companion.toolbox()
            text = await self._bridge.arun(lambda: box.call(name, arguments))
            return {"content": [{"type": "text", "text": text}]}

        return call


def _answer(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def _text_of(response: object) -> str | None:
    """Return the text of an MCP tool's result; None where there is anything else in it."""
    blocks = response.get("content") if isinstance(response, Mapping) else response
    if isinstance(blocks, str):
        return blocks
    if not isinstance(blocks, Sequence) or not all(isinstance(it, Mapping) for it in blocks):
        return None
    if any(it.get("type") != "text" for it in blocks):
        return None
    return "\n".join(it["text"] for it in blocks)
