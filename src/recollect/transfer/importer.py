"""Import of an export: what is missing is added, and nothing stored is changed.

Without redaction an import restores what was exported, to the last character. With redaction, an
export made here holds only what was redacted before and also comes back unchanged.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TypeVar, cast

from recollect.context.archives.description import canonical_input, hash_of
from recollect.context.archives.frames import compressed, decompressed
from recollect.context.archives.indexing import index_job
from recollect.context.archives.vault import Vault
from recollect.domain.archive import Archive, Blob
from recollect.domain.audit import NewAuditEntry
from recollect.domain.document import Document, collection_owner
from recollect.domain.item import StoredItem
from recollect.domain.job import Progress
from recollect.domain.record import Version, is_user_profile
from recollect.domain.relation import Link
from recollect.domain.scope import Caller, Scope
from recollect.domain.sharing import Proposal
from recollect.domain.transfer import (
    Imported,
    Item,
    LineProblem,
    ReadMark,
    RecordHistory,
    name_of,
    scope_of,
)
from recollect.domain.turn import Turn
from recollect.embedding.backfill import VectorBackfill
from recollect.errors import InvalidInput, NotAllowed, NotFound, RecollectError, StorageError
from recollect.knowledge.ingest import ingest_job
from recollect.language.extraction.acts import with_acts
from recollect.language.units import record_units, turn_units
from recollect.ports.archives import Blobs
from recollect.ports.transfer import Arrival, Outcome
from recollect.transfer.archive_format import (
    ContentKey,
    ContentPart,
    ContentReader,
    WholeContent,
    content_key,
)
from recollect.transfer.format import read_header, read_item
from recollect.transfer.unpacking import in_thread
from recollect.writing.redaction import Counting, Redactor

if TYPE_CHECKING:
    from recollect.backends.sql.archives import SqlArchives
    from recollect.transfer.rows import SqlTransfer

_BATCH_LINES: Final = 500
_BATCH_BYTES: Final = 4_000_000
# The longest that an export writes is a record with all its versions.
_MAX_LINE_BYTES: Final = 64 * 2**20
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
T = TypeVar("T")
_MAX_LISTED_PROBLEMS: Final = 100


class ImportedContents:
    """The contents of an import, stored before their archives; unused ones are removed."""

    def __init__(self, archives: SqlArchives, blobs: Blobs, redactor: Redactor) -> None:
        self._archives = archives
        self._redactor = redactor
        self._redacted_contents: dict[ContentKey, bytes] = {}
        self._vault = Vault(blobs)
        self._waiting: dict[ContentKey, Blob] = {}

    async def keep(self, content: WholeContent) -> None:
        """Store a content, redacted if required, unless the workspace has it."""
        content = await asyncio.to_thread(self._redact, content)
        _, _, hashed = content.key
        if content.key in self._waiting or await self._archives.blob(content.place, hashed):
            return
        self._waiting[content.key] = await self._vault.put_compressed(
            content.place, hashed, content.size, content.stored
        )

    def as_kept(self, archive: Archive | Document) -> Archive | Document:
        """Return the archive with the hash and size of its redacted content."""
        data = self._redacted_contents.get(content_key(archive))
        if data is None:
            return archive
        if isinstance(archive, Document):
            return replace(archive, content_hash=hash_of(data), bytes=len(data))
        text = data.decode("utf-8", "surrogatepass")
        return replace(
            archive,
            content_hash=hash_of(data),
            chars=len(text),
            lines=text.count("\n") + 1,
            bytes=len(data),
            indexed_chars=min(archive.indexed_chars, len(text)),
        )

    def _redact(self, content: WholeContent) -> WholeContent:
        if self._redactor.mode == "off":
            return content
        data, counts = self._redactor.value(decompressed(content.stored, content.size))
        if not counts:
            return content
        self._redacted_contents[content.key] = data
        org, workspace, _ = content.key
        return WholeContent(
            key=(org, workspace, hash_of(data)), size=len(data), stored=compressed(data)
        )

    def blob_for(self, archive: Archive | Document) -> Blob | None:
        """Return the blob of an archive's content that nothing refers to yet."""
        return self._waiting.get(content_key(archive))

    async def settle(self, added: Iterable[Archive | Document], unused: Sequence[str]) -> None:
        """Note the archives that refer to their contents; delete unused contents."""
        for archive in added:
            self._waiting.pop(content_key(archive), None)
        await self._vault.drop(unused)

    async def drop_unused(self) -> None:
        """Delete the contents that no archive needed."""
        await self._vault.drop([blob.key for blob in self._waiting.values()])
        self._waiting.clear()


def cleaned_item(item: Item, redactor: Redactor) -> tuple[Item, NewAuditEntry | None]:
    """Return the item without personal data, and an audit entry on what was removed.

    In mode `drop`, raise an error for a record with personal data; turns and archives keep their
    places.
    """
    if redactor.mode == "off":
        return item, None
    counting = redactor.counting()
    cleaned = _redact_item(item, counting)
    if not counting.counts:
        return item, None
    if redactor.mode == "drop" and isinstance(item, RecordHistory | Proposal):
        raise InvalidInput(
            f"{name_of(item)} holds personal data ({', '.join(sorted(counting.counts))})",
            code="personal_data",
            hint="It was skipped; with writing.redact = mask it is imported without them.",
        )
    return cleaned, NewAuditEntry(
        scope=scope_of(item),
        action="redact",
        target=name_of(item),
        payload={"redacted": dict(counting.counts)},
    )


def _redact_item(item: Item, counting: Counting) -> Item:
    match item:
        case RecordHistory():
            return replace(
                item, versions=tuple(_version(version, counting) for version in item.versions)
            )
        case Turn():
            return replace(
                item,
                content=counting.text(item.content),
                payload=counting.inside(dict(item.payload)),
            )
        case Archive():
            asked = _redact_input(item.input, counting)
            return replace(
                item,
                input=asked,
                input_hash=hash_of(asked.encode()),
                query=counting.text(item.query),
                summary=counting.text(item.summary),
                sources=counting.texts(item.sources),
            )
        case Proposal():
            return item.evolve(
                title=counting.text(item.title),
                content=counting.text(item.content),
                reason=counting.text(item.reason),
                body=counting.inside(dict(item.body)),
            )
        case StoredItem():
            return replace(
                item,
                value=counting.inside(dict(item.value)),
                texts=counting.texts(item.texts),
            )
        case _:
            return item


def _redact_input(written: str, counting: Counting) -> str:
    try:
        read = json.loads(written)
    except (ValueError, RecursionError):
        return counting.text(written)
    return canonical_input(counting.inside(read))


def _version(version: Version, counting: Counting) -> Version:
    return replace(
        version, record=counting.record(version.record), reason=counting.text(version.reason)
    )


@dataclass(frozen=True, slots=True)
class Lost:
    """The reason why an item is skipped while the import continues.

    Either an archive has no content, or personal data may not be stored.
    """

    scope: Scope
    problem: RecollectError


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line: the item to import, or why it cannot be imported.

    A content replaces all the lines it was read from.
    """

    number: int
    bytes: int
    content: Arrival | WholeContent | Lost | RecollectError


class ImportLines:
    """A file whose header was read, with its lines in batches that fit in memory."""

    def __init__(
        self,
        source: str | Path | BinaryIO,
        caller: Caller | None,
        *,
        skip_bad: bool,
        redactor: Redactor,
    ) -> None:
        raw = _raw_lines(source)
        header = next(raw, b"").removeprefix(_BYTE_ORDER_MARK)
        self.promised: Final = read_header(header).lines
        self._lines = _lines(raw, self.promised, caller, redactor)
        self._skip_bad = skip_bad

    def batch(self) -> list[Line]:
        """Return the next lines, none at the end; stop after a bad one unless it is skipped."""
        batch: list[Line] = []
        size = 0
        for line in self._lines:
            batch.append(line)
            size += line.bytes
            is_over = isinstance(line.content, RecollectError) and not self._skip_bad
            if is_over or len(batch) == _BATCH_LINES or size >= _BATCH_BYTES:
                break
        return batch


def _raw_lines(source: str | Path | BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of each line; only a truncated file lacks the last line break."""
    if not isinstance(source, str | Path):
        yield from _short_lines(source)
        return
    path = Path(source)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield from _short_lines(cast("BinaryIO", file))
    except EOFError:
        raise _cut_off("the compressed file ends in the middle") from None
    except (gzip.BadGzipFile, zlib.error) as damage:
        raise InvalidInput(
            f"the compressed file is damaged: {damage}",
            code="file_damaged",
            hint="Get an undamaged copy; the name of an uncompressed file must not end in .gz.",
        ) from None
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}", code="file_missing") from None
    except OSError as problem:
        raise StorageError(
            f"{path} cannot be read: {problem.strerror}", code="file_unreadable"
        ) from problem


def _short_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file; one that no export writes is not held in memory."""
    while line := file.readline(_MAX_LINE_BYTES + 1):
        if len(line) > _MAX_LINE_BYTES:
            raise InvalidInput(
                f"a line has more than {_MAX_LINE_BYTES:,} bytes",
                code="line_too_long",
                hint="Give a file that `recollect export` wrote.",
            )
        yield line


def _lines(
    raw: Iterator[bytes], promised: int | None, caller: Caller | None, redactor: Redactor
) -> Iterator[Line]:
    number, seen = 1, 0
    contents = ContentReader()
    try:
        for line in raw:
            number += 1
            if not line.strip():
                continue
            read = _read(line)
            if isinstance(read, ContentPart):
                whole = contents.take(read) if _may_hold(caller, read) else None
                if whole is not None:
                    yield Line(number=number, bytes=len(whole.stored), content=whole)
                continue
            seen += 1
            checked = (
                read
                if isinstance(read, RecollectError)
                else _check(read, caller, contents, redactor)
            )
            yield Line(number=number, bytes=len(line), content=checked)
    except RecollectError as damage:
        yield Line(number=number + 1, bytes=0, content=damage)
        return
    if promised is not None and seen < promised:
        ending = _cut_off(f"the file ends after {seen:,} of its {promised:,} entries")
        yield Line(number=number + 1, bytes=0, content=ending)


def _read(line: bytes) -> Item | ContentPart | RecollectError:
    try:
        return read_item(line)
    except RecollectError as problem:
        if problem.code == "not_json" and not line.endswith(b"\n"):
            return _cut_off("the file ends in the middle of this line")
        return problem


def _may_hold(caller: Caller | None, part: ContentPart) -> bool:
    """Return whether a content belongs to the caller's workspace."""
    scope = None if caller is None else caller.scope
    return scope is None or (scope.org, scope.workspace) == (part.org, part.workspace)


def _check(
    item: Item, caller: Caller | None, contents: ContentReader, redactor: Redactor
) -> Arrival | Lost | RecollectError:
    """Return the item with its units, if this caller may write it."""
    try:
        if caller is not None:
            _require_write(caller, item)
    except RecollectError as problem:
        return problem
    try:
        if isinstance(item, Archive | Document):
            contents.require_content(item)
        item, audit = cleaned_item(item, redactor)
    except RecollectError as problem:
        return Lost(scope_of(item), problem)
    match item:
        case RecordHistory():
            return Arrival(item=item, units=record_units(item.current), audit=audit)
        case Turn():
            (item,) = with_acts([item])
            return Arrival(item=item, units=turn_units(item), audit=audit)
        case Archive():
            job = index_job(item) if item.indexed_chars else None
            return Arrival(item=item, job=job, audit=audit)
        case Document():
            job = None if item.status == "archived" else ingest_job(item)
            return Arrival(item=item, job=job, audit=audit)
        case _:
            return Arrival(item=item)


def _cleaned_arrival(
    item: RecordHistory | StoredItem, redactor: Redactor
) -> Arrival | RecollectError:
    try:
        cleaned, audit = cleaned_item(item, redactor)
    except RecollectError as problem:
        return problem
    units = record_units(cleaned.current) if isinstance(cleaned, RecordHistory) else None
    return Arrival(item=cleaned, units=units, audit=audit)


def _require_write(caller: Caller, item: Item) -> None:
    if isinstance(item, Document):
        caller.require_write(collection_owner(item.scope), is_profile=False)
        return
    if not isinstance(item, RecordHistory):
        caller.require_write(item.scope, is_profile=False)
        return
    for version in item.versions:
        is_profile = is_user_profile(version.record.category)
        caller.require_write(version.record.scope, is_profile=is_profile)


def _cut_off(what: str) -> InvalidInput:
    return InvalidInput(what, code="file_truncated", hint="Get a complete copy of the file.")


@dataclass(eq=False)
class Importer:
    """The import of a file in batches; each is durable before the next one starts."""

    _transfer: SqlTransfer
    _filler: VectorBackfill
    _archives: SqlArchives
    _blobs: Blobs
    _redactor: Redactor
    # Whether this store is the one that has a scope.
    _holds: Callable[[Scope], bool] = lambda scope: True

    async def import_from(
        self,
        caller: Caller | None,
        source: str | Path | BinaryIO,
        *,
        skip_bad: bool = False,
        progress: Progress | None = None,
    ) -> Imported:
        """Add what the file holds to the scopes it names; without a caller, to any scope.

        What was forgotten here stays forgotten: it is reported and skipped. What may not be stored
        here (`writing.redact`) is masked, or skipped and reported.
        """
        lines = await in_thread(
            lambda: ImportLines(source, caller, skip_bad=skip_bad, redactor=self._redactor)
        )
        contents = ImportedContents(self._archives, self._blobs, self._redactor)
        tally = _Tally(skip_bad=skip_bad)
        try:
            while batch := await in_thread(lines.batch):
                await self._add(batch, contents, tally)
                if progress is not None:
                    progress(tally.done, max(tally.done, lines.promised or 0))
        finally:
            await contents.drop_unused()
            # New items are found by words at once; vectors are made in the background.
            if tally.added:
                await self._filler.schedule()
        return tally.result()

    async def add_items(
        self, items: Sequence[RecordHistory | StoredItem], *, dry_run: bool = False
    ) -> list[Outcome | RecollectError]:
        """Add items that were not exported here, or with `dry_run` tell what would become of them.

        What may not be stored here is told as an error in its place.
        """
        cleaned = [_cleaned_arrival(item, self._redactor) for item in items]
        arrivals = [it for it in cleaned if isinstance(it, Arrival)]
        transfer = self._transfer
        met = (
            await transfer.preview(arrivals) if dry_run else (await transfer.add(arrivals)).outcomes
        )
        if Outcome.ADDED in met and not dry_run:
            await self._filler.schedule()
        outcomes = iter(met)
        return [next(outcomes) if isinstance(it, Arrival) else it for it in cleaned]

    async def _add(self, batch: Sequence[Line], contents: ImportedContents, tally: _Tally) -> None:
        arrived: list[tuple[int, Arrival]] = []
        refused: list[tuple[int, RecollectError]] = []
        for line in batch:
            match line.content:
                case WholeContent() as content:
                    await contents.keep(content)
                case Arrival() as arrival:
                    if self._holds(scope_of(arrival.item)):
                        arrived.append((line.number, _with_content(arrival, contents)))
                case Lost(scope, problem):
                    if self._holds(scope):
                        tally.lose(line.number, problem)
                case problem:
                    refused.append((line.number, problem))
        if arrived:
            await self._write(arrived, contents, tally)
        for number, problem in refused:
            tally.refuse(number, problem)

    async def _write(
        self, arrived: Sequence[tuple[int, Arrival]], contents: ImportedContents, tally: _Tally
    ) -> None:
        added = await self._transfer.add([arrival for _, arrival in arrived])
        results = list(zip(arrived, added.outcomes, strict=True))
        for (number, arrival), outcome in results:
            tally.count(number, arrival.item, outcome)
        archives = [
            arrival.item
            for (_, arrival), outcome in results
            if outcome is Outcome.ADDED and isinstance(arrival.item, Archive | Document)
        ]
        await contents.settle(archives, added.unused_blobs)


async def import_into(
    importers: Sequence[Importer],
    caller: Caller | None,
    source: str | Path | BinaryIO,
    *,
    skip_bad: bool,
    progress: Progress | None,
) -> Imported:
    """Read a file once for each store, which adds what belongs to it; sum up what came of it."""
    done: list[Imported] = []
    with contextlib.ExitStack() as held:
        read_again: BinaryIO | None = None
        if len(importers) > 1 and not isinstance(source, str | Path):
            read_again = cast("BinaryIO", held.enter_context(tempfile.TemporaryFile()))
            await in_thread(partial(shutil.copyfileobj, source, read_again))
            source = read_again
        for importer in importers:
            if read_again is not None:
                read_again.seek(0)
            done.append(
                await importer.import_from(caller, source, skip_bad=skip_bad, progress=progress)
            )
    problems = sorted({it for some in done for it in some.problems}, key=lambda it: it.line)
    return Imported(
        added=sum(it.added for it in done),
        unchanged=sum(it.unchanged for it in done),
        conflicting=sum(it.conflicting for it in done),
        lost=sum(it.lost for it in done),
        # A line that cannot be read is so for every store.
        bad=done[0].bad,
        problems=tuple(problems[:_MAX_LISTED_PROBLEMS]),
    )


def _with_content(arrival: Arrival, contents: ImportedContents) -> Arrival:
    if not isinstance(arrival.item, Archive | Document):
        return arrival
    archive = contents.as_kept(arrival.item)
    return replace(arrival, item=archive, blob=contents.blob_for(archive))


@dataclass(slots=True, kw_only=True)
class _Tally:
    """The counts of an import so far."""

    skip_bad: bool
    added: int = 0
    unchanged: int = 0
    conflicting: int = 0
    lost: int = 0
    bad: int = 0
    problems: list[LineProblem] = field(default_factory=list[LineProblem])

    @property
    def done(self) -> int:
        return self.added + self.unchanged + self.conflicting + self.lost + self.bad

    def count(self, number: int, item: Item, outcome: Outcome) -> None:
        match outcome:
            case Outcome.ADDED:
                self.added += 1
            case Outcome.UNCHANGED:
                self.unchanged += 1
            case Outcome.CONTENT_MISSING:
                self.lost += 1
                self._list(number, outcome.name.lower(), _conflict(item, outcome))
            case _:
                self.conflicting += 1
                self._list(number, outcome.name.lower(), _conflict(item, outcome))

    def lose(self, number: int, problem: RecollectError) -> None:
        """Report an item that is skipped."""
        self.lost += 1
        self._list(number, problem.code, problem.message)

    def refuse(self, number: int, problem: RecollectError) -> None:
        """Report a bad line, or stop there."""
        if not self.skip_bad:
            raise type(problem)(
                f"Line {number}: {problem.message}. The lines before it were imported: "
                f"{self.added:,} added, {self.unchanged:,} unchanged, "
                f"{self.conflicting:,} conflicting",
                code=problem.code,
                hint=_recovery_hint(problem),
            )
        self.bad += 1
        self._list(number, problem.code, problem.message)

    def result(self) -> Imported:
        return Imported(
            added=self.added,
            unchanged=self.unchanged,
            conflicting=self.conflicting,
            lost=self.lost,
            bad=self.bad,
            problems=tuple(self.problems),
        )

    def _list(self, line: int, code: str, message: str) -> None:
        if len(self.problems) < _MAX_LISTED_PROBLEMS:
            self.problems.append(LineProblem(line=line, code=code, message=message))


def _conflict(item: Item, outcome: Outcome) -> str:
    name = name_of(item)
    match outcome:
        case Outcome.FORGOTTEN:
            return (
                f"{name} was forgotten here, or is about something forgotten, and stays forgotten"
            )
        case Outcome.CONTENT_MISSING:
            return f"the content of {name} was removed here a moment ago; import it again"
        case Outcome.RECORD_MISSING:
            return f"{name} links records that are not both here"
        case Outcome.PLACE_TAKEN if isinstance(item, Turn):
            return f"{name} would be turn {item.ordinal} of {item.session}, which is taken"
        case Outcome.PLACE_TAKEN if isinstance(item, ReadMark):
            return f"{name} points to {item.turn}, but another turn is stored in its place"
        case Outcome.PLACE_TAKEN if isinstance(item, Link):
            return f"{name} was judged differently here; the stored judgement is kept"
        case Outcome.PLACE_TAKEN if isinstance(item, StoredItem):
            return f"{name} would take the place of another item, which stays"
        case Outcome.PLACE_TAKEN:
            return (
                f"{name} is about records whose conflict is already stored; the stored one is kept"
            )
        case _:
            return f"{name} is stored with different content; the stored one is kept"


def _recovery_hint(problem: RecollectError) -> str:
    fix = (
        "Every line goes back to the user and agent it was exported for: import as that caller"
        " (--user, --agent), or as an operator for everybody with --all-scopes."
        if isinstance(problem, NotAllowed)
        else problem.hint or "Fix the line."
    )
    return f"{fix} Importing again adds only what is missing; --skip-bad skips such lines."
