"""`recollect kb`: documents that an agent can rely on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.cli import show
from recollect.cli.answer import Answer, bar
from recollect.cli.options import Limit, PageMark, argument, moment_of, option
from recollect.domain.document import (
    DEFAULT_COLLECTION,
    Document,
    FileOutcome,
    Passages,
    SyncedFolder,
    is_document_id,
)
from recollect.domain.views import as_json
from recollect.errors import InvalidInput, NotFound
from recollect.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console

Into = Annotated[str, option("The collection to put it in.", "--collection", "-c", metavar="NAME")]
Among = Annotated[str | None, option("Only this collection.", "--collection", "-c", metavar="NAME")]
Tags = Annotated[list[str] | None, option("Tag (repeatable).", "--tag", metavar="TAG")]
Everybody = Annotated[
    bool,
    option("For all users and agents of the workspace, not only you.", "--everybody"),
]
Named = Annotated[str, argument("The document, or the file it was made from.", metavar="ID|FILE")]

_FAILED = 1


async def add(
    memory: Memory,
    paths: Annotated[list[str], argument("Files, or folders with files.", metavar="FILE|FOLDER…")],
    collection: Into = DEFAULT_COLLECTION,
    tag: Tags = None,
    everybody: Everybody = False,
) -> Answer:
    """Add files; an unchanged one is left as it is, a changed one gets a new version.

    Markdown, text, HTML, source code, JSON and CSV, and with recollect[documents] PDF, DOCX,
    PPTX and XLSX. Stopped, the same command goes on where it was.
    """
    memory = _of_everybody(memory) if everybody else memory
    done = [await _synced(memory, path, collection, tag, archive=False) for path in paths]
    return _ended(SyncedFolder(files=tuple(it for part in done for it in part.files)))


async def sync(
    memory: Memory,
    folder: Annotated[str, argument("The folder to follow.", metavar="FOLDER")],
    collection: Into = DEFAULT_COLLECTION,
    tag: Tags = None,
    everybody: Everybody = False,
) -> Answer:
    """Bring a collection to the state of a folder: add, update, and archive what is gone."""
    memory = _of_everybody(memory) if everybody else memory
    return _ended(await _synced(memory, folder, collection, tag, archive=True))


async def list_documents(
    memory: Memory,
    collection: Among = None,
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Answer:
    """List documents, last changed first."""
    found = await memory.knowledge.list(collection=collection, limit=limit, cursor=cursor)

    return show.listed(
        found, _line, none="There are no documents; `recollect kb add FILE` adds one."
    )


async def show_document(
    memory: Memory,
    named: Named,
    chunks: Annotated[bool, option("Also list the chunks.", "--chunks")] = False,
) -> Answer:
    """Show a document and its sections; with --chunks also its chunks."""
    document = await _document(memory, named)
    sections = await memory.knowledge.sections(document.id)
    pieces = await memory.knowledge.chunks(document.id) if chunks else ()

    def tell(console: Console) -> None:
        show.line(console, _line(document))
        show.line(console, f"  {document.source}")
        for section in sections:
            page = "" if section.page is None else f" · p. {section.page}"
            name = " › ".join(section.path) or "(beginning)"
            show.line(console, f"  {section.start:>8}-{section.end}{page}  {name}")
        for piece in pieces:
            show.line(console, f"\n[{piece.ordinal}] {piece.start}-{piece.end}\n{piece.text}")

    value = {**as_json(document), "sections": [as_json(it) for it in sections]}
    if chunks:
        value["chunk_list"] = [as_json(it) for it in pieces]
    return Answer(value, tell)


async def search(
    memory: Memory,
    query: Annotated[str, argument("What to look for.", metavar="TEXT")],
    collection: Annotated[
        list[str] | None,
        option("Only this collection (repeatable).", "--collection", "-c", metavar="NAME"),
    ] = None,
    tag: Tags = None,
    kind: Annotated[
        list[str] | None, option("Only this type (repeatable).", "--type", metavar="TYPE")
    ] = None,
    since: Annotated[str | None, option("Only if changed since then.", metavar="TIME")] = None,
    until: Annotated[str | None, option("Only if changed before then.", metavar="TIME")] = None,
    limit: Annotated[int, option("Maximum number of passages.")] = 5,
    explain: Annotated[bool, option("Explain how each passage was found.", "--explain")] = False,
) -> Answer:
    """Find the passages that answer a question, with citations."""
    found = await memory.knowledge.search(
        query,
        collections=collection,
        tags=tag,
        types=kind,
        since=moment_of(since, "--since"),
        until=moment_of(until, "--until"),
        limit=limit,
    )
    return Answer(found, lambda console: _tell_passages(console, found, explain=explain))


async def remove(memory: Memory, named: Named, everybody: Everybody = False) -> Answer:
    """Delete a document, its chunks and its original file for good."""
    memory = _of_everybody(memory) if everybody else memory
    gone = await memory.knowledge.delete((await _document(memory, named)).id)
    return show.said(gone, f"Removed {gone.id} ({gone.title}).")


async def stats(memory: Memory) -> Answer:
    """List the collections with counts."""
    found = await memory.knowledge.collections()

    def tell(console: Console) -> None:
        for it in found:
            failed = f" · {it.failed:,} with errors" if it.failed else ""
            size = f"{_count(it.documents, 'document')} · {_count(it.chunks, 'chunk')}"
            show.line(console, f"{it.name} · {size} · {_count(it.bytes, 'byte')}{failed}")
        if not found:
            show.line(console, "There are no documents; `recollect kb add FILE` adds one.")

    return Answer(found, tell)


async def _document(memory: Memory, named: str) -> Document:
    """Return the document with this id, or the one that was made from this file."""
    from recollect.knowledge.folder_sync import source_of

    if is_document_id(named):
        return await memory.knowledge.get(named)
    # A file of this machine is known by its absolute path, an upload by any name.
    for source in (source_of(Path(named)), named):
        found = await memory.knowledge.list(source=source, limit=2)
        if len(found) > 1:
            raise InvalidInput(
                f"{named} is in several collections: {', '.join(it.id for it in found)}",
                code="ambiguous_document",
                hint="Give the id of one of them.",
            )
        if found:
            return found[0]
    raise NotFound(
        f"There is no document {named!r}",
        code="unknown_document",
        hint="`recollect kb list` lists the documents with their ids.",
    )


def _of_everybody(memory: Memory) -> Memory:
    """Return the memory of the workspace itself, which its users and agents read."""
    return memory.scope(agent=None, user=None)


async def _synced(
    memory: Memory, path: str, collection: str, tags: list[str] | None, *, archive: bool
) -> SyncedFolder:
    import asyncio

    try:
        with bar("Reading") as progress:
            return await memory.knowledge.sync(
                path, collection=collection, tags=tags or (), archive=archive, progress=progress
            )
    except asyncio.CancelledError:
        typer.echo("Stopped; what was added is kept. The same command goes on.", err=True)
        raise


def _ended(done: SyncedFolder) -> Answer:
    return Answer.of(done, _tell_files, _FAILED if done.count("failed") else 0)


def _tell_files(console: Console, done: SyncedFolder) -> None:
    failed: Sequence[FileOutcome] = [file for file in done.files if file.outcome == "failed"]
    for it in failed:
        show.line(console, f"{it.source}: {it.error}")
    told = [f"{done.count(it):,} {it}" for it in ("added", "updated", "unchanged")]
    if done.archived:
        told.append(f"{len(done.archived):,} archived")
    if skipped := [file.source for file in done.files if file.outcome == "skipped"]:
        endings = sorted({PurePath(source).suffix.lower() for source in skipped} - {""})
        told.append(f"{len(skipped):,} skipped" + (f" ({', '.join(endings)})" if endings else ""))
    if failed:
        told.append(f"{len(failed):,} failed")
    show.line(console, ", ".join(told) + ".")


def _tell_passages(console: Console, found: Passages, *, explain: bool) -> None:
    for passage in found:
        citation = passage.citation
        where = f"{citation.label} · {citation.start}-{citation.end} · {citation.document}"
        show.line(console, f"{passage.score:.2f}  {where}")
        if explain:
            parts = " · ".join(f"{name} {value}" for name, value in passage.explanation.items())
            spans = ", ".join(f"{start}-{end}" for start, end in passage.matched)
            show.line(console, f"      {parts} · matched {spans}")
        show.line(console, passage.content)
        show.line(console, "")
    if not found:
        show.line(console, "Nothing was found.")
    for part in found.degraded:
        show.line(console, f"degraded: {part}")


def _count(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


def _line(document: Document) -> str:
    size = f"{_count(document.chars, 'character')} · {_count(document.chunks, 'chunk')}"
    told = f"{document.id} · {document.status} · {document.type} · {document.title} · {size}"
    return f"{told} · {document.error}" if document.error else told
