"""Which model made a vector. Vectors of different models are never compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from recollect.domain.job import NewJob
from recollect.domain.scope import Scope

EMBED: Final = "embed"
# The work of changing to another model.
REEMBED: Final = "reembed"
# Of many units that lack a vector one job makes them all.
MISSING_VECTORS: Final = NewJob(kind=EMBED, key="missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """A model's name, which changes whenever its vectors would, and the length of its vectors.

    `choice` is how settings name it, so that any process can open it again; empty when only the
    caller who brought it can.
    """

    name: str
    dimension: int
    choice: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitVector:
    """The vector of a unit that was stored without one."""

    scope: Scope
    unit: int
    # Who the unit belongs to: its number may have been given again since.
    owner: str
    vector: bytes
