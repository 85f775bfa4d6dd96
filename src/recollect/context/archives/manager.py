"""The tool-result archive: large results leave the window and nothing is lost.

A result is archived whole. A placeholder stays in the window, which can be opened for one turn:
whole, by range, or by the passages that match a query.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from recollect.context.archives.description import (
    DIGESTED_AT_ONCE,
    Origin,
    canonical_input,
    describe,
    digest_of,
    hash_of,
    query_of,
    sample_of,
    with_digest,
)
from recollect.context.archives.indexing import index_job
from recollect.context.archives.passages import select_passages
from recollect.context.archives.vault import Vault
from recollect.context.edits import AnyMessage, with_texts
from recollect.context.placeholder import (
    Placeholder,
    Shown,
    close_placeholders,
    open_placeholders,
    opened,
)
from recollect.domain.archive import (
    Archive,
    Blob,
    Content,
    ContentRange,
    EarlierResult,
    NewArchive,
    Summariser,
    ToolResult,
    content_of,
    parse_range,
)
from recollect.domain.change import ChangeSet
from recollect.domain.fields import MAX_TITLE, checked_text
from recollect.domain.memory_tools import is_memory_tool
from recollect.domain.meter import Meter
from recollect.domain.operation import Operation
from recollect.domain.scope import Caller, Role
from recollect.domain.sections import ArchiveSettings
from recollect.embedding.service import EmbeddingService
from recollect.errors import Conflict, InvalidInput, NotFound, StorageError
from recollect.language.characters import language
from recollect.language.digest import Digest
from recollect.ports.language_model import TokenCounter
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.writing.redaction import Counts, Redactor
from recollect.writing.saver import redacted_entry

if TYPE_CHECKING:
    from recollect.backends.sql.archives import SqlArchives

# No model averages more characters per token than this in natural text.
_MAX_CHARS_PER_TOKEN: Final = 16
# For a longer text the tokens are estimated from its beginning.
_COUNTED_CHARACTERS: Final = 20_000

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewed:
    """An archive as it is shown now.

    `shown` is what the producing turn shows, if the result was too long to be digested at once.
    """

    placeholder: Placeholder
    shown: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveParts:
    """The services of a manager; shared by all callers."""

    store: Store
    archives: SqlArchives
    vault: Vault
    tokens: TokenCounter
    clock: Clock
    redactor: Redactor = field(default_factory=Redactor)
    meter: Meter = field(default_factory=Meter)
    embedding: EmbeddingService | None = None


class ToolResultManager:
    """The tool results of one caller: archived, loaded and shown."""

    ARCHIVE_THRESHOLD: Final = 10_000

    def __init__(
        self, caller: Caller, parts: ArchiveParts, settings: ArchiveSettings | None = None
    ) -> None:
        self._caller = caller
        self._store = parts.store
        self._archives = parts.archives
        self._vault = parts.vault
        self._tokens = parts.tokens
        self._clock = parts.clock
        self._redactor = parts.redactor
        self._meter = parts.meter
        self._settings = settings or ArchiveSettings(threshold=self.ARCHIVE_THRESHOLD)
        # What is digested in the background, by archive.
        self._late: dict[str, asyncio.Task[Renewed]] = {}

    @property
    def threshold(self) -> int:
        """Return the length above which results are archived."""
        return self._settings.threshold

    async def process_tool_result(
        self,
        tool_name: str,
        tool_input: object,
        result: ToolResult,
        conversation_id: str,
        thread_id: str | None = None,
        *,
        question: str = "",
    ) -> ToolResult:
        """Return a short result as it is; archive a long one and return what to show.

        Shown are the digest, and the passages that it points at or that match the tool's input and
        the question it was called for.
        """
        return await self.archived(
            tool_name, tool_input, result, conversation_id, thread_id, question, is_patient=True
        )

    async def archived(
        self,
        tool_name: str,
        tool_input: object,
        result: ToolResult,
        conversation_id: str,
        thread_id: str | None = None,
        question: str = "",
        *,
        is_patient: bool = False,
    ) -> ToolResult:
        """Process a tool's result without waiting until a very long one is digested.

        Until then it is told by its beginning and its end; `renewed` waits for the whole.
        """
        threshold = self._settings.threshold
        is_short = isinstance(result, str | bytes) and len(result) <= threshold
        if is_short or is_memory_tool(tool_name):
            return result
        # In a thread: a large result keeps a processor busy for a while.
        content = await asyncio.to_thread(content_of, result)
        if content.length <= threshold:
            return result
        # Archives are stored, so personal data is redacted first.
        tool_input, asked = self._redactor.value(tool_input)
        result, held = await asyncio.to_thread(self._redactor.value, result)
        content = content_of(result) if held else content
        if content.length <= threshold:
            return result
        origin = Origin(
            scope=self._caller.scope,
            session=conversation_id,
            thread=thread_id,
            tool=tool_name,
            input=tool_input,
        )
        query = f"{query_of(tool_input)}\n{question}".strip()
        is_late = not is_patient and len(content.text or "") > DIGESTED_AT_ONCE
        read = sample_of(content) if is_late else content
        told = await self._digest(read, query)
        # Choose what to show while the disk writes.
        archive, (shown, text) = await asyncio.gather(
            self._find_or_archive(
                content, origin, Counter(asked) + Counter(held), told, "" if is_late else "digest"
            ),
            self._to_show(content, query, () if is_late else told.lines),
        )
        if is_late and not archive.summarised_by:
            late = self._renew_later(archive, content, query)
            self._late[archive.id] = asyncio.create_task(late)
        placeholder = self.placeholder(archive)
        result = opened(placeholder, shown, text) if text else str(placeholder)
        self._count_saved(content, result)
        return result

    async def renewed(self, ids: Sequence[str]) -> Mapping[str, Renewed]:
        """Return what to show of these archives now, as far as there are such archives.

        One that nobody has digested as a whole is digested first; so were those of old versions.
        """
        found = await self._archives.find(self._caller.readable, ids=ids) if ids else []
        return {archive.id: await self._renewed(archive) for archive in found}

    async def close(self) -> None:
        """Stop digesting; an archive without a digest gets it when it is shown next."""
        for late in self._late.values():
            late.cancel()
        await asyncio.gather(*self._late.values(), return_exceptions=True)
        self._late.clear()

    async def load_tool_result(
        self, uuid: str, query: str | None = None, range: ContentRange | str | None = None
    ) -> ToolResult:
        """Return the original result, or as text the passages about a query or a range."""
        if range is not None and query is None:
            part = await self._load_range(uuid, parse_range(range))
            if part is not None:
                return part[1]
        archive, content = await self._load(uuid)
        if query is None and range is None:
            return content.value
        _, text = await self._part(archive, content, query, range)
        return text

    async def load_tool_history(
        self, uuid: str, query: str | None = None, range: ContentRange | str | None = None
    ) -> str:
        """Return a result for a model, under its placeholder; the next turn shows only that."""
        if range is not None and query is None:
            part = await self._load_range(uuid, parse_range(range))
            if part is not None:
                return opened(self.placeholder(part[0]), "range", part[1])
        archive, content = await self._load(uuid)
        shown, text = await self._part(archive, content, query, range)
        return opened((await self._renewed(archive, content)).placeholder, shown, text)

    @Operation(
        "POST",
        "/v1/sessions/{session_id}/archives/open",
        "open_archives",
        Role.WRITER,
        repeat="read",
    )
    async def prepare_context(
        self,
        messages: Sequence[AnyMessage],
        load_uuids: Sequence[str] | None = None,
        query: str | None = None,
    ) -> list[AnyMessage]:
        """Return the messages with these archives opened and all others closed.

        With a query, only the passages about it are shown. An archive that cannot be loaded says
        why in its place, and the conversation continues.
        """
        contents = {uuid: await self._content_or_problem(uuid, query) for uuid in load_uuids or ()}
        return [
            with_texts(message, lambda text: open_placeholders(text, contents))
            for message in messages
        ]

    @Operation(
        "POST",
        "/v1/sessions/{session_id}/archives/close",
        "close_archives",
        Role.WRITER,
        repeat="read",
    )
    async def restore_placeholders(self, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
        """Return the messages with every archive closed again, for the next turn."""
        return [with_texts(message, close_placeholders) for message in messages]

    async def find_earlier(self, tool_name: str, tool_input: object) -> EarlierResult | None:
        """Return what the same tool returned for the same input before, in any session."""
        now = self._clock.now()
        tool_input, _ = self._redactor.value(tool_input)
        hashed = hash_of(canonical_input(tool_input).encode())
        found = await self._archives.find(
            [self._caller.scope], tool=tool_name, input_hash=hashed, limit=1
        )
        if not found or found[0].is_expired(now):
            return None
        return EarlierResult(archive=found[0], age=now - found[0].created_at)

    def placeholder(self, archive: Archive) -> Placeholder:
        """Return the placeholder of an archive."""
        words = f"{archive.query} {archive.summary}"
        is_chinese = language(words) == "zh"
        chosen = self._settings.language
        return Placeholder(
            id=archive.id,
            tool=archive.tool,
            query=archive.query,
            time=archive.created_at,
            length=archive.chars if archive.is_text else archive.bytes,
            unit="characters" if archive.is_text else "bytes",
            summary=archive.summary,
            sources=archive.sources,
            language=("zh" if is_chinese else "en") if chosen == "auto" else chosen,
        )

    async def _digest(self, content: Content, query: str) -> Digest:
        room = self._settings.summary_tokens
        return await asyncio.to_thread(digest_of, content, query, room, self._tokens)

    async def _renewed(self, archive: Archive, content: Content | None = None) -> Renewed:
        late = self._late.get(archive.id)
        # Shielded: a caller that gives up does not stop it for the next.
        done = None if late is None else await asyncio.shield(late)
        if archive.summarised_by:
            shown = None if done is None else done.shown
            return Renewed(placeholder=self.placeholder(archive), shown=shown)
        if done is not None:
            return done
        try:
            if content is None:
                _, content = await self._load(archive.id, is_counted=False)
            query = query_of(json.loads(archive.input))
            archive = await self._store_digest(archive, await self._digest(content, query))
        except (NotFound, StorageError) as problem:
            _log.warning("%s keeps its summary for now: %s", archive.id, problem)
        return Renewed(placeholder=self.placeholder(archive))

    async def _renew_later(self, archive: Archive, content: Content, query: str) -> Renewed:
        """Digest a result that was archived with the digest of a part of it."""
        told = await self._digest(content, query)
        archive = await self._store_digest(archive, told)
        shown, text = await self._to_show(content, query, told.lines)
        placeholder = self.placeholder(archive)
        return Renewed(
            placeholder=placeholder,
            shown=opened(placeholder, shown, text) if text else str(placeholder),
        )

    async def _store_digest(self, archive: Archive, told: Digest) -> Archive:
        digested = with_digest(archive, told, "digest")
        try:
            await self._archives.set_summary(digested)
        except StorageError as problem:
            _log.warning("the digest of %s is not kept: %s", archive.id, problem)
        return digested

    async def _find_or_archive(
        self, content: Content, origin: Origin, redacted: Counts, told: Digest, by: Summariser
    ) -> Archive:
        """Archive a result, or return its archive if the same call returned the same before."""
        now = self._clock.now()
        keep_days = self._settings.keep_days
        archive = await asyncio.to_thread(
            describe,
            content,
            origin,
            now=now,
            expires_at=None if keep_days is None else now + timedelta(days=keep_days),
            indexed_passages=self._settings.indexed_passages,
        )
        archive = with_digest(archive, told, by)
        same, blob = await asyncio.gather(
            self._archives.find(
                [archive.scope],
                session=archive.session,
                tool=archive.tool,
                input_hash=archive.input_hash,
                content_hash=archive.content_hash,
                limit=1,
            ),
            self._archives.blob(archive.scope, archive.content_hash),
        )
        if same and not same[0].is_expired(now):
            return same[0]
        if blob is not None:
            try:
                await self._commit(archive, None, redacted)
            except Conflict:
                # The last archive with this content was removed in between.
                blob = None
        if blob is None:
            # The blob first: one without a row is harmless and deleted later.
            await self._commit(archive, await self._vault.put(content, archive), redacted)
        return archive

    def _count_saved(self, content: Content, shown: str) -> None:
        """Count the tokens that need not be sent; for a long text this is an estimate."""
        text = content.text or ""
        if text:
            part = text[:_COUNTED_CHARACTERS]
            tokens = self._tokens.count(part) * len(text) / len(part) - self._tokens.count(shown)
            self._meter.add("archive_tokens_saved", max(0.0, round(tokens)))

    async def _commit(self, archive: Archive, blob: Blob | None, redacted: Counts) -> None:
        committed = await self._store.commit(
            ChangeSet(
                principal=self._caller.principal,
                scope=archive.scope,
                archives=(NewArchive(archive=archive, blob=blob),),
                jobs=(index_job(archive),) if archive.indexed_chars else (),
                audit=tuple(filter(None, [redacted_entry(archive, redacted)])),
            )
        )
        if committed.unused_blobs:
            # Another process stored the same content at the same time.
            await self._vault.drop(committed.unused_blobs)

    async def _to_show(
        self, content: Content, query: str, lines: Sequence[int]
    ) -> tuple[Shown, str]:
        """Return what the producing turn shows of a result besides the placeholder."""
        text = content.text
        if text is None or self._settings.show == "placeholder":
            return "full", ""
        if self._settings.show == "full" and self._fits(text):
            return "full", text
        return await self._passages(text, query, self._settings.passage_tokens, lines)

    def _fits(self, text: str) -> bool:
        room = self._settings.full_tokens
        # A text that is far too long need not be counted.
        return len(text) <= room * _MAX_CHARS_PER_TOKEN and self._tokens.count(text) <= room

    async def _load_range(self, uuid: str, range: ContentRange) -> tuple[Archive, str] | None:
        """Return a range of a large result without reading all of it; None if that is needed."""
        archive, blob = await self._find(uuid)
        part = await self._vault.read_range(archive, blob, range)
        if part is None:
            return None
        await self._archives.note_load(archive, self._clock.now())
        return archive, part

    async def _find(self, uuid: str) -> tuple[Archive, Blob]:
        checked_text(uuid, "uuid", MAX_TITLE, blank=True)
        found = await self._archives.with_blob(self._caller.readable, uuid)
        if found is None:
            raise NotFound(
                f"There is no archived tool result {uuid}",
                code="unknown_archive",
                hint="Take the id from a placeholder in this conversation.",
            )
        return found

    async def _load(self, uuid: str, *, is_counted: bool = True) -> tuple[Archive, Content]:
        archive, blob = await self._find(uuid)
        content = await self._vault.read(archive, blob)
        if is_counted:
            await self._archives.note_load(archive, self._clock.now())
        return archive, content

    async def _part(
        self,
        archive: Archive,
        content: Content,
        query: str | None,
        range: ContentRange | str | None,
    ) -> tuple[Shown, str]:
        """Return the requested part of a content as text."""
        if content.text is None:
            raise InvalidInput(
                f"{archive.id} is not text: {archive.summary}",
                code="not_text",
                hint="Load it whole with load_tool_result.",
            )
        if query is not None and range is not None:
            raise InvalidInput("Give a query or a range, not both", code="bad_range")
        if range is not None:
            return "range", parse_range(range).of(content.text)
        if query is not None:
            return await self._passages(content.text, query, self._settings.load_tokens)
        return "full", content.text

    async def _passages(
        self, text: str, query: str, budget: int, lines: Sequence[int] = ()
    ) -> tuple[Shown, str]:
        chosen = await asyncio.to_thread(
            select_passages, text, query, self._tokens, budget, lines=lines
        )
        return "passages" if chosen.fits else "beginning", chosen.render(text)

    async def _content_or_problem(self, uuid: str, query: str | None) -> tuple[Shown, str]:
        try:
            archive, content = await self._load(uuid)
            return await self._part(archive, content, query, None)
        except (NotFound, InvalidInput, StorageError) as problem:
            return "problem", f"{problem}. {problem.hint}"
