"""Settings → what forgets, and what is let go of in this process when it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from recollect.assemble.contents import contents_of
from recollect.backends.audit_anchor import anchor_of
from recollect.backends.sql.database import Database
from recollect.backends.sql.erasers_proof import SqlProof
from recollect.backends.sql.erasure import SqlErasure
from recollect.context.sessions import Sessions
from recollect.domain.forgetting import Target
from recollect.lifecycle.forgetting import Forgetting, clean_up, erase
from recollect.lifecycle.usage import Usage
from recollect.ports.clock import Clock, SystemClock
from recollect.ports.store import Store
from recollect.recall.cache import CachedRecaller
from recollect.recall.listing import Listing
from recollect.settings import Settings


async def hide_forgotten(database: Database, clock: Clock) -> None:
    """Hide what an older copy of the database brought back, before anybody sees it."""
    await SqlErasure(database, clock).reapply()


async def go_on_forgetting(database: Database, clock: Clock) -> None:
    """Let forgettings that were given up be tried again."""
    await SqlErasure(database, clock).rouse()


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
) -> Forgetting:
    """What forgets, and lets go of it in this process."""

    async def let_go(target: Target) -> None:
        recaller.clear()
        forget_texts()
        await sessions.discard(target)

    erasure, blobs = SqlErasure(database, clock), contents_of(settings, database)
    return Forgetting(
        erasure,
        SqlProof(database, blobs, partial(_other_files, settings)),
        store,
        listing,
        blobs,
        clock,
        settle=usage.flush,
        let_go=let_go,
    )


async def forget_again(settings: Settings, database: Database) -> None:
    """Erase what was forgotten after the copy was made that this database comes from."""
    erasure = SqlErasure(database, SystemClock())
    for forget_id in await erasure.reapply():
        await erase(erasure, contents_of(settings, database), forget_id)
        await clean_up(erasure, forget_id)


def _other_files(settings: Settings) -> Sequence[Path]:
    """Files beside the database that a proof looks into too."""
    logs = settings.log_file.parent.glob(f"{settings.log_file.name}*")
    return [*sorted(logs), anchor_of(settings.database)]
