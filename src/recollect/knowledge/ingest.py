"""Ingestion of documents: the original file is stored durably first, then read in one step.

Until that step, a search finds the previous version of a document, or nothing of a new one. An
interrupted ingestion is a job that continues: the original file is kept and read again.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, cast
from weakref import WeakValueDictionary

import numpy as np

from recollect.domain.archive import Blob, new_blob_name
from recollect.domain.change import ChangeSet
from recollect.domain.document import (
    INGEST_DOCUMENT,
    MAX_FILE_BYTES,
    MAX_SOURCE,
    Document,
    DocumentChange,
    DocumentType,
    Section,
)
from recollect.domain.fields import MAX_LABEL, MAX_TITLE, checked_text
from recollect.domain.ids import new_id
from recollect.domain.job import Job, NewJob
from recollect.domain.scope import Scope
from recollect.domain.unit import OwnerUnits, Unit
from recollect.embedding.service import EmbeddingService
from recollect.errors import InvalidInput, RecollectError, StaleVersion, StorageError
from recollect.knowledge.parser import Parser
from recollect.knowledge.parsing import BINARY_TYPES, ParsedText, decode, type_of
from recollect.knowledge.splitting import (
    SUMMARISED_FROM,
    document_units,
    split_chunks,
    split_sections,
)
from recollect.knowledge.summaries import ModelSummaries, with_summaries
from recollect.language.digest import digest
from recollect.ports.archives import Blobs
from recollect.ports.jobs import Jobs
from recollect.ports.runtime import Clock
from recollect.ports.store import Store

if TYPE_CHECKING:
    from recollect.knowledge.rows import SqlDocuments

# --- The original files of documents in the blob store: compressed, and checked when read ---------

_COMPRESSION_LEVEL: Final = 3
_PIECE_BYTES: Final = 1 << 20

_log: Final = logging.getLogger(__name__)


class Originals:
    """The store of original files, which returns them byte for byte or raises an error."""

    def __init__(self, blobs: Blobs, documents: SqlDocuments) -> None:
        self._blobs = blobs
        self._documents = documents

    async def put(
        self, scope: Scope, content_hash: str, content: BinaryIO, size: int
    ) -> Blob | None:
        """Store an original file unless the workspace has it; nothing refers to it yet."""
        if await self._documents.blob(scope, content_hash) is not None:
            return None
        # A small file stays in memory until it is stored.
        with tempfile.SpooledTemporaryFile(_PIECE_BYTES) as stored:
            stored_size = await asyncio.to_thread(
                _compress, content, size, cast("BinaryIO", stored)
            )
            blob = Blob(
                hash=content_hash,
                key=await self._blobs.new_key(new_blob_name(scope, content_hash)),
                size=size,
                stored_size=stored_size,
                stored_hash=await asyncio.to_thread(hash_of_file, cast("BinaryIO", stored)),
            )
            await self._blobs.put(blob.key, cast("BinaryIO", stored))
        return blob

    async def read(self, scope: Scope, content_hash: str) -> bytes:
        """Return an original file, or raise an error that describes the damage."""
        blob = await self._documents.blob(scope, content_hash)
        stored = None if blob is None else await self._blobs.get(blob.key)
        if blob is None or stored is None:
            raise _damaged(content_hash, "it is not in the blob store")
        if content_hash_of(stored) != blob.stored_hash:
            raise _damaged(content_hash, "its checksum does not match")
        return await asyncio.to_thread(_decompress, stored, blob.size)

    async def drop(self, keys: Sequence[str]) -> None:
        """Delete unreferenced contents; what cannot be deleted now is deleted later."""
        if not keys:
            return
        try:
            await self._blobs.delete(keys)
        except StorageError as problem:
            _log.warning("%d unused blobs stay for now: %s", len(keys), problem)


def content_hash_of(data: bytes) -> str:
    """Return the hash that identifies a content."""
    return hashlib.sha256(data).hexdigest()


def hash_of_file(content: BinaryIO) -> str:
    """Return the hash of a file's content; the file is at its start afterwards."""
    content.seek(0)
    digest = hashlib.sha256()
    while piece := content.read(_PIECE_BYTES):
        digest.update(piece)
    content.seek(0)
    return digest.hexdigest()


def _compress(content: BinaryIO, size: int, stored: BinaryIO) -> int:
    from recollect.domain.compression import compress_file

    content.seek(0)
    return compress_file(content, size, stored, _COMPRESSION_LEVEL)


def _decompress(stored: bytes, size: int) -> bytes:
    from recollect.domain.compression import decompressed

    return decompressed(stored, size)


def _damaged(content_hash: str, why: str) -> StorageError:
    return StorageError(
        f"The original file {content_hash[:12]} cannot be read: {why}",
        code="document_damaged",
        hint="Put the blob back from a backup, or add the file again.",
    )


# --- Ingestion of documents: the original file is stored durably first, then read in one step -----

Outcome = Literal["added", "updated", "unchanged"]
# Reports how many of how many chunks of a document are embedded.
Tell = Callable[[int, int], None]

_EMBEDDING_BATCH_CHUNKS: Final = 128
_SUMMARY_CHARACTERS: Final = 300
_BATCH_DOCUMENTS: Final = 50
# Enough bytes to detect the type of a file.
_HEAD_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """The outcome of adding a file."""

    document: Document
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenFile:
    """A file to add: its source, and its content, which is read piece by piece."""

    source: str
    content: BinaryIO
    title: str = ""
    tags: tuple[str, ...] = ()


@dataclass(eq=False)
class Ingester:
    """The service that stores documents and makes them searchable."""

    _store: Store
    _documents: SqlDocuments
    _originals: Originals
    _embedding: EmbeddingService
    _jobs: Jobs
    _clock: Clock
    _parser: Parser
    # Masks what may not be stored; None if everything may be.
    _mask: Callable[[str], str] | None = None
    _max_file_bytes: int = MAX_FILE_BYTES
    _summaries: ModelSummaries | None = None
    # Locks keep the caller and the worker of this process from reading the same document.
    _progress: dict[str, tuple[int, int]] = field(
        default_factory=dict[str, tuple[int, int]], init=False
    )
    _reading: WeakValueDictionary[str, asyncio.Lock] = field(
        default_factory=WeakValueDictionary[str, asyncio.Lock], init=False
    )

    async def add(self, scope: Scope, given: GivenFile, *, by: str) -> Ingested:
        """Store a file durably, to be read later; an unchanged one stays as it is."""
        content, size, kind = await asyncio.to_thread(self._prepare, given)
        content_hash = await asyncio.to_thread(hash_of_file, content)
        known = await self._documents.find([scope], sources=[given.source])
        before = known[0] if known else None
        if before is not None and _is_same(before, content_hash, given):
            return Ingested(document=before, outcome="unchanged")
        blob = await self._originals.put(scope, content_hash, content, size)
        document = self._next(scope, before, given, kind, content_hash, size)
        committed = await self._store.commit(
            ChangeSet(
                principal=by,
                scope=scope,
                documents=(DocumentChange(document=document, blob=blob),),
                jobs=(ingest_job(document),),
            )
        )
        await self._originals.drop(committed.unused_blobs)
        return Ingested(document=document, outcome="added" if before is None else "updated")

    def _prepare(self, given: GivenFile) -> tuple[BinaryIO, int, DocumentType]:
        """Return the bytes to store, their number, and their type."""
        size = given.content.seek(0, os.SEEK_END)
        kind = _check(given, size, self._max_file_bytes)
        if self._mask is None:
            return given.content, size, kind
        masked = _mask_file(given, kind, self._mask)
        return BytesIO(masked), len(masked), kind

    async def read(self, document: Document, *, by: str, tell: Tell | None = None) -> Document:
        """Make pending content of a document searchable; return the resulting document.

        If the file cannot be read, the document says why.
        """
        lock = self._reading.setdefault(document.id, asyncio.Lock())
        async with lock:
            found = await self._documents.find([document.scope], ids=[document.id])
            if not found or not found[0].pending_hash:
                return found[0] if found else document
            try:
                return await self._read(found[0], by, self._reporting(document.id, tell))
            except StaleVersion:
                # A newer version was added meanwhile, and its own job reads it.
                return found[0]
            finally:
                self._progress.pop(document.id, None)

    def progress(self, document_id: str) -> tuple[int, int] | None:
        """Return how many of how many chunks are embedded of a document that is being read."""
        return self._progress.get(document_id)

    def _reporting(self, document_id: str, tell: Tell | None) -> Tell:
        def report(done: int, total: int) -> None:
            self._progress[document_id] = (done, total)
            if tell is not None:
                tell(done, total)

        return report

    async def run(self, job: Job) -> Mapping[str, Any] | None:
        """Run the job; skip a document that is gone."""
        found = await self._documents.find([Scope(**job.payload)], ids=[job.key])
        if not found:
            return None
        document = await self.read(found[0], by=INGEST_DOCUMENT)
        return {"status": document.status, "chunks": document.chunks}

    async def schedule(self) -> None:
        """Queue the documents whose content is pending."""
        after = ""
        while batch := await self._documents.pending(after=after, limit=_BATCH_DOCUMENTS):
            after = batch[-1].id
            await self._jobs.add([ingest_job(document) for document in batch])

    async def close(self) -> None:
        """Stop the process that reads files."""
        await self._parser.close()

    async def units(self, document: Document) -> OwnerUnits | None:
        """Return the units of a document, made from its sections."""
        if document.status != "ready":
            return None
        sections = await self._documents.sections(document.id)
        return await asyncio.to_thread(document_units, document, sections)

    async def remove(self, documents: Sequence[Document], *, by: str) -> None:
        """Delete documents with their chunks, and every original file that nothing else needs."""
        for document in documents:
            committed = await self._store.commit(
                ChangeSet(principal=by, scope=document.scope, removed_documents=(document,))
            )
            await self._originals.drop(committed.unused_blobs)

    async def archive(self, document: Document, *, by: str) -> Document:
        """Archive a document, so that no search finds it; used when its file is gone."""
        now = self._clock.now()
        archived = replace(
            document, status="archived", version=document.version + 1, updated_at=now
        )
        emptied = replace(document_units(archived, ()), units=())
        await self._store.commit(
            ChangeSet(
                principal=by,
                scope=document.scope,
                documents=(DocumentChange(document=archived),),
                units=(emptied,),
            )
        )
        return archived

    async def _read(self, document: Document, by: str, tell: Tell) -> Document:
        try:
            data = await self._originals.read(document.scope, document.pending_hash)
            name = PurePath(document.source).name
            parsed = await self._parser.parse(data, document.type, name)
            ready, sections = await asyncio.to_thread(_describe, document, parsed)
        except RecollectError as problem:
            return await self._fail(document, problem, by)
        if self._summaries is not None:
            told, summaries = await self._summaries.of(ready, sections)
            sections = with_summaries(sections, summaries)
            ready = replace(ready, summary=_overview(sections, told)) if told else ready
        ready = replace(ready, version=document.version + 1, updated_at=self._clock.now())
        units = await asyncio.to_thread(document_units, ready, sections)
        embedded, model, jobs = await self._embed(units, tell)
        committed = await self._store.commit(
            ChangeSet(
                principal=by,
                scope=ready.scope,
                documents=(DocumentChange(document=ready, sections=sections),),
                units=(embedded,),
                model=model,
                jobs=jobs,
            )
        )
        await self._originals.drop(committed.unused_blobs)
        return ready

    async def _fail(self, document: Document, problem: RecollectError, by: str) -> Document:
        """Record why a file cannot be read; the previous version stays searchable."""
        failed = replace(
            document,
            status="ready" if document.content_hash else "failed",
            error=explain(problem),
            version=document.version + 1,
            updated_at=self._clock.now(),
        )
        await self._store.commit(
            ChangeSet(
                principal=by,
                scope=document.scope,
                documents=(DocumentChange(document=failed),),
            )
        )
        return failed

    async def _embed(
        self, owner: OwnerUnits, tell: Tell
    ) -> tuple[OwnerUnits, Any, tuple[NewJob, ...]]:
        """Embed the chunks in batches, so that a long document reports progress."""
        first, pieces = owner.units[:1], owner.units[1:]
        made: list[Unit] = []
        means: list[tuple[int, Unit]] = []
        model, jobs = None, ()
        for start in range(0, len(pieces), _EMBEDDING_BATCH_CHUNKS):
            batch = pieces[start : start + _EMBEDDING_BATCH_CHUNKS]
            result = await self._embedding.of_units([replace(owner, units=(*first, *batch))])
            whole, *rest = result.owners[0].units
            made += rest
            means.append((len(batch), whole))
            model, jobs = result.model or model, (*jobs, *result.jobs)
            tell(len(made), len(pieces))
        if not made:
            return owner, model, jobs
        return replace(owner, units=(_mean(means), *made)), model, tuple(dict.fromkeys(jobs))

    def _next(
        self,
        scope: Scope,
        before: Document | None,
        given: GivenFile,
        kind: DocumentType,
        content_hash: str,
        size: int,
    ) -> Document:
        now = self._clock.now()
        title = given.title or PurePath(given.source).name[:MAX_TITLE] or given.source[:MAX_TITLE]
        if before is None:
            return Document(
                id=new_id("doc"),
                scope=scope,
                source=given.source,
                title=title,
                type=kind,
                tags=given.tags,
                pending_hash=content_hash,
                bytes=size,
                created_at=now,
                updated_at=now,
            )
        return replace(
            before,
            title=given.title or before.title,
            type=kind,
            tags=given.tags or before.tags,
            status="pending" if before.status in ("failed", "archived") else before.status,
            error="",
            pending_hash=content_hash,
            bytes=size,
            version=before.version + 1,
            updated_at=now,
        )


def explain(problem: RecollectError) -> str:
    """Return in one line what is wrong with a file, and what to do."""
    return f"{problem.message} ({problem.code}). {problem.hint}".rstrip()


def ingest_job(document: Document) -> NewJob:
    """Return the job that reads new content; it is stored with the content."""
    scope = document.scope
    payload = {
        "org": scope.org,
        "workspace": scope.workspace,
        "agent": scope.agent,
        "user": scope.user,
    }
    return NewJob(kind=INGEST_DOCUMENT, key=document.id, payload=payload)


def _check(given: GivenFile, size: int, most: int) -> DocumentType:
    checked_text(given.source, "source", MAX_SOURCE)
    checked_text(given.title, "title", MAX_TITLE, blank=True)
    for tag in given.tags:
        checked_text(tag, "tags", MAX_LABEL)
    if _is_blank(given.content):
        raise InvalidInput(
            "The file is empty; nothing was stored",
            code="empty_file",
            hint="Give a file that holds text.",
        )
    if size > most:
        raise InvalidInput(
            f"The file has {size:,} bytes; {most:,} are allowed. Nothing was stored",
            code="file_too_large",
            hint="Split the file, or set knowledge.max_file_mb higher.",
        )
    given.content.seek(0)
    return type_of(given.source, given.content.read(_HEAD_BYTES))


def _is_blank(content: BinaryIO) -> bool:
    content.seek(0)
    pieces = iter(lambda: content.read(_HEAD_BYTES), b"")
    return not any(piece.strip() for piece in pieces)


def _is_same(before: Document, content_hash: str, given: GivenFile) -> bool:
    """Return whether nothing is to be done: the same content is searchable or pending."""
    if before.error or before.status in ("failed", "archived"):
        return False
    changed = (given.title and given.title != before.title) or (
        given.tags and given.tags != before.tags
    )
    return not changed and content_hash == (before.pending_hash or before.content_hash)


def _describe(document: Document, parsed: ParsedText) -> tuple[Document, tuple[Section, ...]]:
    """Return the document with the figures of its text, and its sections with summaries."""
    if not parsed.text.strip():
        raise InvalidInput(
            "There is no text in the file",
            code="no_text",
            hint="A scanned document must be made readable (OCR) first.",
        )
    plain = split_sections(parsed)
    chunks = split_chunks(plain, document.type)
    counts: dict[int, int] = {}
    for chunk in chunks:
        counts[chunk.section] = counts.get(chunk.section, 0) + 1
    sections = tuple(
        replace(section, summary=_summary(section.text))
        if counts.get(section.ordinal, 0) >= SUMMARISED_FROM
        else section
        for section in plain
    )
    title = parsed.title if parsed.title and document.version == 1 else document.title
    ready = replace(
        document,
        title=title,
        status="ready",
        error="",
        content_hash=document.pending_hash,
        pending_hash="",
        chars=len(parsed.text),
        sections=len(sections),
        chunks=len(chunks),
        summary=_overview(sections, _summary(parsed.text)),
    )
    return ready, sections


def _overview(sections: Sequence[Section], summary: str) -> str:
    """Return the main headings of a document above its summary."""
    names = " · ".join(dict.fromkeys(section.path[0] for section in sections if section.path))
    return "\n".join(filter(None, (names[:_SUMMARY_CHARACTERS], summary)))


def _summary(text: str) -> str:
    return str(digest(text, _SUMMARY_CHARACTERS, len))


def _mean(parts: Sequence[tuple[int, Unit]]) -> Unit:
    """Return the unit of the whole document, with the mean vector of its parts."""
    whole = parts[0][1]
    weighed = [
        count * np.frombuffer(unit.vector, "<f2").astype(np.float32)
        for count, unit in parts
        if unit.vector is not None
    ]
    if not weighed:
        return whole
    mean = np.sum(weighed, axis=0)
    length = max(float(np.linalg.norm(mean)), 1e-9)
    return replace(whole, vector=np.divide(mean, length).astype("<f2").tobytes())


def _mask_file(given: GivenFile, kind: DocumentType, mask: Callable[[str], str]) -> bytes:
    if kind in BINARY_TYPES:
        raise InvalidInput(
            f"{given.source} may contain personal data, and a {kind} file cannot be masked; "
            "it was not stored",
            code="redaction_needs_text",
            hint="Save it as text or Markdown, or set writing.redact to off for this memory.",
        )
    given.content.seek(0)
    return mask(decode(given.content.read(), declared=kind == "html")).encode()
