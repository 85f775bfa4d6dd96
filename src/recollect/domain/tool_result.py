"""Tool results as bytes that can be stored and restored exactly."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from recollect.errors import InvalidInput

# Text, bytes, or a value that JSON can write.
ToolResult: TypeAlias = Any
Form: TypeAlias = Literal["text", "json", "bytes"]

MAX_BYTES: Final = 100 * 1024 * 1024
# A lone surrogate is not valid Unicode, yet tools do produce it.
_LOSSLESS: Final = "surrogatepass"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A tool result: its form, its bytes, and its text, which is None if it is not text."""

    form: Form
    data: bytes
    text: str | None

    @property
    def length(self) -> int:
        """Return the length in characters, or in bytes if it is not text."""
        return len(self.data) if self.text is None else len(self.text)

    @property
    def value(self) -> ToolResult:
        """Return the result as the tool gave it."""
        if self.form == "bytes":
            return self.data
        return json.loads(self.text or "") if self.form == "json" else self.text


def content_of(result: ToolResult) -> Content:
    """Return the content of a result, or raise an error if it could not be restored exactly."""
    match result:
        case str():
            content = Content(form="text", data=result.encode("utf-8", _LOSSLESS), text=result)
        case bytes():
            content = content_from("bytes", result)
        case _:
            text = _as_json(result)
            content = Content(form="json", data=text.encode("utf-8", _LOSSLESS), text=text)
    if len(content.data) > MAX_BYTES:
        raise InvalidInput(
            f"The tool result has {len(content.data):,} bytes; at most {MAX_BYTES:,} are kept",
            code="result_too_large",
            hint="Have the tool write a file, or give its result in parts.",
        )
    return content


def content_from(form: Form, data: bytes) -> Content:
    """Return the content that was stored as these bytes."""
    if form != "bytes":
        return Content(form=form, data=data, text=data.decode("utf-8", _LOSSLESS))
    try:
        return Content(form=form, data=data, text=data.decode())
    except UnicodeDecodeError:
        return Content(form=form, data=data, text=None)


def _as_json(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as unusable:
        raise _not_plain(str(unusable)) from None
    _require_text_keys(value)
    return text


def _require_text_keys(value: object) -> None:
    """Raise an error for keys that are not text: JSON would change them."""
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, dict):
            mapping = cast("dict[object, object]", inner)
            for key in mapping:
                if not isinstance(key, str):
                    raise _not_plain(f"the key {key!r} is not a text")
            waiting.extend(mapping.values())
        elif isinstance(inner, list | tuple):
            waiting.extend(cast("Iterable[object]", inner))


def _not_plain(why: str) -> InvalidInput:
    return InvalidInput(
        f"The tool result can not be stored: {why}",
        code="wrong_type",
        hint="Give text, bytes, or a value that JSON can write.",
    )
