"""Settings → what is wrong with them, or with what they name."""

from __future__ import annotations

import asyncio

from recollect.assemble.database import database_at
from recollect.assemble.embedding import check_embedder, embedder_in_use
from recollect.backends.sql.maintenance import SqlMaintenance
from recollect.backends.sql.serving import SqlServing
from recollect.domain.diagnosis import Diagnosis
from recollect.domain.embedding import EmbeddingModel
from recollect.errors import SettingsError
from recollect.lifecycle.doctor import Doctor, IndexBudgets, nothing_stored
from recollect.lifecycle.surroundings import (
    Places,
    embedder_finding,
    look_around,
    unusable_settings,
)
from recollect.settings import Settings, settings_file


async def diagnose(settings: Settings) -> Diagnosis:
    """How every part is doing. Nothing is changed, and what cannot be opened is a finding too."""
    places = Places(
        settings_file=settings_file(),
        changed_settings=settings.changed(),
        data_dir=settings.data_dir,
        database=settings.database,
        log_file=settings.log_file,
    )
    tried = await check_embedder(settings)
    findings = await asyncio.to_thread(look_around, places)
    findings.append(embedder_finding(tried, embedder_in_use(settings)))
    is_temporary = settings.is_temporary
    if is_temporary or not settings.database.exists():
        missing = nothing_stored(settings.database, is_temporary=is_temporary)
        return Diagnosis.of([*findings, missing])
    recall = settings.recall
    database = database_at(settings, settings.database)
    try:
        doctor = Doctor(
            SqlMaintenance(database),
            SqlServing(database),
            settings.database,
            EmbeddingModel(name=tried.model, dimension=tried.dimension) if tried.model else None,
            IndexBudgets(keyword_mb=recall.index_memory_mb, vector_mb=recall.vector_memory_mb),
        )
        return Diagnosis.of([*findings, *await doctor.examine()])
    finally:
        await database.close()


def diagnose_settings(problem: SettingsError) -> Diagnosis:
    """What can be said when the settings themselves cannot be used."""
    return Diagnosis.of(unusable_settings(problem.message, problem.hint))
