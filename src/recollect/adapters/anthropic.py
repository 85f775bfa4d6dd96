"""Memory for Anthropic's client: its memory tool on our items, and middleware for its calls.

    tool = RecollectMemoryTool(memory)                      # "memory_20250818"
    client = Anthropic(middleware=[RecollectMiddleware(memory, session="monday")])

The tool keeps the files of /memories: durable, exported and forgotten with everything else. The
middleware adds what is remembered to the system prompt of each call and makes its messages fit;
the program's own list stays as it is.
"""
# The framework has an environment of its own, where the tests of this module run.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from anthropic import Middleware
from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool

from recollect.adapters.anthropic_files import MemoryFiles
from recollect.adapters.bridge import AnyMemory
from recollect.adapters.companion import Companion, newest_words
from recollect.adapters.plain import Chat
from recollect.context.message_formats import read_messages
from recollect.domain.context import Tongue
from recollect.domain.memory_tools import is_memory_tool

__all__ = ["AsyncRecollectMemoryTool", "RecollectMemoryTool", "RecollectMiddleware"]

_MESSAGES: Final = "/v1/messages"
_OK: Final = 200


class RecollectMemoryTool(BetaAbstractMemoryTool):
    """Anthropic's memory tool for the blocking client; `memory` is one of `recollect.sync`.

    The files are those of the memory's user; without one, of the conversation `session`, else of
    this tool alone.
    """

    def __init__(self, memory: AnyMemory, *, session: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        companion = Companion(memory)
        self._bridge = companion.bridge
        self.files = MemoryFiles(companion.seen_by(None, session))

    def execute(self, command: Any) -> str:
        return self._bridge.run(lambda: self.files.execute(command))

    view = create = str_replace = insert = delete = rename = execute

    def clear_all_memory(self) -> str:
        return self._bridge.run(self.files.clear)


class AsyncRecollectMemoryTool(BetaAsyncAbstractMemoryTool):
    """Anthropic's memory tool for the async client."""

    def __init__(self, memory: AnyMemory, *, session: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        companion = Companion(memory)
        self._bridge = companion.bridge
        self.files = MemoryFiles(companion.seen_by(None, session))

    async def execute(self, command: Any) -> str:
        return await self._bridge.arun(lambda: self.files.execute(command))

    view = create = str_replace = insert = delete = rename = execute

    async def clear_all_memory(self) -> str:
        return await self._bridge.arun(self.files.clear)


class RecollectMiddleware(Middleware):
    """Memory for one conversation, for blocking and async clients.

    Give a conversation its own: `client.with_options(middleware=[RecollectMiddleware(…)])`. Call
    `leave` (`aleave`) when it is over; `degraded` tells what went wrong with memory meanwhile. Its
    user is the one that the memory was given to, else that of the calls (`metadata.user_id`).
    """

    def __init__(
        self,
        memory: AnyMemory,
        *,
        session: str,
        model: str | None = None,
        context_tokens: int | None = None,
        language: Tongue = "en",
    ) -> None:
        self._companion = Companion(
            memory, model=model, context_tokens=context_tokens, language=language
        )
        self._talk = self._companion.conversation(session)
        self._said: list[Mapping[str, Any]] = []
        # The same with the answer, for a thread that goes on from it.
        self._held: list[Mapping[str, Any]] = []

    @property
    def degraded(self) -> tuple[str, ...]:
        """Return what went wrong with memory so far."""
        return self._companion.degraded

    def handle(self, request: Any, call_next: Callable[[Any], Any]) -> Any:
        if not _is_call(request):
            return call_next(request)
        body = self._companion.bridge.run(lambda: self._planned(request.json))
        response = call_next(request.copy(body=body))
        if response.status_code == _OK:
            self._take(None if request.stream else response.parse())
        return response

    async def handle_async(self, request: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        if not _is_call(request):
            return await call_next(request)
        body = await self._companion.bridge.arun(lambda: self._planned(request.json))
        response = await call_next(request.copy(body=body))
        if response.status_code == _OK:
            self._take(None if request.stream else await response.parse())
        return response

    def leave(self) -> None:
        """Have the conversation read for what is worth remembering."""
        self._companion.bridge.run(self._chat().leave)

    async def aleave(self) -> None:
        """Have the conversation read for what is worth remembering."""
        await self._chat().leave()

    async def _planned(self, body: Mapping[str, Any]) -> dict[str, Any]:
        user = self._companion.named((body.get("metadata") or {}).get("user_id"))
        self._talk = self._companion.conversation(self._talk.session, user)
        if (body.get("thread") or {}).get("type") == "continue":
            return {**body, "messages": await self._continued(body["messages"])}
        self._said = list(body["messages"])
        tools = body.get("tools") or ()
        sent = await self._chat(any(map(_is_memory_tool, tools))).to_send()
        system = _joined(body.get("system"), sent.system)
        return {**body, "messages": sent.messages, **({"system": system} if system else {})}

    async def _continued(self, new: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Return what is new in a thread; the service holds the rest, and the system prompt."""
        self._said = [*self._held, *new]
        sent = (await self._chat().to_send()).messages[-len(new) :]
        if [it["role"] for it in sent] != [it["role"] for it in new]:
            sent = list(new)
        asked = newest_words([message.message for message in read_messages(new)])
        told = await self._talk.context(asked) if asked else ""
        if not told:
            return sent
        said = sent[-1]["content"]
        blocks = [_text_block(said)] if isinstance(said, str) else said
        return [*sent[:-1], {**sent[-1], "content": [*blocks, _text_block(told)]}]

    def _take(self, answer: Any) -> None:
        """Note what was said, with the answer unless it is on its way."""
        spoken = [{"role": "assistant", "content": answer.to_dict()["content"]}] if answer else []
        self._said = self._held = [*self._said, *spoken]

    def _chat(self, with_tools: bool = False) -> Chat:
        return Chat(self._talk, self._said, "anthropic", "", with_tools)


def _is_call(request: Any) -> bool:
    is_messages = request.url.partition("?")[0] == _MESSAGES
    return is_messages and isinstance(request.json, Mapping) and "messages" in request.json


def _is_memory_tool(tool: Mapping[str, Any]) -> bool:
    return is_memory_tool(tool.get("name", ""))


def _joined(system: Any, told: Any) -> Any:
    """Return the system prompt with ours at its end; blocks of the program stay cached."""
    if not told or not system:
        return told or system
    if isinstance(system, str):
        return f"{system}\n\n{told}"
    return [*system, _text_block(str(told))]


def _text_block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
