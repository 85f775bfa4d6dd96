"""Memory for Google's Agent Development Kit: `Runner(…, memory_service=RecollectMemoryService(m))`.

`preload_memory` and `load_memory` of the kit find what is remembered. The kit hands a session over
when it is asked to, best in an agent's `after_agent_callback`; the same one twice changes nothing.
Large tool results are noted and archived where `after_tool_callback` is the service's `archive`;
the model is told what tools have found where `before_model_callback` is its `tell`.
"""
# The framework has an environment of its own, where the tests of this module run.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from google.adk.agents.callback_context import CallbackContext
from google.adk.events import Event
from google.adk.memory import BaseMemoryService
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import LlmRequest
from google.adk.sessions import Session
from google.adk.tools import BaseTool, ToolContext
from google.genai import types

from recollect.adapters.bridge import AnyMemory, Bridge
from recollect.adapters.companion import Companion, Conversation, text_message
from recollect.domain.hit import Hit
from recollect.domain.message import Message
from recollect.domain.record import Record
from recollect.domain.turn import Turn
from recollect.errors import RecollectError
from recollect.recall.fence import fenced

__all__ = ["RecollectMemoryService"]


class RecollectMemoryService(BaseMemoryService):
    """The kit's memory service: its users are our users, and an app is an agent of ours.

    A memory that was given to one user (`memory.scope(user=…)`) is theirs, whoever the kit names.

    Apps on one memory share what users told about themselves, and keep the rest apart. `degraded`
    tells what went wrong with memory; a run never fails because of it.
    """

    def __init__(self, memory: AnyMemory) -> None:
        self._bridge = Bridge(memory)
        self._apps: dict[str, Companion] = {}

    @property
    def degraded(self) -> tuple[str, ...]:
        """Return what went wrong with memory so far."""
        return tuple(told for app in self._apps.values() for told in app.degraded)

    async def add_session_to_memory(self, session: Session) -> None:
        """Take over what is new in a session, and have it read for what is worth remembering."""
        await self._talk(session).leave(views_of(session.events))

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        **_: Any,
    ) -> None:
        """Observe events; one that is known to the session by its id is passed over."""
        app = self._app(app_name)
        talk = app.conversation(session_id, app.named(user_id))
        await talk.observe_new(views_of(events))

    async def add_memory(
        self, *, app_name: str, user_id: str, memories: Sequence[MemoryEntry], **_: Any
    ) -> None:
        """Save memories as they are."""
        texts = [text for it in memories if (text := _text_of(it.content))]
        app = self._app(app_name)
        memory = app.seen_by(app.named(user_id))
        await self._bridge.arun(lambda: memory.remember_many(texts))

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return what is remembered about a query, best first; nothing where memory fails."""
        app = self._app(app_name)
        try:
            found = await self._bridge.arun(lambda: app.seen_by(app.named(user_id)).recall(query))
        except RecollectError as problem:
            app.tell(problem)
            return SearchMemoryResponse()
        return SearchMemoryResponse(memories=[_entry(hit) for hit in found])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Hide a memory; what was said in a session has no id to name."""
        if memory_id:
            app = self._app(app_name)
            memory = app.seen_by(app.named(user_id))
            await self._bridge.arun(lambda: memory.delete(memory_id))

    async def archive(
        self, tool: BaseTool, args: Mapping[str, Any], tool_context: ToolContext, tool_response: Any
    ) -> dict[str, Any] | None:
        """Note a result and put a large one away: `after_tool_callback=service.archive`."""
        text = _result_text(tool_response)
        question = _text_of(tool_context.user_content)
        talk = self._talk(tool_context.session)
        kept = await talk.result(tool.name, args, text, question=question)
        return None if kept == text else {"result": kept}

    async def answer(
        self, tool: BaseTool, args: Mapping[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Answer a call whose result is known: `before_tool_callback=service.answer`.

        The settings must allow it (`notes.answer_from_cache`).
        """
        known = await self._talk(tool_context.session).known_result(tool.name, args)
        return None if known is None else {"result": known}

    async def tell(self, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        """Tell the model what tools have found: `before_model_callback=service.tell`."""
        if noted := await self._talk(callback_context.session).noted():
            llm_request.append_instructions([noted])

    def _talk(self, session: Session) -> Conversation:
        app = self._app(session.app_name)
        return app.conversation(session.id, app.named(session.user_id))

    def _app(self, name: str) -> Companion:
        if name not in self._apps:
            memory = self._bridge.memory.scope(agent=name)
            self._apps[name] = Companion(memory, bridge=self._bridge)
        return self._apps[name]


def views_of(events: Sequence[Event]) -> list[Message]:
    """Return what the user and the agents said; a part of an answer on its way is none."""
    return [
        text_message("user" if event.author == "user" else "assistant", text, id=event.id or None)
        for event in events
        if not event.partial and (text := _text_of(event.content))
    ]


def _text_of(content: types.Content | None) -> str:
    parts = (content.parts or ()) if content else ()
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _result_text(response: Any) -> str:
    """Return the text of a result; the kit puts a plain one into a field of this name."""
    match response:
        case str(text) | {"result": str(text)} if isinstance(response, str) or len(response) == 1:
            return text
        case _:
            return json.dumps(response, ensure_ascii=False, default=str)


def _entry(hit: Hit) -> MemoryEntry:
    """Return a hit as the kit's entry; the kit puts it between tags of its own."""
    item = hit.item
    when = item.at if isinstance(item, Turn) else item.created_at
    return MemoryEntry(
        id=hit.id if isinstance(item, Record) else None,
        content=types.Content(role="user", parts=[types.Part(text=fenced(hit.content))]),
        author=item.role if isinstance(item, Turn) else None,
        timestamp=when.isoformat(timespec="seconds"),
    )
