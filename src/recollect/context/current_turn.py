"""What one turn shows until the user speaks again, beyond what is kept of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from recollect.context.offers import Offer, Offers
from recollect.context.tool_texts import with_result
from recollect.domain.archive import EarlierResult
from recollect.domain.message import Message, ToolCall

if TYPE_CHECKING:
    from recollect.context.listening import Heard


class CurrentTurn:
    """Results that were put away are open here, and calls are told what they gave before."""

    def __init__(self, offers: Offers) -> None:
        self._offers = offers
        # Texts by turn.
        self.shown: Mapping[str, str] = {}
        self._offered: Mapping[ToolCall, Offer] = {}

    @property
    def offered(self) -> Mapping[str, Offer]:
        """What is known of calls, by their ids; of two with the same id that of the later one."""
        return {call.id: offer for call, offer in self._offered.items()}

    async def offers_for(self, messages: Iterable[Message]) -> Mapping[ToolCall, Offer]:
        """What is known of the calls in messages that have not been heard yet."""
        return await self._offers.of(messages)

    def hear(self, heard: Heard, offers: Mapping[ToolCall, Offer]) -> None:
        """Something was said; the user's words begin a new turn."""
        if heard.said.role == "user":
            self.shown, self._offered = {}, {}
        if heard.shown is not None:
            self.shown = {**self.shown, heard.turn.id: heard.shown}
        known = {it: offers[it] for it in heard.said.tool_calls if it in offers}
        if known:
            self._offered = {**self._offered, **known}

    def in_place(self, messages: Sequence[Message]) -> dict[int, Message]:
        """The messages of this turn that show more than is kept of them, by their places."""
        changed: dict[int, Message] = {}
        newest: dict[str, ToolCall] = {}
        for index, message in enumerate(messages if self.shown or self._offered else ()):
            newest |= {call.id: call for call in message.tool_calls}
            text = self.shown.get(message.id or "")
            call = newest.get(message.answers or "")
            offer = None if call is None else self._offered.get(call)
            if isinstance(offer, EarlierResult):
                text = self._offers.beside(message.text if text is None else text, offer)
            if text is not None:
                changed[index] = with_result(message, text)
        return changed
