"""Compression of a conversation in the background: the last result serves while the next is made.

`compress` never waits. It trims at once, which is cheap, and lets a task of the running event loop
summarise segments; the next call uses what is ready by then.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from recollect.context import compression as levels
from recollect.context.compression import (
    Compression,
    Level,
    Trimmer,
    content_key,
    ids_key,
    image_key,
)
from recollect.context.conversation import is_unread
from recollect.context.edits import Edit, apply
from recollect.context.summariser import Summariser
from recollect.context.summary_text import summary_message
from recollect.context.window import RememberedCounts
from recollect.domain.message import ImagePart, Message
from recollect.domain.sections import CompressionSettings
from recollect.domain.summary import SegmentSummary, Summary
from recollect.language.summary import tongue_of
from recollect.ports.language_model import TokenCounter, message_tokens

_log: Final = logging.getLogger(__name__)

_FAILED: Final = "compression_failed"
_LATE: Final = "summaries_late"
_PARALLEL_SEGMENTS: Final = 4
# The number of segments after which finished summaries are put to use.
_STEP_SEGMENTS: Final = 4
_MAX_CACHED_SEGMENTS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Compressed:
    """The edits for a conversation now, and the resulting size.

    `pending` says that a smaller result is being computed; `degraded` says why models were not
    used.
    """

    edits: tuple[Edit, ...]
    level: Level
    tokens: int
    pending: bool
    degraded: tuple[str, ...]


class BackgroundCompression:
    """The compression of one session, called from one event loop."""

    def __init__(
        self,
        summariser: Summariser,
        counter: TokenCounter,
        settings: CompressionSettings,
        begun: Compression | None = None,
        *,
        most_verbatim: int,
    ) -> None:
        self._summariser = summariser
        self._counter = RememberedCounts(counter)
        self._settings = settings
        self._most_verbatim = most_verbatim
        self._trimmer = Trimmer(self._counter, settings.result_tokens)
        self._compression = begun or Compression()
        # The messages that the compression was last checked against; none if it comes from storage.
        self._seen: tuple[Message, ...] = ()
        self._segments: OrderedDict[str, SegmentSummary] = OrderedDict()
        self._turns = asyncio.Semaphore(_PARALLEL_SEGMENTS)
        self._task: asyncio.Task[None] | None = None
        # Images that no model could describe; asked about again by the next process.
        self._unseen: set[str] = set()
        self._failure: BaseException | None = None

    @property
    def compression(self) -> Compression:
        """Return how far the session is compressed, for storing it."""
        return self._compression

    def compress(self, messages: Sequence[Message], budget: int) -> Compressed:
        """Return the edits known so far; start computing the next ones if due."""
        given = tuple(messages)
        self._drop_stale(given)
        edits, tokens = self._apply(given, self._compression)
        mark = levels.trimmed_to(given, self._settings)
        if tokens > self._settings.trim_above * budget and mark > self._compression.trimmed_to:
            self._compression = replace(self._compression, trimmed_to=mark)
            edits, tokens = self._apply(given, self._compression)
        is_due = self._is_due(given, tokens, budget)
        if is_due and self._task is None:
            self._task = asyncio.create_task(self._advance(given, budget))
            self._task.add_done_callback(self._finish)
        degraded = self._compression.degraded
        return Compressed(
            edits=edits,
            level=self._compression.level,
            tokens=tokens,
            pending=is_due,
            degraded=(*degraded, _FAILED) if self._failure else degraded,
        )

    def count_sent(self) -> None:
        """Count the summaries that a prompt reused."""
        self._summariser.reused(len(self._compression.parts))

    async def compressed(self, messages: Sequence[Message], budget: int) -> Compressed:
        """Return the edits after waiting for everything that is due."""
        while (result := self.compress(messages, budget)).pending:
            await self.settle()
        return result

    async def compressed_within(
        self, messages: Sequence[Message], budget: int, seconds: float
    ) -> Compressed:
        """Return the edits after waiting at most this long.

        `degraded` says if the time was not enough. An error in the background ends the waiting and
        is reported in `degraded` too.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while (result := self.compress(messages, budget)).pending and self._task is not None:
            done, _ = await asyncio.wait((self._task,), timeout=deadline - loop.time())
            if not done:
                result = self.compress(messages, budget)
                return replace(result, degraded=(*result.degraded, _LATE))
            if self._failure is not None:
                return self.compress(messages, budget)
        return result

    async def settle(self) -> None:
        """Wait for the running computation; raise its error unless a model failed."""
        if self._task is not None:
            await asyncio.wait((self._task,))
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    async def close(self) -> None:
        """Stop computing; what was found so far is kept."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

    def _drop_stale(self, messages: tuple[Message, ...]) -> None:
        """Keep only what still matches the beginning of the conversation."""
        touched = max(self._compression.covered_to, self._compression.trimmed_to)
        if messages[:touched] != self._seen[:touched] or len(messages) < touched:
            valid = _still_valid(self._compression, messages)
            # Summarised messages count as trimmed too, even beyond the mark of the first level.
            within = max(levels.trimmed_to(messages, self._settings), valid.covered_to)
            mark = min(valid.trimmed_to, within)
            self._compression = replace(valid, trimmed_to=mark)
        self._seen = messages

    def _is_due(self, messages: tuple[Message, ...], tokens: int, budget: int) -> bool:
        now, settings = self._compression, self._settings
        end = self._summaries_end(messages, tokens, budget)
        if end > now.covered_to or any(self._uncaptioned(messages, now.trimmed_to)):
            return True
        is_full = tokens > settings.digest_above * budget
        return is_full and levels.digested_to(messages, settings) > now.digested_to

    def _summaries_end(self, messages: tuple[Message, ...], tokens: int, budget: int) -> int:
        """Return up to where summaries should exist by now."""
        end = levels.summarised_for_number(messages, self._most_verbatim, self._settings)
        if tokens > self._settings.summarise_above * budget:
            end = max(end, levels.summarised_to(messages, self._settings))
        return end

    async def _advance(self, messages: tuple[Message, ...], budget: int) -> None:
        """Summarise what is due, then digest if that is not enough.

        Each step takes effect when it is done, so nothing is lost when the session closes.
        """
        full = self._settings.digest_above * budget
        _, tokens = self._apply(messages, self._compression)
        end = self._summaries_end(messages, tokens, budget)
        await self._caption(messages, max(end, self._compression.trimmed_to))
        while (begun := self._compression).covered_to < end:
            step = [*levels.segments(begun.covered_to, end, self._settings)][:_STEP_SEGMENTS]
            if not self._use(await self._summarise(messages, begun, step[-1][1]), messages):
                return
            is_last = step[-1][1] == end
            if not is_last and self._summaries_tokens() > full:
                await self._digest(messages, step[-1][1], budget)
        _, tokens = self._apply(messages, self._compression)
        if tokens > full:
            await self._digest(messages, levels.digested_to(messages, self._settings), budget)

    def _uncaptioned(
        self, messages: tuple[Message, ...], end: int
    ) -> Iterator[tuple[str, ImagePart]]:
        """Yield the images that are told in words now but that no model has described."""
        if not self._summariser.has_model:
            return
        for message in messages[self._compression.covered_to : end]:
            for part in message.parts:
                if isinstance(part, ImagePart) and not part.description:
                    key = image_key(part)
                    if key not in self._compression.captions and key not in self._unseen:
                        yield key, part

    async def _caption(self, messages: tuple[Message, ...], end: int) -> None:
        """Ask about images that become a line each."""
        tongue = tongue_of(message.text for message in messages)
        for key, part in [*self._uncaptioned(messages, end)]:
            if told := await self._summariser.caption(part, tongue):
                captions = {**self._compression.captions, key: told}
                self._compression = replace(self._compression, captions=captions)
            else:
                self._unseen.add(key)

    def _use(self, reached: Compression, messages: tuple[Message, ...]) -> bool:
        """Serve this result, unless its conversation was changed meanwhile."""
        if self._seen[: reached.covered_to] != messages[: reached.covered_to]:
            return False
        mark = max(reached.trimmed_to, self._compression.trimmed_to)
        self._compression = replace(reached, trimmed_to=mark)
        return True

    def _summaries_tokens(self) -> int:
        """Return the number of tokens of the digest and the summaries."""
        return message_tokens(summary_message(self._compression.parts), self._counter)

    async def _summarise(
        self, messages: tuple[Message, ...], begun: Compression, end: int
    ) -> Compression:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._segment(messages, first, last))
                for first, last in levels.segments(begun.covered_to, end, self._settings)
            ]
        summaries = (*begun.summaries, *(task.result() for task in tasks))
        return replace(begun, summaries=summaries, trimmed_to=max(begun.trimmed_to, end))

    async def _digest(self, messages: tuple[Message, ...], end: int, budget: int) -> None:
        begun = self._compression
        reached = await self._summarise(messages, begun, end)
        if not reached.summaries:
            return
        digest = await self._summariser.digest(
            messages,
            begun.digest,
            reached.summaries,
            levels.digest_room(reached.covered_to, budget, self._settings),
        )
        self._use(replace(reached, summaries=(), digest=digest), messages)

    async def _segment(
        self, messages: tuple[Message, ...], first: int, last: int
    ) -> SegmentSummary:
        """Return the summary of a segment, made once while its messages stay the same."""
        key = content_key(messages[first:last], first)
        async with self._turns:
            if key not in self._segments:
                self._segments[key] = await self._summariser.segment(
                    messages, first, last, self._compression.captions
                )
        self._segments.move_to_end(key)
        while len(self._segments) > _MAX_CACHED_SEGMENTS:
            self._segments.popitem(last=False)
        return self._segments[key]

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if task.cancelled():
            return
        self._failure = task.exception()
        if self._failure is not None:
            _log.error("Compressing a session failed", exc_info=self._failure)

    def _apply(
        self, messages: tuple[Message, ...], compression: Compression
    ) -> tuple[tuple[Edit, ...], int]:
        """Return the edits of a compression and the resulting number of tokens."""
        edits = levels.edits_of(messages, compression, self._trimmer)
        sent = apply(messages, edits)
        return edits, sum(message_tokens(message, self._counter) for message in sent)


def _still_valid(compression: Compression, messages: tuple[Message, ...]) -> Compression:
    """Return the part of a compression that matches these messages."""
    if compression.digest is not None and not _stands_for(compression.digest, messages):
        return Compression(captions=compression.captions)
    summaries: list[SegmentSummary] = []
    for summary in compression.summaries:
        if not _stands_for(summary, messages):
            break
        summaries.append(summary)
    return replace(compression, summaries=tuple(summaries))


def _stands_for(summary: Summary, messages: tuple[Message, ...]) -> bool:
    """Return whether a summary is of these messages; ids decide for those not read."""
    covered = messages[summary.start : summary.end]
    if any(map(is_unread, covered)):
        return summary.turn_ids == tuple(message.id for message in covered)
    keys = content_key(covered, summary.start), ids_key(covered, summary.start)
    return summary.key in keys
