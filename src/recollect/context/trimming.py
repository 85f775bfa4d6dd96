"""The first level of compression: shorten old results, drop attachments and stale prompts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from recollect.context.archives.summary import parsed, summary_of
from recollect.context.placeholder import close_in, find_placeholders, one_line
from recollect.context.summary_text import shortened
from recollect.domain.archive import content_of
from recollect.domain.message import FilePart, ImagePart, Message, Part, TextPart, mention
from recollect.language.analysis import terms
from recollect.language.summary import tongue_of
from recollect.ports.language_model import TokenCounter

# The sources of an attachment; any other source is a provider's own block.
_ATTACHMENT_SOURCES: Final = frozenset({"url", "data", "text", "file_id"})
_MIN_PROMPT_SIMILARITY: Final = 0.6
_MAX_CACHED_MESSAGES: Final = 10_000
_MAX_READ_CHARS: Final = 2_000_000


class Trimmer:
    """The shortening of single messages, always in the same way, with a cache."""

    def __init__(self, counter: TokenCounter, result_tokens: int) -> None:
        self._counter = counter
        self._most = result_tokens
        # By length and hash, so that the long texts themselves are not kept alive.
        self._short: dict[tuple[int, int], str] = {}

    def trimmed(self, message: Message) -> Message:
        """Return the message with short results and without attachments.

        Return the message itself if nothing in it is long.
        """
        parts = tuple(self._part(part, message.role == "tool") for part in message.parts)
        return message if parts == message.parts else replace(message, parts=parts)

    def told(self, result: str) -> str:
        """Return a tool result in a few words."""
        content = content_of(close_in(result[:_MAX_READ_CHARS]))
        return self._cut(summary_of(content, parsed(content), ""), self._most)

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
        closed = close_in(text)
        if next(find_placeholders(closed), None) is not None:
            return closed  # it is short already, and says how to load the rest
        content = content_of(text[:_MAX_READ_CHARS])
        told = summary_of(content, parsed(content), "")
        mark = shortened(len(text), tongue_of([text]))
        return f"{mark} {self._cut(told, self._most - self._counter.count(mark) - 1)}"

    def _brief(self, text: str) -> str:
        return self._cut(one_line(text, 4 * self._most), self._most)

    def _cut(self, text: str, tokens: int) -> str:
        """Return as much of the beginning of a text as fits."""
        line = one_line(text, len(text) + 1)
        while line and (count := self._counter.count(line)) > tokens:
            line = line[: min(len(line) - 1, len(line) * max(0, tokens) // count)].rstrip()
        return line


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
