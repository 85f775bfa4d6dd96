"""Compression beside the conversation: the last result is served while the next is computed.

`compress` never waits. It trims at once, which is cheap, and has segments summarised by a task
of the running event loop; what that finds is there for the next call.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from recollect.context import compression as levels
from recollect.context.compression import Compression, CompressionOptions, Level, content_key
from recollect.context.edits import Edit, apply
from recollect.context.summarise import Summariser
from recollect.context.trimming import Trimmer
from recollect.context.window import RememberedCounts
from recollect.domain.message import Message
from recollect.domain.summary import SegmentSummary, Summary
from recollect.ports.tokens import TokenCounter, message_tokens

_log: Final = logging.getLogger(__name__)

_FAILED: Final = "compression_failed"
_AT_ONCE: Final = 4
_REMEMBERED_SEGMENTS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Compressed:
    """What to do with a conversation now, and what it comes to.

    `pending` says that a smaller result is being computed; `degraded` why models were not used.
    """

    edits: tuple[Edit, ...]
    level: Level
    tokens: int
    pending: bool
    degraded: tuple[str, ...]


class BackgroundCompression:
    """One session's compression. Calls come from one event loop."""

    def __init__(
        self,
        summariser: Summariser,
        counter: TokenCounter,
        options: CompressionOptions,
        begun: Compression | None = None,
    ) -> None:
        self._summariser = summariser
        self._counter = RememberedCounts(counter)
        self._options = options
        self._trimmer = Trimmer(self._counter, options.result_tokens)
        self._compression = begun or Compression()
        # What the compression was last checked against; nothing yet when it comes from storage.
        self._seen: tuple[Message, ...] = ()
        self._segments: OrderedDict[str, SegmentSummary] = OrderedDict()
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._task: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None

    @property
    def compression(self) -> Compression:
        """How far the session is compressed, to be kept beyond this process."""
        return self._compression

    def compress(self, messages: Sequence[Message], budget: int) -> Compressed:
        """The edits for a conversation as far as they are known; computes the next if it is due."""
        given = tuple(messages)
        self._forget_what_changed(given)
        edits, tokens = self._applied(given, self._compression)
        mark = levels.trimmed_to(given, self._options)
        if tokens > self._options.trim_above * budget and mark > self._compression.trimmed_to:
            self._compression = replace(self._compression, trimmed_to=mark)
            edits, tokens = self._applied(given, self._compression)
        self._summariser.reused(len(self._compression.parts))
        is_due = self._is_due(given, tokens, budget)
        if is_due and self._task is None:
            self._task = asyncio.create_task(self._advance(given, budget))
            self._task.add_done_callback(self._finished)
        degraded = self._compression.degraded
        return Compressed(
            edits=edits,
            level=self._compression.level,
            tokens=tokens,
            pending=is_due,
            degraded=(*degraded, _FAILED) if self._failure else degraded,
        )

    async def compressed(self, messages: Sequence[Message], budget: int) -> Compressed:
        """The same, waiting for everything that is due."""
        while (result := self.compress(messages, budget)).pending:
            await self.settle()
        return result

    async def settle(self) -> None:
        """Wait for what is being computed; raises what went wrong there, unless a model did."""
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

    def _forget_what_changed(self, messages: tuple[Message, ...]) -> None:
        """Keep only what still stands for the beginning of the conversation."""
        touched = max(self._compression.covered_to, self._compression.trimmed_to)
        if messages[:touched] != self._seen[:touched] or len(messages) < touched:
            valid = _still_valid(self._compression, messages)
            # What is summarised was trimmed too, also beyond where the first level would stop.
            within = max(levels.trimmed_to(messages, self._options), valid.covered_to)
            mark = min(valid.trimmed_to, within)
            self._compression = replace(valid, trimmed_to=mark)
        self._seen = messages

    def _is_due(self, messages: tuple[Message, ...], tokens: int, budget: int) -> bool:
        now, options = self._compression, self._options
        if self._summaries_end(messages, tokens, budget) > now.covered_to:
            return True
        is_full = tokens > options.digest_above * budget
        return is_full and levels.digested_to(messages, options) > now.digested_to

    def _summaries_end(self, messages: tuple[Message, ...], tokens: int, budget: int) -> int:
        """Up to where there should be summaries by now."""
        end = levels.summarised_for_number(messages, self._options)
        if tokens > self._options.summarise_above * budget:
            end = max(end, levels.summarised_to(messages, self._options))
        return end

    async def _advance(self, messages: tuple[Message, ...], budget: int) -> None:
        """Summarise what is due, then digest if that was not enough."""
        begun, options = self._compression, self._options
        _, tokens = self._applied(messages, begun)
        reached = await self._summarised(
            messages, begun, self._summaries_end(messages, tokens, budget)
        )
        _, tokens = self._applied(messages, reached)
        if tokens > options.digest_above * budget:
            end = levels.digested_to(messages, options)
            reached = await self._digested(messages, reached, end, budget)
        # The beginning may have been changed meanwhile: then this is of no use any more.
        if self._seen[: reached.covered_to] == messages[: reached.covered_to]:
            mark = max(reached.trimmed_to, self._compression.trimmed_to)
            self._compression = replace(reached, trimmed_to=mark)

    async def _summarised(
        self, messages: tuple[Message, ...], begun: Compression, end: int
    ) -> Compression:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._segment(messages, first, last))
                for first, last in levels.segments(begun.covered_to, end, self._options)
            ]
        summaries = (*begun.summaries, *(task.result() for task in tasks))
        return replace(begun, summaries=summaries, trimmed_to=max(begun.trimmed_to, end))

    async def _digested(
        self, messages: tuple[Message, ...], begun: Compression, end: int, budget: int
    ) -> Compression:
        reached = await self._summarised(messages, begun, end)
        if not reached.summaries:
            return begun
        digest = await self._summariser.digest(
            messages,
            begun.digest,
            reached.summaries,
            self._options.digest_room(reached.covered_to, budget),
        )
        return Compression(trimmed_to=reached.trimmed_to, digest=digest)

    async def _segment(
        self, messages: tuple[Message, ...], first: int, last: int
    ) -> SegmentSummary:
        """A segment's summary, made once for as long as its messages are the same."""
        key = content_key(messages[first:last], first)
        async with self._turns:
            if key not in self._segments:
                self._segments[key] = await self._summariser.segment(messages, first, last)
        self._segments.move_to_end(key)
        while len(self._segments) > _REMEMBERED_SEGMENTS:
            self._segments.popitem(last=False)
        return self._segments[key]

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if task.cancelled():
            return
        self._failure = task.exception()
        if self._failure is not None:
            _log.error("Compressing a session failed", exc_info=self._failure)

    def _applied(
        self, messages: tuple[Message, ...], compression: Compression
    ) -> tuple[tuple[Edit, ...], int]:
        """The edits that a compression means, and how many tokens are then sent."""
        edits = levels.edits_of(messages, compression, self._trimmer)
        sent = apply(messages, edits)
        return edits, sum(message_tokens(message, self._counter) for message in sent)


def _still_valid(compression: Compression, messages: tuple[Message, ...]) -> Compression:
    """As much of a compression as these messages agree with."""
    if compression.digest is not None and not _stands_for(compression.digest, messages):
        return Compression()
    summaries: list[SegmentSummary] = []
    for summary in compression.summaries:
        if not _stands_for(summary, messages):
            break
        summaries.append(summary)
    return replace(compression, summaries=tuple(summaries))


def _stands_for(summary: Summary, messages: tuple[Message, ...]) -> bool:
    return summary.key == content_key(messages[summary.start : summary.end], summary.start)
