"""Which model made a vector. Vectors of different models are never compared."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.domain.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """A model's name, which changes whenever its vectors would, and the length of its vectors."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitVector:
    """The vector of a unit that was stored without one."""

    scope: Scope
    unit: int
    vector: bytes
