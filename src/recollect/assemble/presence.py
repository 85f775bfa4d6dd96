"""Whether there is a memory at a place, found out without creating one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.backends.sql.companions import require_nothing_lost

if TYPE_CHECKING:
    from recollect.settings import Settings


def has_memory(settings: Settings) -> bool:
    """Return whether there is a memory, the common one or that of the agent.

    Where one is missing that was there, the error says how to get it back.
    """
    if _is_there(settings) or _is_there(settings.of_agent(None)):
        return True
    require_nothing_lost(settings.database)
    return False


def _is_there(settings: Settings) -> bool:
    """Return whether a memory exists; a database server says so itself."""
    if settings.server_url or settings.is_temporary:
        return True
    if settings.is_journal:
        from recollect.backends.sql.journaled_database import journal_of

        return journal_of(settings.database).exists()
    return settings.database.exists()
