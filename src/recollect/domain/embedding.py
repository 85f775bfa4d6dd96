"""Embedding models and vectors. Vectors of different models are never compared."""

from __future__ import annotations

from collections.abc import Mapping
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


# --- The progress of changing the embedding model or the analyzer ---------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexing:
    """The target model, as the settings name it, and what is left to do.

    If no change is under way, `model` is the one in the settings, empty if there is none.
    `units` counts all units that can be recalled, `lacking` those without a vector of the model,
    including texts that the model cannot embed. `stale` counts units whose terms come from an
    earlier analyzer; they are analysed again automatically. `served` has the number of units that
    each model serves now, and under "" those that no model serves.
    """

    model: str
    is_going_on: bool
    units: int
    lacking: int
    stale: int
    served: Mapping[str, int] = field(hash=False)
