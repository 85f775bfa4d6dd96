"""From a conversation to what is sent of it: compressed, with what was asked for, within budget."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from recollect.context.archive import ToolResultManager
from recollect.context.background import BackgroundCompression
from recollect.context.compression import Level
from recollect.context.edits import Edit, apply
from recollect.context.summary_text import is_summary
from recollect.context.tool_texts import edited_places, newest_places, sparing
from recollect.context.window import TOO_SMALL, Budget, plan_window
from recollect.domain.message import Message, TextPart
from recollect.errors import InvalidInput
from recollect.ports.tokens import TokenCounter

_BETWEEN: Final = "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What one request shows besides the conversation.

    `shown` are messages in place of those at their index, `load` the archives to open whole or, if
    that is too much, by the passages about `question`. `beside` goes to the end of the system
    prompt, `ahead` before the words of the newest user message.
    """

    shown: Mapping[int, Message] = field(default_factory=dict[int, Message], hash=False)
    load: tuple[str, ...] = ()
    question: str = ""
    beside: tuple[str, ...] = ()
    ahead: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What is sent, and what it comes to; `pending` says that a smaller result is being made."""

    messages: tuple[Message, ...] = ()
    tokens: int = 0
    level: Level = 0
    pending: bool = False
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """One way to put a window together; of those with a load only one that shows it counts."""

    edits: tuple[Edit, ...]
    replaced: Mapping[int, Message] = field(hash=False)
    beside: tuple[str, ...] = ()
    ahead: str = ""
    opened: tuple[Message, ...] = ()


class Sender:
    """Puts together what one session sends."""

    def __init__(
        self,
        compression: BackgroundCompression,
        archive: ToolResultManager,
        budget: Budget,
        counter: TokenCounter,
    ) -> None:
        self._compression = compression
        self._archive = archive
        self._budget = budget
        self._counter = counter

    async def send(self, messages: tuple[Message, ...], wishes: Wishes) -> Sent:
        """As much of what is wished for as fits; an error when not even the least does.

        Of several attempts, each more modest than the one before, the first that fits.
        """
        compressed = self._compression.compress(messages, self._budget.tokens)
        too_small: InvalidInput | None = None
        async for attempt in self._attempts(messages, compressed.edits, wishes):
            try:
                window, tokens = self._planned(messages, attempt)
            except InvalidInput as problem:
                if problem.code != TOO_SMALL:
                    raise
                too_small = problem
                continue
            if _holds(window, attempt.opened):
                return Sent(
                    messages=window,
                    tokens=tokens,
                    level=compressed.level if attempt.edits else 0,
                    pending=compressed.pending,
                    degraded=compressed.degraded,
                )
        assert too_small is not None  # the last attempt opens nothing
        raise too_small

    async def _attempts(
        self, messages: tuple[Message, ...], edits: tuple[Edit, ...], wishes: Wishes
    ) -> AsyncIterator[_Attempt]:
        places = newest_places(messages, wishes.load)
        shown, beside, ahead = wishes.shown, wishes.beside, wishes.ahead
        if places:
            spared = sparing(edits, messages, places.values())
            for query in (None, wishes.question):
                opened = await self._opened(messages, places, query)
                yield _Attempt(
                    edits=spared,
                    replaced={**_untouched(shown, spared), **opened},
                    beside=beside,
                    ahead=ahead,
                    opened=tuple(opened.values()),
                )
        visible = _untouched(shown, edits)
        yield _Attempt(edits=edits, replaced=visible, beside=beside, ahead=ahead)
        if visible:
            yield _Attempt(edits=edits, replaced={}, beside=beside, ahead=ahead)
        if beside or ahead:
            yield _Attempt(edits=edits, replaced={})
        # Summaries may be too much beside a long message: smaller ones are made meanwhile.
        if edits:
            yield _Attempt(edits=(), replaced={})

    async def _opened(
        self, messages: Sequence[Message], places: Mapping[str, int], query: str | None
    ) -> dict[int, Message]:
        """The messages that hold these archives, opened."""
        opened: dict[int, Message] = {}
        for index in sorted(set(places.values())):
            ids = [archive for archive, place in places.items() if place == index]
            (opened[index],) = await self._archive.prepare_context([messages[index]], ids, query)
        return opened

    def _planned(
        self, messages: tuple[Message, ...], attempt: _Attempt
    ) -> tuple[tuple[Message, ...], int]:
        said = messages
        if attempt.replaced:
            said = tuple(attempt.replaced.get(index, it) for index, it in enumerate(messages))
        window = with_system_text(apply(said, attempt.edits), attempt.beside)
        window = with_user_text(window, attempt.ahead)
        plan = plan_window(window, self._budget, self._counter)
        return apply(window, plan.edits), plan.tokens


def with_system_text(messages: tuple[Message, ...], texts: Iterable[str]) -> tuple[Message, ...]:
    """The messages with texts at the end of the system prompt."""
    added = _BETWEEN.join(texts)
    if not added:
        return messages
    leading = 0
    while leading < len(messages) and messages[leading].role == "system":
        leading += 1
    if leading:
        last = messages[leading - 1]
        if len(last.parts) == 1 and isinstance(last.parts[0], TextPart) and not last.extra:
            joined = TextPart(text=f"{last.parts[0].text}{_BETWEEN}{added}")
            prompt = replace(last, parts=(joined,))
            return (*messages[: leading - 1], prompt, *messages[leading:])
    # A prompt that a provider wrote in its own way stays as it is, marks for its cache included.
    beside = Message(role="system", parts=(TextPart(text=added),))
    return (*messages[:leading], beside, *messages[leading:])


def with_user_text(messages: tuple[Message, ...], text: str) -> tuple[Message, ...]:
    """The messages with a text before the words of the newest user message."""
    users = [i for i, it in enumerate(messages) if it.role == "user" and not is_summary(it)]
    if not text or not users:
        return messages
    newest = messages[users[-1]]
    led = replace(newest, parts=(TextPart(text=text), *newest.parts))
    return (*messages[: users[-1]], led, *messages[users[-1] + 1 :])


def _untouched(shown: Mapping[int, Message], edits: Sequence[Edit]) -> dict[int, Message]:
    """What is shown where no edit has made it short already."""
    if not shown:
        return {}
    edited = edited_places(edits)
    return {index: message for index, message in shown.items() if index not in edited}


def _holds(window: Sequence[Message], wanted: Iterable[Message]) -> bool:
    return all(any(it is message for it in window) for message in wanted)
