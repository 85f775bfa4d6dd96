"""Memory beside a plain list of messages, for the clients of OpenAI and Anthropic.

    async with wrap(memory, messages, session="monday") as chat:
        answer = await client.chat.completions.create(messages=await chat.to_send(), …)
        messages.append(answer.choices[0].message.model_dump(exclude_none=True))
        messages += await chat.answers(messages[-1])

The list stays the program's own: it is read, and only what is sent is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from recollect.adapters.companion import Companion, Conversation
from recollect.context.anthropic_messages import AnthropicMessages
from recollect.context.message_formats import read_messages, written
from recollect.domain.context import Tongue
from recollect.domain.memory_tools import is_memory_tool
from recollect.domain.message import Message, TextPart
from recollect.errors import RecollectError
from recollect.memory import Memory

__all__ = ["Chat", "wrap"]

Provider = Literal["openai", "anthropic"]


def wrap(
    memory: Memory,
    messages: Sequence[Mapping[str, Any]],
    *,
    session: str | None = None,
    provider: Provider = "openai",
    system: str = "",
    model: str | None = None,
    context_tokens: int | None = None,
    language: Tongue = "en",
    with_tools: bool = True,
) -> Chat:
    """Return a list of messages with a memory beside it, of whom `memory.scope(user=…)` names.

    `system` is the system prompt where the list has none, as with Anthropic. `model` or
    `context_tokens` say what window the messages must fit. The prompt has a guide to the memory
    tools unless `with_tools` says that the model does not get them.
    """
    companion = Companion(memory, model=model, context_tokens=context_tokens, language=language)
    return Chat(companion.conversation(session), messages, provider, system, with_tools)


class Chat:
    """A program's own list of messages, and what to send of it."""

    def __init__(
        self,
        talk: Conversation,
        messages: Sequence[Mapping[str, Any]],
        provider: Provider,
        system: str,
        with_tools: bool,
    ) -> None:
        self._talk = talk
        self._messages = messages
        self._provider: Provider = provider
        self._system = system
        self._with_guide = None if with_tools else False

    @property
    def degraded(self) -> tuple[str, ...]:
        """Return what went wrong with memory so far; the conversation goes on without it."""
        return self._talk.companion.degraded

    @property
    def tools(self) -> list[dict[str, Any]]:
        """Return the memory tools as the provider takes them."""
        box = self._talk.toolbox
        return box.openai() if self._provider == "openai" else box.anthropic()

    async def to_send(self) -> Any:
        """Return what to send now: a list for OpenAI, `system` and `messages` for Anthropic."""
        prompts = [self._system] if self._system else []
        try:
            neutral = [message.message for message in read_messages(self._messages)]
            prompts += [it.text for it in neutral if it.role == "system"]
            said = [it for it in neutral if it.role != "system"]
            session = await self._talk.opened()
            await session.sync(said)
            query = next((it.text for it in reversed(said) if it.role == "user"), None)
            sent = await session.prepare(query, format="neutral", with_guide=self._with_guide)
            return written(_with_prompts(prompts, sent), self._provider)
        except RecollectError as problem:
            self._talk.companion.tell(problem)
            return self._unchanged()

    async def answers(self, message: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the results of the memory tools that an assistant's message calls.

        Other tools are the program's own to call. Anthropic wants all results in one message.
        """
        (read,) = read_messages(message)
        results = [
            (call.id, await self._talk.call(call.name, call.arguments))
            for call in read.message.tool_calls
            if is_memory_tool(call.name)
        ]
        if self._provider == "openai":
            return [
                {"role": "tool", "tool_call_id": call, "content": text} for call, text in results
            ]
        blocks = [
            {"type": "tool_result", "tool_use_id": call, "content": text} for call, text in results
        ]
        return [{"role": "user", "content": blocks}] if blocks else []

    async def result(self, tool: str, arguments: object, result: str) -> str:
        """Return what to keep of a tool's result: itself, or what stands for a large one."""
        return await self._talk.result(tool, arguments, result)

    async def leave(self) -> None:
        """Take over what was said last, and have it read for what is worth remembering."""
        await self._talk.leave([message.message for message in read_messages(self._messages)])

    async def __aenter__(self) -> Chat:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.leave()

    def _unchanged(self) -> Any:
        plain = [dict(message) for message in self._messages]
        if self._provider == "openai":
            prompt = [{"role": "system", "content": self._system}] if self._system else []
            return [*prompt, *plain]
        return AnthropicMessages(system=self._system or None, messages=plain)


def _with_prompts(prompts: Sequence[str], sent: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages behind one system prompt: the program's own, then ours."""
    texts = [*prompts, *(it.text for it in sent if it.role == "system")]
    said = (it for it in sent if it.role != "system")
    if not texts:
        return tuple(said)
    prompt = Message(role="system", parts=(TextPart(text="\n\n".join(texts)),))
    return (prompt, *said)
