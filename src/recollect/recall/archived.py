"""Archives as recall shows them: the matching passage, not the whole text."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

from recollect.domain.archive import Archive
from recollect.domain.hit import ArchivePassage
from recollect.domain.scope import Scope
from recollect.errors import StorageError
from recollect.recall.fuse import Fused

if TYPE_CHECKING:
    from recollect.backends.sql.archives import SqlArchives

TextOf = Callable[[Archive], Awaitable[str]]

_log: Final = logging.getLogger(__name__)


class ArchivePassages:
    """Access to archives for recall."""

    def __init__(self, archives: SqlArchives, text_of: TextOf) -> None:
        self._archives = archives
        self._text_of = text_of

    async def find(self, scopes: Sequence[Scope], ids: Sequence[str]) -> list[Archive]:
        """Return the archives with these ids that lie in the scopes."""
        return await self._archives.find(scopes, ids=ids)

    async def passage(self, archive: Archive, fused: Fused) -> ArchivePassage:
        """Return the matching passage, or the summary if the text is damaged or has no match."""
        span = fused.span if fused.is_passage else None
        content = archive.summary
        if span is not None:
            try:
                content = (await self._text_of(archive))[slice(*span)]
            except StorageError as problem:
                _log.warning("%s is shown by its summary: %s", archive.id, problem)
                span = None
        return ArchivePassage(
            id=archive.id,
            tool=archive.tool,
            query=archive.query,
            session=archive.session,
            content=content,
            span=span,
            created_at=archive.created_at,
        )
