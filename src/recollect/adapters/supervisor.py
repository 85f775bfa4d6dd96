"""Memory for a LangGraph supervisor and its sub-agents.

The supervisor's memory alone reads and writes. What is remembered about a task stands in the
system prompt of whoever works on it; preferences, conclusions and effects are written after a
sub-agent returns. Sub-agents keep nothing. It fits sub-agents that are tools of a supervisor, and
those of langgraph-supervisor's `create_supervisor`.
"""
# The framework has an environment of its own, where the tests of this module run.
# pyright: basic, reportMissingImports=false, reportInvalidTypeForm=false

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, NotRequired

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest
from langchain_core.messages import AIMessage, AnyMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langgraph.managed import RemainingSteps

from recollect.adapters.bridge import AnyMemory
from recollect.adapters.companion import Companion, newest_words
from recollect.adapters.langchain import (
    MemoryState,
    RecollectMiddleware,
    Run,
    run_of,
    views_of,
    with_system_text,
)
from recollect.domain.context import Tongue
from recollect.domain.message import Message
from recollect.domain.profile import written_by
from recollect.language.extraction.own_words import are_own_words

__all__ = ["SupervisorMemory"]

# Of a long answer so much is looked at; the conversation keeps the rest.
_LONGEST: Final = 2_000


class SupervisorMemory:
    """What a supervisor and its sub-agents know.

    `create_agent(model, tools=[…], middleware=[memory.supervisor()])` is the supervisor, and
    `create_agent(model, middleware=[memory.worker("billing")], name="billing")` a sub-agent. With
    `create_supervisor` the supervisor gets `**memory.options("You are …")`. `memory_degraded` in
    the result of either tells what went wrong with memory, also in sub-agents.
    """

    def __init__(self, memory: AnyMemory, *, language: Tongue = "en") -> None:
        self._memory = memory
        self._language: Tongue = language
        self.companion = Companion(memory, language=language)
        self._bridge = self.companion.bridge

    def supervisor(self, **options: Any) -> RecollectMiddleware:
        """Return the supervisor's middleware: recall at entry, its conversation, its tools."""
        return RecollectMiddleware(self._memory, language=self._language, **options)

    def worker(self, name: str) -> AgentMiddleware:
        """Return a sub-agent's middleware: recall for its task, and writing when it is done."""
        return _Worker(self, name)

    def options(self, instructions: str) -> dict[str, Any]:
        """Return what `create_supervisor` takes: the prompt, and the state that tells problems."""

        def told(state: Any) -> dict[str, Any]:
            return {"memory_degraded": list(run_of(self.companion, state).problems)}

        return {
            "prompt": self.prompt(instructions),
            "state_schema": SupervisorState,
            "post_model_hook": told,
        }

    def prompt(self, instructions: str) -> RunnableLambda[Any, Any]:
        """Return the prompt of a supervisor made by `create_supervisor`: recall at entry."""

        def blocking(state: Any) -> list[AnyMessage]:
            run = run_of(self.companion, state)
            known = self._bridge.run(lambda: self.known(state["messages"], run))
            return self._prompted(instructions, known, state)

        async def awaited(state: Any) -> list[AnyMessage]:
            run = run_of(self.companion, state)
            known = await self._bridge.arun(lambda: self.known(state["messages"], run))
            return self._prompted(instructions, known, state)

        return RunnableLambda(blocking, awaited)

    def _prompted(self, instructions: str, known: str, state: Any) -> list[AnyMessage]:
        text = "\n\n".join(filter(None, (instructions, known)))
        return [SystemMessage(content=text), *state["messages"]]

    async def known(self, messages: Sequence[AnyMessage], run: Run) -> str:
        """Return what is remembered about the task at hand, if it needs memory at all."""
        task = newest_words(views_of(messages))
        known = ""
        with self.companion.going_on():
            if task and (await run.talk.memory.route(task)).should_read:
                known = await run.talk.context(task)
        run.add(self.companion.take_degraded())
        return known

    async def write(self, agent: str, messages: Sequence[AnyMessage], run: Run) -> None:
        """Write what the user asked to keep, what the agent concluded and what its tools did."""
        said = views_of(messages)
        start = max((at for at, it in enumerate(said) if it.role == "user"), default=-1)
        for native, message in zip(messages[start:], said[start:], strict=True):
            is_answer = isinstance(native, AIMessage) and not native.tool_calls
            if message.role == "user" or is_answer or isinstance(native, ToolMessage):
                await self._write(agent, message, run)
        run.add(self.companion.take_degraded())

    async def _write(self, agent: str, message: Message, run: Run) -> None:
        text = message.text[:_LONGEST]
        source = "user" if message.role == "user" else agent
        with self.companion.going_on():
            memory = run.talk.memory
            judged = await memory.route(text)
            if judged.should_write and judged.namespaces:
                # The answer of an agent, and text that a user pasted, are not the user's words.
                is_own = message.role == "user" and are_own_words(text)
                await memory.write(
                    text,
                    category=judged.namespaces[0],
                    source=source,
                    metadata=written_by({}, None if is_own else "model"),
                )


class SupervisorState(MemoryState):
    """The state of a supervisor made by `create_supervisor`."""

    remaining_steps: NotRequired[RemainingSteps]


class _Worker(AgentMiddleware):
    """A sub-agent's side of the supervisor's memory."""

    state_schema = MemoryState

    def __init__(self, memory: SupervisorMemory, agent: str) -> None:
        super().__init__()
        self._memory = memory
        self._bridge = memory.companion.bridge
        self._agent = agent
        self.tools = []

    @property
    def name(self) -> str:
        return f"recollect-{self._agent}"

    def wrap_model_call(self, request: ModelRequest, handler: Callable[..., Any]) -> Any:
        run = run_of(self._memory.companion, request.state)
        known = self._bridge.run(lambda: self._memory.known(request.messages, run))
        return handler(with_system_text(request, known))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[..., Awaitable[Any]]
    ) -> Any:
        run = run_of(self._memory.companion, request.state)
        known = await self._bridge.arun(lambda: self._memory.known(request.messages, run))
        return await handler(with_system_text(request, known))

    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        run = run_of(self._memory.companion, state)
        self._bridge.run(lambda: self._memory.write(self._agent, state["messages"], run))
        return self._told(run)

    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        run = run_of(self._memory.companion, state)
        await self._bridge.arun(lambda: self._memory.write(self._agent, state["messages"], run))
        return self._told(run)

    def _told(self, run: Run) -> dict[str, Any]:
        # A sub-agent that is a tool gives its state to nobody: the supervisor tells it too.
        return {"memory_degraded": list(run.problems)}
