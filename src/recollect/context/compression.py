"""Three levels of compression, as pure functions from a conversation to edits.

A `Compression` says how far a conversation is compressed: up to where results are trimmed, up to
where segments are summarised, and up to where a digest replaces everything. Each level only moves
one of these marks forward, so what was sent once stays unchanged until the next level is due.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal

from recollect.context.conversation import is_unread
from recollect.context.edits import Drop, Edit, Insert, Replace
from recollect.context.groups import grouped
from recollect.context.summary_text import is_summary, summary_message
from recollect.context.trimming import Trimmer, newest_prompts
from recollect.domain.message import Message, TextPart
from recollect.domain.summary import SegmentSummary, SessionDigest, Summary

Level = Literal[0, 1, 2, 3]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionOptions:
    """When each level is due, as a share of the budget, and how much it leaves."""

    trim_above: float = 0.60
    summarise_above: float = 0.75
    digest_above: float = 0.90
    segment: int = 10
    kept_by_summaries: int = 10
    kept_by_digest: int = 5
    # The window holds 50 messages; the system prompt and the summaries are two of them.
    most_verbatim: int = 48
    result_tokens: int = 80
    summary_tokens: int = 160
    digest_tokens: int = 800
    # The digest of a long session grows by this much per message, up to a share of the budget.
    digest_tokens_a_message: int = 4
    digest_share: float = 0.25

    def digest_room(self, messages: int, budget: int) -> int:
        """Return how many tokens a digest of this many messages may take."""
        wanted = max(self.digest_tokens, self.digest_tokens_a_message * messages)
        return min(wanted, int(self.digest_share * budget))


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """The progress of compressing a conversation.

    A digest replaces everything up to its end, the summaries what follows it, segment by segment;
    from there up to `trimmed_to` messages are trimmed, and the rest is unchanged.
    """

    trimmed_to: int = 0
    summaries: tuple[SegmentSummary, ...] = ()
    digest: SessionDigest | None = None

    @property
    def level(self) -> Level:
        if self.digest is not None:
            return 3
        return 2 if self.summaries else 1 if self.trimmed_to else 0

    @property
    def digested_to(self) -> int:
        return self.digest.end if self.digest else 0

    @property
    def covered_to(self) -> int:
        """Return the index before which a summary or the digest replaces messages."""
        return self.summaries[-1].end if self.summaries else self.digested_to

    @property
    def parts(self) -> tuple[Summary, ...]:
        """Return the digest, if there is one, and the summaries after it."""
        return (*(() if self.digest is None else (self.digest,)), *self.summaries)

    @property
    def degraded(self) -> tuple[str, ...]:
        """Return why models could not be used, each reason once."""
        return tuple(dict.fromkeys(part.degraded for part in self.parts if part.degraded))

    def as_json(self) -> dict[str, Any]:
        """Return what `from_json` reads, for storing it."""
        return {
            "trimmed_to": self.trimmed_to,
            "summaries": [summary.as_json() for summary in self.summaries],
            "digest": self.digest and self.digest.as_json(),
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Compression:
        return cls(
            trimmed_to=stored["trimmed_to"],
            summaries=tuple(map(SegmentSummary.from_json, stored["summaries"])),
            digest=SessionDigest.from_json(stored["digest"]) if stored["digest"] else None,
        )


def edits_of(
    messages: Sequence[Message], compression: Compression, trimmer: Trimmer
) -> tuple[Edit, ...]:
    """Return the edits that compress a conversation this far."""
    if compression.level == 0:
        return ()
    prompts = newest_prompts(messages)
    covered_to, trimmed_to = compression.covered_to, compression.trimmed_to
    stay = staying(messages, covered_to)
    edits: list[Edit] = []
    if compression.parts:
        edits.append(Insert(_beginning(messages), summary_message(compression.parts)))
    for index, message in enumerate(messages):
        wanted = prompts.get(index, message)
        if wanted is None or (index < covered_to and index not in stay):
            edits.append(Drop(index))
            continue
        if index < trimmed_to:
            wanted = trimmer.trimmed(wanted)
        if wanted is not message:
            edits.append(Replace(index, wanted))
    return tuple(edits)


def trimmed_to(messages: Sequence[Message], options: CompressionOptions) -> int:
    """Return up to where the first level trims; it moves in whole segments."""
    return _whole_segments(len(messages) - options.kept_by_summaries, options)


def summarised_to(messages: Sequence[Message], options: CompressionOptions) -> int:
    """Return up to where the second level summarises to save tokens, in whole segments."""
    return _whole_segments(len(messages) - options.kept_by_summaries, options)


def summarised_for_number(messages: Sequence[Message], options: CompressionOptions) -> int:
    """Return up to where the second level summarises because of too many messages."""
    surplus = max(0, len(messages) - options.most_verbatim)
    return -(-surplus // options.segment) * options.segment


def digested_to(messages: Sequence[Message], options: CompressionOptions) -> int:
    """Return up to where the third level's digest reaches."""
    return max(0, len(messages) - options.kept_by_digest)


def segments(start: int, end: int, options: CompressionOptions) -> Iterator[tuple[int, int]]:
    """Yield the segments between two positions; their borders never move."""
    while start < end:
        border = min(end, (start // options.segment + 1) * options.segment)
        yield start, border
        start = border


def content_key(messages: Sequence[Message], start: int) -> str:
    """Return a hash of messages and their position, by ids only where some were not read."""
    if any(map(is_unread, messages)):
        return ids_key(messages, start)
    digest = blake2b(str(start).encode(), digest_size=12)
    for message in messages:
        parts = [
            part.text if isinstance(part, TextPart) else [part.description, dict(part.source)]
            for part in message.parts
        ]
        calls = [[call.id, call.name, call.arguments] for call in message.tool_calls]
        content = [message.role, message.name, message.answers, message.id, parts, calls]
        digest.update(json.dumps(content, default=str).encode())
    return digest.hexdigest()


def ids_key(messages: Sequence[Message], start: int) -> str:
    """Return a hash of message ids and their position: stored messages never change."""
    ids = json.dumps(["ids", start, *(message.id for message in messages)])
    return blake2b(ids.encode(), digest_size=12).hexdigest()


def _whole_segments(position: int, options: CompressionOptions) -> int:
    return max(0, position) // options.segment * options.segment


def _beginning(messages: Sequence[Message]) -> int:
    """Return the index after the system prompt."""
    others = (index for index, message in enumerate(messages) if message.role != "system")
    return next(others, len(messages))


def staying(messages: Sequence[Message], covered_to: int) -> frozenset[int]:
    """Return the summarised messages that are still sent.

    These are system messages, the newest user message, and calls whose results are not all
    summarised: a call is never separated from its result.
    """
    stay = {i for i, message in enumerate(messages[:covered_to]) if message.role == "system"}
    for group in grouped(messages):
        if group.pending or group.members[-1] >= covered_to:
            stay.update(group.members)
    users = [
        i
        for i, message in enumerate(messages)
        if message.role == "user" and not is_summary(message)
    ]
    return frozenset(stay.union(users[-1:]))
