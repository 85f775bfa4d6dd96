"""Known results of a tool call, offered before the call is made and never forced."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from recollect.context.archives.manager import ToolResultManager
from recollect.context.edits import tool_input
from recollect.context.notes import SessionNotes
from recollect.context.placeholder import Language
from recollect.domain.archive import EarlierResult
from recollect.domain.memory_tools import is_memory_tool
from recollect.domain.message import Message, ToolCall
from recollect.domain.notes import Cached, Hint
from recollect.errors import StorageError
from recollect.language.times.mentions import ago

Offer: TypeAlias = Hint | Cached | EarlierResult

_LINE: Final[Mapping[Language, str]] = {
    "zh": (
        "[同一调用在{ago}（{time} UTC）返回过 {length}，已存档："
        '可用 load_tool_history(uuid="{id}") 查看]'
    ),
    "en": (
        "[The same call gave {length} {ago} ({time} UTC), which are archived: "
        'load_tool_history(uuid="{id}") shows them]'
    ),
}

_log: Final = logging.getLogger(__name__)


class Offers:
    """A lookup of calls in the notes of a session and in the archives of its scope."""

    def __init__(self, notes: SessionNotes, archive: ToolResultManager) -> None:
        self._notes = notes
        self._archive = archive

    async def of(self, messages: Iterable[Message]) -> dict[ToolCall, Offer]:
        """Return the known results of the calls in these messages."""
        calls = [call for message in messages for call in message.tool_calls]
        found = {call: await self._offer(call) for call in calls}
        return {call: offer for call, offer in found.items() if offer is not None}

    def beside(self, result: str, offer: EarlierResult) -> str:
        """Return a result with a note on an earlier one, unless they are equal."""
        archive = offer.archive
        if archive.id in result:
            return result
        shown = self._archive.placeholder(archive)
        line = _LINE[shown.language].format(
            ago=ago(archive.created_at, archive.created_at + offer.age, shown.language),
            time=f"{shown.time:%Y-%m-%d %H:%M}",
            length=shown.told_length,
            id=archive.id,
        )
        return f"{result}\n{line}"

    async def _offer(self, call: ToolCall) -> Offer | None:
        known = self._notes.before_tool(call.name, call.arguments)
        if known is not None or is_memory_tool(call.name):
            return known
        try:
            return await self._archive.find_earlier(call.name, tool_input(call))
        except StorageError as problem:
            _log.warning("nothing is offered for a call of %s: %s", call.name, problem)
            return None
