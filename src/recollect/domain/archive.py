"""An archive: a large tool result that is stored outside of the database."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Literal, TypeAlias

from recollect.domain.scope import Scope
from recollect.domain.tool_result import Form
from recollect.errors import InvalidInput

RangeUnit: TypeAlias = Literal["lines", "characters"]

_RANGE: Final = re.compile(
    r"(?:(lines?|l|characters?|chars?|c)\s*:?\s*)?l?(\d{1,18})\s*-\s*l?(\d{1,18})"
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

    @property
    def is_text(self) -> bool:
        """Return whether the content is text, which can be searched and shown in parts."""
        return self.chars > 0

    @property
    def is_indexed_whole(self) -> bool:
        return self.indexed_chars == self.chars

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
