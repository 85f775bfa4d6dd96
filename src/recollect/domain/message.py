"""Messages in a form that is independent of providers, which windows are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

ROLES: Final[tuple[Role, ...]] = ("system", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePart:
    """An image.

    `source` is one of `{url}`, `{media_type, data}` with base64 in `data`, and
    `{provider: its own block}` for an image that only one provider can load.
    """

    source: Mapping[str, Any] = field(hash=False)
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """An attachment: a document, a recording, or a block that only one provider understands.

    `source` is like an image's, or `{text}`. A provider's own block (its thinking, the results
    of its own tools) is returned to it unchanged; other providers see at most its name.
    """

    source: Mapping[str, Any] = field(hash=False)
    name: str = ""
    description: str = ""


Part: TypeAlias = TextPart | ImagePart | FilePart


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call of a tool by the model; the arguments are JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message. `answers` is the id of the call whose result a tool's message is.

    `id` is the turn's id once it is stored. `extra` keeps what a provider sent beyond these
    fields, so that converting back loses nothing.
    """

    role: Role
    parts: tuple[Part, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    answers: str | None = None
    name: str | None = None
    id: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    @property
    def text(self) -> str:
        """Return the text of the message, without images and attachments."""
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))


def mention(part: ImagePart | FilePart) -> str:
    """Return a short placeholder for an image or attachment that cannot be shown."""
    if isinstance(part, ImagePart):
        return f"[image: {part.description}]" if part.description else "[image]"
    about = ": ".join(words for words in (part.name, part.description) if words)
    return f"[file: {about}]" if about else "[file]"
