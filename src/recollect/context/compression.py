"""Three levels of compression, as pure functions from a conversation to edits.

A `Compression` says how far a conversation is compressed: up to where results are trimmed, up to
where segments are summarised, and up to where a digest replaces everything. Each level only moves
one of these marks forward, so what was sent once stays unchanged until the next level is due.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final, Literal

from recollect.context.conversation import grouped, is_unread
from recollect.context.edits import Drop, Edit, Insert, Replace
from recollect.context.placeholder import close_placeholders, find_placeholders
from recollect.context.summary_text import is_summary, shortened, summary_message
from recollect.domain.message import FilePart, ImagePart, Message, Part, TextPart, mention
from recollect.domain.sections import CompressionSettings
from recollect.domain.summary import SegmentSummary, SessionDigest, Summary
from recollect.language.analysis import terms
from recollect.language.characters import one_line
from recollect.language.digest import digest
from recollect.language.summary import tongue_of
from recollect.ports.language_model import TokenCounter

# --- The first level of compression: shorten old results, drop attachments and stale prompts ------

# The sources of an attachment; any other source is a provider's own block.
_ATTACHMENT_SOURCES: Final = frozenset({"url", "data", "text", "file_id"})
_MIN_PROMPT_SIMILARITY: Final = 0.6
_MAX_CACHED_MESSAGES: Final = 10_000
_SAMPLE: Final = 4_096


class Trimmer:
    """The shortening of single messages, always in the same way, with a cache."""

    def __init__(self, counter: TokenCounter, result_tokens: int) -> None:
        self._counter = counter
        self._most = result_tokens
        # By length and hash, so that the long texts themselves are not kept alive.
        self._short: dict[tuple[int, int], str] = {}

    def trimmed(self, message: Message, captions: Mapping[str, str]) -> Message:
        """Return the message with short results and without attachments.

        Return the message itself if nothing in it is long.
        """
        is_result = message.role == "tool"
        parts = tuple(self._part(captioned(part, captions), is_result) for part in message.parts)
        return message if parts == message.parts else replace(message, parts=parts)

    def told(self, result: str) -> str:
        """Return what a tool result says, in a few lines."""
        closed = close_placeholders(result)
        archived = next(find_placeholders(closed), None)
        # The placeholder of an archived result has its digest.
        return self._digest(closed, self._most) if archived is None else archived[2].summary

    def _part(self, part: Part, is_result: bool) -> Part:
        match part:
            case TextPart(text=text):
                return TextPart(text=self._result(text)) if is_result else part
            case ImagePart():
                return TextPart(text=mention(part))
            case FilePart(source=source) if _ATTACHMENT_SOURCES & source.keys():
                told = self._brief(part.description or str(source.get("text", "")))
                return TextPart(text=mention(replace(part, description=told)))
            case FilePart():
                return part

    def _result(self, text: str) -> str:
        if self._counter.count(text) <= self._most:
            return text
        key = (len(text), hash(text))
        short = self._short.get(key)
        if short is None:
            if len(self._short) >= _MAX_CACHED_MESSAGES:
                self._short.clear()
            short = self._short[key] = self._shorten(text)
        return short

    def _shorten(self, text: str) -> str:
        closed = close_placeholders(text)
        if next(find_placeholders(closed), None) is not None:
            return closed  # it is short already, and says how to load the rest
        mark = shortened(len(text), tongue_of([text]))
        return f"{mark}\n{self._digest(text, self._most - self._counter.count(mark) - 1)}"

    def _digest(self, text: str, room: int) -> str:
        return str(digest(text, room, self._counter.count))

    def _brief(self, text: str) -> str:
        return self._cut(text, self._most)

    def _cut(self, text: str, tokens: int) -> str:
        """Return as much of the beginning of a text as fits."""
        line = one_line(text, 8 * self._most)
        while line and (count := self._counter.count(line)) > tokens:
            line = line[: min(len(line) - 1, len(line) * max(0, tokens) // count)].rstrip()
        return line


def captioned(part: Part, captions: Mapping[str, str]) -> Part:
    """Return an image with what a model says about it; anything else as it is."""
    if not captions or not isinstance(part, ImagePart) or part.description:
        return part
    return replace(part, description=captions.get(image_key(part), ""))


def image_key(part: ImagePart) -> str:
    """Return a hash of an image, of a large one by its size and samples of it."""
    data = "\n".join(map(str, part.source.values()))
    middle = len(data) // 2
    sampled = (data[:_SAMPLE], data[middle : middle + _SAMPLE], data[-_SAMPLE:])
    hashed = blake2b(str(len(data)).encode(), digest_size=12)
    hashed.update("".join(sampled).encode(errors="replace"))
    return hashed.hexdigest()


def newest_prompts(messages: Sequence[Message]) -> dict[int, Message | None]:
    """Return what becomes of system messages that came in several versions.

    The newest version takes the place of the first one; None means left out.
    """
    changes: dict[int, Message | None] = {}
    versions: list[list[int]] = []
    for index, message in enumerate(messages):
        if message.role != "system":
            continue
        for version in versions:
            if _is_same_prompt(messages[version[0]].text, message.text):
                version.append(index)
                break
        else:
            versions.append([index])
    for first, *later in versions:
        if not later:
            continue
        if messages[later[-1]].text != messages[first].text:
            changes[first] = messages[later[-1]]
        changes |= dict.fromkeys(later)
    return changes


def _is_same_prompt(one: str, other: str) -> bool:
    if one == other:
        return True
    words, others = _words(one), _words(other)
    return len(words & others) > _MIN_PROMPT_SIMILARITY * len(words | others)


def _words(text: str) -> frozenset[str]:
    found: Iterable[str] = terms(text)
    return frozenset(found)


# --- Three levels of compression, as pure functions from a conversation to edits ------------------

Level = Literal[0, 1, 2, 3]
# The digest of a long session grows by this much per message, up to a share of the budget.
_DIGEST_TOKENS_PER_MESSAGE: Final = 4
_MAX_DIGEST_SHARE: Final = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """The progress of compressing a conversation.

    A digest replaces everything up to its end, the summaries what follows it, segment by segment;
    from there up to `trimmed_to` messages are trimmed, and the rest is unchanged.
    """

    trimmed_to: int = 0
    summaries: tuple[SegmentSummary, ...] = ()
    digest: SessionDigest | None = None
    # What a model says about images, by their keys.
    captions: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)

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
            "captions": dict(self.captions),
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Compression:
        return cls(
            trimmed_to=stored["trimmed_to"],
            summaries=tuple(map(SegmentSummary.from_json, stored["summaries"])),
            digest=SessionDigest.from_json(stored["digest"]) if stored["digest"] else None,
            captions=stored.get("captions", {}),
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
            wanted = trimmer.trimmed(wanted, compression.captions)
        if wanted is not message:
            edits.append(Replace(index, wanted))
    return tuple(edits)


def trimmed_to(messages: Sequence[Message], settings: CompressionSettings) -> int:
    """Return up to where the first level trims; it moves in whole segments."""
    return _whole_segments(len(messages) - settings.kept_by_summaries, settings)


def summarised_to(messages: Sequence[Message], settings: CompressionSettings) -> int:
    """Return up to where the second level summarises to save tokens, in whole segments."""
    return _whole_segments(len(messages) - settings.kept_by_summaries, settings)


def summarised_for_number(
    messages: Sequence[Message], most_verbatim: int, settings: CompressionSettings
) -> int:
    """Return up to where the second level summarises because of too many messages."""
    surplus = max(0, len(messages) - most_verbatim)
    return -(-surplus // settings.segment) * settings.segment


def digested_to(messages: Sequence[Message], settings: CompressionSettings) -> int:
    """Return up to where the third level's digest reaches."""
    return max(0, len(messages) - settings.kept_by_digest)


def digest_room(messages: int, budget: int, settings: CompressionSettings) -> int:
    """Return how many tokens a digest of this many messages may take."""
    wanted = max(settings.digest_tokens, _DIGEST_TOKENS_PER_MESSAGE * messages)
    return min(wanted, int(_MAX_DIGEST_SHARE * budget))


def segments(start: int, end: int, settings: CompressionSettings) -> Iterator[tuple[int, int]]:
    """Yield the segments between two positions; their borders never move."""
    while start < end:
        border = min(end, (start // settings.segment + 1) * settings.segment)
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


def _whole_segments(position: int, settings: CompressionSettings) -> int:
    return max(0, position) // settings.segment * settings.segment


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
