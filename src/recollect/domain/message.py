"""Messages in a form that is independent of providers, which windows are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

_MAX_NAME: Final = 200
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
    """Return a short text in place of an image or attachment that cannot be shown.

    It is the description; of an image without one, its name, kind and size as far as known.
    """
    if isinstance(part, ImagePart):
        about = part.description or ", ".join(filter(None, _facts(part.source)))
        return f"[image: {about}]" if about else "[image]"
    named = (part.name, part.description or ", ".join(filter(None, _facts(part.source)[1:])))
    about = ": ".join(filter(None, named))
    return f"[file: {about}]" if about else "[file]"


def _facts(source: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the name, the kind and the size that a source tells of."""
    url, data = source.get("url"), source.get("data")
    name = url.partition("?")[0].rpartition("/")[2] if isinstance(url, str) else ""
    is_file = "." in name and not name.startswith("data:") and len(name) <= _MAX_NAME
    # Three bytes are four characters of base64.
    size = f"{len(data) * 3 // 4} bytes" if isinstance(data, str) and data else ""
    return name if is_file else "", str(source.get("media_type") or ""), size
