"""Archives and their contents as lines of an export.

A content comes once, before the first archive of its workspace that needs it. It is compressed as
in the blob store and split into parts, so that no line is long and only one content at a time is
held in memory.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Final, cast, get_args

from recollect.domain.archive import MAX_BYTES, Archive, Blob, Form, Summariser
from recollect.domain.document import (
    DOCUMENT_TYPES,
    MAX_SOURCE,
    Document,
    DocumentStatus,
    DocumentType,
)
from recollect.domain.fields import MAX_CONTENT, MAX_LABEL, MAX_TITLE, checked_text
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput
from recollect.transfer.json_fields import (
    Json,
    count_in,
    id_in,
    list_in,
    optional_time_in,
    scope_in,
    time_in,
    to_line,
    with_fields,
    word_in,
)

# The number of bytes that make a line of one megabyte.
_PART_BYTES: Final = 3 * 2**18
# Content that does not compress becomes a little larger.
_MAX_STORED_BYTES: Final = MAX_BYTES + MAX_BYTES // 100
_HASH: Final = re.compile("[0-9a-f]{64}")
_ARCHIVE: Final = tuple(field.name for field in fields(Archive))
_DOCUMENT: Final = (
    *("id", "scope", "source", "title", "file_type", "tags", "status", "content_hash", "bytes"),
    *("created_at", "updated_at"),
)
_FORMS: Final[tuple[str, ...]] = get_args(Form)
_SUMMARISERS: Final[tuple[str, ...]] = get_args(Summariser)

# The organisation and workspace that hold a content, and its hash.
ContentKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentPart:
    """One line of a content: its workspace, hash and size, and some of its bytes."""

    org: str
    workspace: str
    hash: str
    size: int
    part: int
    parts: int
    data: str

    @property
    def key(self) -> ContentKey:
        return self.org, self.workspace, self.hash

    def follows(self, before: ContentPart) -> bool:
        """Return whether this is the next part of the same content."""
        same = (self.key, self.size, self.parts) == (before.key, before.size, before.parts)
        return same and self.part == before.part + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeContent:
    """A complete content whose hash was checked; `stored` is the compressed form."""

    key: ContentKey
    size: int
    stored: bytes

    @property
    def place(self) -> Scope:
        return Scope(org=self.key[0], workspace=self.key[1])


def content_key(archive: Archive | Document) -> ContentKey:
    return archive.scope.org, archive.scope.workspace, archive.content_hash


class ContentWriter:
    """The writer of content lines, each content once, when it is first needed."""

    def __init__(
        self, blob_of: Callable[[Archive | Document], Blob], fetch: Callable[[str], bytes | None]
    ) -> None:
        self._blob_of = blob_of
        self._fetch = fetch
        self._is_written: dict[ContentKey, bool] = {}
        self.lost: list[str] = []

    def lines(self, archive: Archive | Document) -> Iterator[bytes]:
        """Yield the lines that precede an archive; note a content that is missing or damaged."""
        key = content_key(archive)
        if key not in self._is_written:
            blob = self._blob_of(archive)
            stored = self._fetch(blob.key)
            is_sound = stored is not None and _hash_of(stored) == blob.stored_hash
            self._is_written[key] = is_sound
            if is_sound:
                yield from _part_lines(key, blob.size, stored or b"")
        if not self._is_written[key]:
            self.lost.append(archive.id)


class ContentReader:
    """The reader that reassembles contents and remembers which ones are complete."""

    def __init__(self) -> None:
        self._before: ContentPart | None = None
        self._stored = bytearray()
        self._sizes: dict[ContentKey, int] = {}
        self._damages: dict[ContentKey, str] = {}

    def take(self, part: ContentPart) -> WholeContent | None:
        """Add a part; return the content if it is now complete and sound."""
        try:
            self._append(part)
            if part.part < part.parts:
                return None
            stored = bytes(self._stored)
            _require_sound(stored, part)
        except ValueError as damage:
            self._damages.setdefault(part.key, str(damage))
            self._reset()
            return None
        self._reset()
        self._damages.pop(part.key, None)
        self._sizes[part.key] = part.size
        return WholeContent(key=part.key, size=part.size, stored=stored)

    def require_content(self, archive: Archive | Document) -> None:
        """Raise an error unless the content of an archive came before it, complete.

        It is not enough that another user has the same content here: knowing a hash must not give
        access to it.
        """
        key = content_key(archive)
        if key in self._damages:
            raise InvalidInput(
                f"the content of {archive.id} is damaged: {self._damages[key]}",
                code="content_damaged",
            )
        size = self._sizes.get(key)
        if size is None:
            raise InvalidInput(
                f"the content of {archive.id} is not in the file", code="content_missing"
            )
        if size != archive.bytes:
            raise InvalidInput(
                f"the content of {archive.id} has {size:,} bytes, not {archive.bytes:,}",
                code="content_damaged",
            )

    def _append(self, part: ContentPart) -> None:
        if part.part == 1:
            self._reset()
        elif self._before is None or not part.follows(self._before):
            raise ValueError(f"part {part.part} does not follow part {part.part - 1}")
        self._before = part
        self._stored += base64.b64decode(part.data, validate=True)
        if len(self._stored) > _MAX_STORED_BYTES:
            raise ValueError(f"it has more than {_MAX_STORED_BYTES:,} bytes")

    def _reset(self) -> None:
        self._before = None
        self._stored = bytearray()


def read_archive(given: Json) -> Archive:
    # Exports made before there were digests do not say who wrote a summary.
    form = with_fields({"summarised_by": "", **given}, "archive", _ARCHIVE)
    chars = count_in(form, "chars", 0)
    asked = _free_text(form["input"], "input")
    if form["input_hash"] != _hash_of(asked.encode()):
        raise InvalidInput("input_hash is not the hash of input", code="bad_hash")
    return Archive(
        id=id_in(form, "arc"),
        scope=scope_in(form),
        session=_label(form, "session"),
        thread=None if form["thread"] is None else _label(form, "thread"),
        tool=_label(form, "tool"),
        input=asked,
        input_hash=form["input_hash"],
        query=_free_text(form["query"], "query"),
        summary=_free_text(form["summary"], "summary"),
        sources=tuple(_free_text(source, "sources") for source in list_in(form, "sources")),
        form=cast("Form", word_in(form, "form", _FORMS)),
        content_hash=_hash_in(form, "content_hash"),
        chars=chars,
        lines=count_in(form, "lines", 0),
        bytes=count_in(form, "bytes", 0, MAX_BYTES),
        indexed_chars=count_in(form, "indexed_chars", 0, chars),
        created_at=time_in(form, "created_at"),
        expires_at=optional_time_in(form, "expires_at"),
        last_loaded=optional_time_in(form, "last_loaded"),
        loads=count_in(form, "loads", 0),
        summarised_by=cast("Summariser", word_in(form, "summarised_by", _SUMMARISERS)),
    )


def read_document(given: Json) -> Document:
    form = with_fields(given, "document", _DOCUMENT)
    scope = scope_in(form)
    if not scope.is_collection:
        raise InvalidInput(f"{scope.key} is not a collection", code="bad_scope")
    return Document(
        id=id_in(form, "doc"),
        scope=scope,
        source=checked_text(form["source"], "source", MAX_SOURCE),
        title=checked_text(form["title"], "title", MAX_TITLE),
        type=cast("DocumentType", word_in(form, "file_type", DOCUMENT_TYPES)),
        tags=tuple(checked_text(tag, "tags", MAX_LABEL) for tag in list_in(form, "tags")),
        status=cast("DocumentStatus", word_in(form, "status", ("pending", "archived"))),
        content_hash=_hash_in(form, "content_hash"),
        bytes=count_in(form, "bytes", 0, MAX_BYTES),
        created_at=time_in(form, "created_at"),
        updated_at=time_in(form, "updated_at"),
    )


def document_form(document: Document) -> Json:
    """Return the fields of a document for a line; the line's own `type` is its kind."""
    form = {name: getattr(document, name) for name in _DOCUMENT if name != "file_type"}
    return {**form, "file_type": document.type}


def read_content_part(given: Json) -> ContentPart:
    form = with_fields(given, "content", tuple(field.name for field in fields(ContentPart)))
    place = Scope(org=form["org"], workspace=form["workspace"])
    if not isinstance(form["data"], str):
        raise InvalidInput("data is not text", code="wrong_type")
    parts = count_in(form, "parts", 1)
    return ContentPart(
        org=place.org,
        workspace=place.workspace,
        hash=_hash_in(form, "hash"),
        size=count_in(form, "size", 0, MAX_BYTES),
        part=count_in(form, "part", 1, parts),
        parts=parts,
        data=form["data"],
    )


def _part_lines(key: ContentKey, size: int, stored: bytes) -> Iterator[bytes]:
    org, workspace, hashed = key
    starts = range(0, len(stored), _PART_BYTES)
    for number, start in enumerate(starts, start=1):
        yield to_line(
            {
                "type": "content",
                "org": org,
                "workspace": workspace,
                "hash": hashed,
                "size": size,
                "part": number,
                "parts": len(starts),
                "data": base64.b64encode(stored[start : start + _PART_BYTES]).decode(),
            }
        )


def _require_sound(stored: bytes, part: ContentPart) -> None:
    """Raise an error unless the content matches its hash; it is read piece by piece."""
    from recollect.domain.compression import ZstdError, pieces_of

    found, size = hashlib.sha256(), 0
    try:
        for piece in pieces_of(stored):
            found.update(piece)
            size += len(piece)
            if size > part.size:
                break
    except ZstdError as damage:
        raise ValueError(str(damage)) from None
    if (found.hexdigest(), size) != (part.hash, part.size):
        raise ValueError(f"expected checksum {part.hash}, found {found.hexdigest()}")


def _hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _hash_in(form: Json, name: str) -> str:
    value = form[name]
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        raise InvalidInput(f"{name} {value!r} is not a hash", code="bad_hash")
    return value


def _label(form: Json, name: str) -> str:
    return checked_text(form[name], name, MAX_LABEL)


def _free_text(value: object, name: str) -> str:
    """Return a text that a tool was given or returned; any storable character is allowed."""
    if isinstance(value, str):
        limit = max(len(value), MAX_CONTENT)
        checked_text(value.replace("\x00", ""), name, limit, blank=True)
        return value
    raise InvalidInput(f"{name} is not text", code="wrong_type")
