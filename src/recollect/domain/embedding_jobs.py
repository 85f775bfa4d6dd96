"""The jobs that make vectors."""

from __future__ import annotations

from typing import Final

from recollect.domain.job import NewJob

EMBED: Final = "embed"
# The job that changes to another model.
REEMBED: Final = "reembed"
# One job makes all missing vectors.
MISSING_VECTORS: Final = NewJob(kind=EMBED, key="missing")
