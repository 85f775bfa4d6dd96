"""Which embedding model serves which scope, and the units that lack its vectors.

For an operator or a background job, across all scopes. Never reachable from a caller's scope.
"""

from __future__ import annotations

from dataclasses import dataclass

from recollect.domain.archive import Archive
from recollect.domain.document import Document
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.record import Record
from recollect.domain.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainUnit:
    """A unit that lacks a vector, with its position among its owner's units.

    Its owner is None while the owner is being removed.
    """

    unit: int
    ordinal: int
    owner: Record | Turn | Archive | Document | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedUnits:
    """How many units a model serves; without a model, how many have no vectors at all."""

    model: EmbeddingModel | None
    scopes: int
    units: int
