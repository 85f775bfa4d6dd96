"""Embedding models and vectors. Vectors of different models are never compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from recollect.domain.job import NewJob
from recollect.domain.scope import Scope

EMBED: Final = "embed"
# The job that changes to another model.
REEMBED: Final = "reembed"
# One job makes all missing vectors.
MISSING_VECTORS: Final = NewJob(kind=EMBED, key="missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """The name of a model, which changes whenever its vectors would, and their dimension.

    `choice` is its name in the settings, with which any process can open it; empty for a model
    that only the caller who passed it in can open.
    """

    name: str
    dimension: int
    choice: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitVector:
    """The vector of a unit that was stored without one."""

    scope: Scope
    unit: int
    # The owner identifies the unit too, since its number may have been reused.
    owner: str
    vector: bytes
