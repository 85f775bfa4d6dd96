"""What a model's cosines mean is measured, and brought onto one scale."""

from __future__ import annotations

import numpy as np
import pytest

from recollect.domain.embedding import MemoryCalibration
from recollect.models.catalogue import measure
from recollect.models.local_model import local_model
from recollect.ports.units import Matches
from tests.unit.recall.found import found, row


async def test_the_shipped_model_tells_answers_from_other_texts():
    embedder = local_model(None).open()
    measured = await measure(embedder)
    await embedder.close()
    assert measured.unrelated < 0.2 < 0.4 < measured.related


def test_cosines_of_another_model_come_onto_the_usual_scale():
    slope, offset = MemoryCalibration(unrelated=0.7, related=0.9).scale
    assert slope * 0.7 + offset == pytest.approx(0.05)
    assert slope * 0.9 + offset == pytest.approx(0.55)

    matches: Matches = found("vector", [(row(1), 0.9), (row(2), 0.7), (row(3), 0.1)]).matches
    scaled = matches.on_scale(slope, offset)
    np.testing.assert_allclose(scaled.scores, [0.55, 0.05, 0.0])
    np.testing.assert_array_equal(scaled.raw, matches.raw)


def test_the_usual_scale_changes_nothing():
    matches = found("vector", [(row(1), 0.9)]).matches
    assert matches.on_scale(*MemoryCalibration().scale) is matches
