"""The 8-bit graph computes what BERT computes."""

from __future__ import annotations

import numpy as np
import pytest

from recollect.models.bert_int8 import BertShape, build
from recollect.models.onnx_session import Session, open_session
from tests.unit.models.float_bert import Weights, float_bert, random_weights

SHAPE = BertShape(layers=2, heads=4, hidden=32)


@pytest.fixture(scope="module")
def weights() -> Weights:
    return random_weights(SHAPE, words=50, positions=16)


@pytest.fixture(scope="module")
def session(weights: Weights) -> Session:
    return open_session(build(weights, SHAPE))


def states(session: Session, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return session.run(None, {"input_ids": ids, "attention_mask": mask})[0]


def cosines(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(left, axis=-1) * np.linalg.norm(right, axis=-1)
    return (left * right).sum(axis=-1) / lengths


def test_every_token_comes_out_as_in_exact_arithmetic(session: Session, weights: Weights):
    ids = np.array([3, 14, 15, 9, 26, 5])

    rounded = states(session, ids[None], np.ones((1, 6), np.int64))[0]

    assert cosines(rounded, float_bert(weights, SHAPE, ids)).min() > 0.99


def test_padding_and_neighbours_change_nothing(session: Session):
    ids = np.array([[7, 8, 9, 0, 0, 0], [40, 41, 42, 43, 44, 45]])
    mask = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1]])

    alone = states(session, ids[:1, :3], mask[:1, :3])[0]
    together = states(session, ids, mask)[0, :3]

    np.testing.assert_allclose(together, alone, atol=1e-4)


def test_weights_stay_below_what_old_processors_can_add(weights: Weights):
    """127 + 127 activations times 63 fit into 16 bits; with 8-bit weights they would not."""
    from recollect.models import bert_int8

    rows, scales = bert_int8._rounded(weights["encoder.layer.0.output.dense.weight"], 63)

    assert int(np.abs(rows).max()) == 63
    assert 255 * 2 * int(np.abs(rows).max()) < 2**15
    np.testing.assert_allclose(
        rows * scales, weights["encoder.layer.0.output.dense.weight"], atol=float(scales.max())
    )


def test_the_same_weights_give_the_same_file(weights: Weights):
    assert build(weights, SHAPE) == build(weights, SHAPE)
