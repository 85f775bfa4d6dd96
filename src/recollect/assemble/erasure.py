"""Settings → the service that forgets, including the caches of this process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from recollect.assemble.contents import contents_of
from recollect.backends.audit_anchor import anchor_of
from recollect.backends.sql.database import Database
from recollect.backends.sql.erasers_proof import SqlProof
from recollect.backends.sql.erasure import SqlErasure
from recollect.context.sessions import Sessions
from recollect.domain.document import Document
from recollect.domain.forgetting import Target
from recollect.domain.scope import Caller
from recollect.erasure.forgetting import Forgetting, clean_up, erase
from recollect.lifecycle.usage import Usage
from recollect.ports.runtime import Clock, SystemClock
from recollect.ports.store import Store
from recollect.recall.cache import CachedRecaller
from recollect.recall.listing import Listing
from recollect.settings import Settings


async def hide_forgotten(database: Database, clock: Clock) -> None:
    """Hide what an older copy of the database brought back, before anybody sees it."""
    await SqlErasure(database, clock).reapply()


def forgetting_of(
    settings: Settings,
    database: Database,
    clock: Clock,
    store: Store,
    listing: Listing,
    usage: Usage,
    recaller: CachedRecaller,
    sessions: Sessions,
    forget_texts: Callable[[], None],
    own_document: Callable[[Caller, str], Awaitable[Document]],
) -> Forgetting:
    """Return the service that forgets; it also clears the caches of this process."""

    async def let_go(target: Target) -> None:
        recaller.clear()
        forget_texts()
        await sessions.discard(target)

    blobs = contents_of(settings, database)
    erasure = SqlErasure(database, clock, in_place=settings.storage.erase_in_place)
    return Forgetting(
        erasure,
        SqlProof(database, blobs, partial(_other_files, settings)),
        store,
        listing,
        blobs,
        clock,
        settle=usage.flush,
        let_go=let_go,
        own_document=own_document,
    )


async def forget_again(settings: Settings, database: Database) -> None:
    """Erase what was forgotten after the backup was made that this database comes from."""
    erasure = SqlErasure(database, SystemClock(), in_place=settings.storage.erase_in_place)
    for forget_id in await erasure.reapply():
        await erase(erasure, contents_of(settings, database), forget_id)
        await clean_up(erasure, forget_id, even_large=True)


def _other_files(settings: Settings) -> Sequence[Path]:
    """Return the files beside the database that a verification searches too."""
    logs = settings.log_file.parent.glob(f"{settings.log_file.name}*")
    return [*sorted(logs), anchor_of(settings.database)]
