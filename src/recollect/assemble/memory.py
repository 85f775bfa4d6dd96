"""Settings → a wired Memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

from recollect.assemble.embedding import meaning_of
from recollect.assemble.where import first_caller, settings_at
from recollect.errors import RecollectError
from recollect.memory import Memory
from recollect.ports.clock import Clock, SystemClock
from recollect.ports.embedder import Embedder
from recollect.settings import Settings
from recollect.settings.working import ModelSettings


async def assemble(
    where: str | Path | Settings | None = None,
    clock: Clock | None = None,
    embedder: Embedder | None = None,
    question: str | None = None,
) -> Memory:
    """Open the database, bring it up to date and put together what a question needs.

    The model that reads an expected `question` loads meanwhile.
    """
    settings = settings_at(where)
    clock = clock or SystemClock()
    understood = await asyncio.to_thread(meaning_of, settings, clock, embedder, question)
    meaning = understood[0]
    # Imported here, while the model loads in a thread of its own.
    from recollect.assemble.database import open_database
    from recollect.assemble.wiring import Wiring

    try:
        database = await asyncio.to_thread(open_database, settings)
    except RecollectError:
        await meaning.close()
        raise
    try:
        parts = Wiring(settings, clock, database, *understood)
        parts.try_settings()
        await parts.hide_forgotten()
        if settings.models != ModelSettings() or settings.notes.rules:
            # A model or a rule that cannot be is told now, not in the middle of a conversation.
            _ = parts.working
    except RecollectError:
        await database.close()
        await meaning.close()
        raise
    parts.start()
    return Memory(parts, first_caller(settings))
