"""Archives: large tool results stored outside of the database and restored exactly."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from recollect.domain.scope import Scope
from recollect.errors import InvalidInput

# --- Tool results as bytes that can be stored and restored exactly --------------------------------


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
        f"The tool result cannot be stored: {why}",
        code="wrong_type",
        hint="Give text, bytes, or a value that JSON can write.",
    )


# --- An archive: a large tool result that is stored outside of the database -----------------------


RangeUnit: TypeAlias = Literal["lines", "characters"]
# Who wrote the summary of an archive; "" = nobody who read all of it.
Summariser: TypeAlias = Literal["", "digest", "model"]

_RANGE: Final = re.compile(
    r"(?:(lines?|l|characters?|chars?|c)\s*+(?::\s*+)?)?l?(\d{1,18})\s*+-\s*+l?(\d{1,18})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """The description of one archived tool result; the content is a blob of the workspace.

    `input` is canonical JSON. `indexed_chars` is how many characters are searchable.
    """

    id: str
    scope: Scope
    session: str
    thread: str | None
    tool: str
    input: str
    input_hash: str
    query: str
    summary: str
    sources: tuple[str, ...]
    form: Form
    content_hash: str
    chars: int
    lines: int
    bytes: int
    indexed_chars: int
    created_at: datetime
    expires_at: datetime | None
    last_loaded: datetime | None = None
    loads: int = 0
    summarised_by: Summariser = ""

    @property
    def is_text(self) -> bool:
        """Return whether the content is text, which can be searched and shown in parts."""
        return self.chars > 0

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """Content in the blob store: its hash and size, and those of its compressed form.

    A key is never used twice, so removing one cannot remove the same content stored again.
    """

    hash: str
    key: str
    size: int
    stored_size: int
    stored_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewArchive:
    """An archive to add. Without a blob, the workspace must already have the content."""

    archive: Archive
    blob: Blob | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierResult:
    """An earlier result of the same tool for the same input."""

    archive: Archive
    age: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptArchives:
    """The archives that were removed, or that a dry run would remove."""

    archives: tuple[Archive, ...]
    is_dry_run: bool

    @property
    def bytes(self) -> int:
        """Return the size of their contents; content shared with other archives stays stored."""
        return sum(archive.bytes for archive in self.archives)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentRange:
    """A range of a text: lines from 1 to the last, inclusive, or characters like a slice."""

    unit: RangeUnit
    first: int
    last: int

    def of(self, text: str) -> str:
        """Return the part of the text in this range, as far as the text goes."""
        if self.unit == "characters":
            return text[self.first : self.last]
        *whole, rest = text.split("\n")
        lines = [*(f"{line}\n" for line in whole), rest]
        return "".join(lines[max(self.first, 1) - 1 : self.last])


def new_blob_name(scope: Scope, content_hash: str) -> str:
    """Return a name that no content has yet."""
    # The name of a scope may contain anything; its digest is safe in a path.
    workspace = sha256(f"{scope.org}/{scope.workspace}".encode()).hexdigest()[:16]
    return f"{workspace}/{content_hash}-{uuid.uuid4().hex[:12]}.zst"


def contents_beside(database: Path) -> Path:
    """Return the folder for the blobs of a database; no other database uses it."""
    return database.with_name(f"{database.name}-blobs")


def parse_range(spelling: ContentRange | str) -> ContentRange:
    """Parse `10-20` or `lines 10-20` (lines) and `chars 0-2000` (characters)."""
    if isinstance(spelling, ContentRange):
        return spelling
    found = _RANGE.fullmatch(spelling.strip().lower())
    if found is None or int(found[2]) > int(found[3]):
        raise InvalidInput(
            f"{spelling!r} is not a range",
            code="bad_range",
            hint="Write lines as '10-20', or characters as 'chars 0-2000'.",
        )
    unit: RangeUnit = "characters" if (found[1] or "").startswith("c") else "lines"
    return ContentRange(unit=unit, first=int(found[2]), last=int(found[3]))
