"""What paths found, written down by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from recollect.domain.scope import Scope
from recollect.domain.unit import UNIT_OWNERS, Trait
from recollect.ports.units import COLUMNS, NO_UNITS, Matches, UnitRows
from recollect.recall.paths import Found, PathName
from recollect.recall.question import Question

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def row(unit: int, *, kind: str = "turn", ordinal: int = 0, **setting: Any) -> UnitRows:
    """One unit in English; what is not told of it is 0."""
    known = {
        "unit": unit,
        "kind": UNIT_OWNERS.index(kind),
        "ordinal": ordinal,
        **setting,
        "traits": setting.get("traits", 0) ^ Trait.NOT_CHINESE,
    }
    return UnitRows.of([[known.get(name, 0) for name in COLUMNS]], [f"{kind}_{unit - ordinal}"])


def found(
    path: PathName, scored: Sequence[tuple[UnitRows, float]], *, trust: float = 1.0, **more: Any
) -> Found:
    """What a path found; it lists the best first, as paths do."""
    best_first = sorted(scored, key=lambda it: -it[1])
    scores = np.array([score for _, score in best_first])
    rows = UnitRows.joined([NO_UNITS, *(one for one, _ in best_first)])
    matches = Matches(rows=rows, raw=10 * scores, scores=scores)
    return Found(path=path, matches=matches, trust=trust, **more)


def question(text: str = "harbour", **more: Any) -> Question:
    return Question(text=text, scopes=(Scope(user="ann"),), limit=5, min_score=0.0, now=NOW, **more)
