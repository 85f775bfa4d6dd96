"""A scope's vectors that follow what is added and removed are those of a scope read anew."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recollect.backends.local.byte_vectors import ByteVectors
from recollect.backends.local.segment import Ids
from recollect.backends.local.vector_index import PackedMatrix

_DIMENSION = 8
_steps = st.lists(
    st.tuples(st.booleans(), st.lists(st.integers(1, 60), max_size=20, unique=True).map(sorted)),
    max_size=12,
)


def _vectors(units: Ids, state: int) -> ByteVectors:
    """Of the same unit in the same state the same vector."""
    rows = [np.random.default_rng([int(unit), state]).normal(size=_DIMENSION) for unit in units]
    return ByteVectors.of(np.array(rows, np.float32).reshape(-1, _DIMENSION))


@given(_steps)
def test_following_changes_leads_to_what_packing_anew_does(steps: list[tuple[bool, list[int]]]):
    followed = PackedMatrix()
    present: dict[int, int] = {}
    for state, (is_added, numbers) in enumerate(steps):
        units = np.array(numbers, np.int64)
        if is_added:
            followed = followed.added(units, _vectors(units, state))
            present.update(dict.fromkeys(numbers, state))
        else:
            followed = followed.removed(units)
            present = {unit: since for unit, since in present.items() if unit not in numbers}

    question = np.random.default_rng(1).normal(size=_DIMENSION).astype(np.float32)
    found = followed.score(question)

    expected = {
        unit: PackedMatrix()
        .added(np.array([unit]), _vectors(np.array([unit]), since))
        .score(question)
        .scores[0]
        for unit, since in present.items()
    }
    assert dict(zip(found.units.tolist(), found.scores.tolist(), strict=True)) == expected
    assert followed.units == len(present)
