"""An archive: a large tool result that was put away, described without its content."""

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
    """One tool result, whose content is the workspace's blob with the same hash.

    `input` is canonical JSON. `indexed_chars` is how far a search over archives looks into it.
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
        """Whether it can be read, and so searched and shown in parts."""
        return self.chars > 0

    @property
    def is_indexed_whole(self) -> bool:
        return self.indexed_chars == self.chars

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """Content in the blob store: what it is (hash, size) and how it lies there, compressed.

    A key is never used twice, so removing one can not hit the same content stored anew.
    """

    hash: str
    key: str
    size: int
    stored_size: int
    stored_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewArchive:
    """An archive to add. Without a blob the workspace must hold the content already."""

    archive: Archive
    blob: Blob | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierResult:
    """What the same tool gave for the same input before."""

    archive: Archive
    age: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptArchives:
    """The archives that went, or in a dry run what would."""

    archives: tuple[Archive, ...]
    is_dry_run: bool

    @property
    def bytes(self) -> int:
        """The size of their contents; one that others share stays in the store."""
        return sum(archive.bytes for archive in self.archives)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentRange:
    """A part of a text: lines counted from 1, the last included, or characters like a slice."""

    unit: RangeUnit
    first: int
    last: int

    def of(self, text: str) -> str:
        """The part itself; what lies beyond the end is left out."""
        if self.unit == "characters":
            return text[self.first : self.last]
        *whole, rest = text.split("\n")
        lines = [*(f"{line}\n" for line in whole), rest]
        return "".join(lines[max(self.first, 1) - 1 : self.last])


def contents_beside(database: Path) -> Path:
    """The folder of the contents that a database refers to; it belongs to no other database."""
    return database.with_name(f"{database.name}-blobs")


def parse_range(spelling: ContentRange | str) -> ContentRange:
    """Read `10-20` or `lines 10-20` (lines) and `chars 0-2000` (characters)."""
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
