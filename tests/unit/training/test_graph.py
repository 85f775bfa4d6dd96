"""The 8-bit graphs compute what the trained models compute."""

from __future__ import annotations

import numpy as np
import pytest

from recollect.models.onnx_embedder import WordRows
from recollect.models.onnx_model import Session, open_session
from tests.unit.training.float_bert import Weights, float_bert, random_weights
from training.graph import BertShape, build_embedder, build_pairs
from training.rounding import LARGEST_WEIGHT, round_rows, rounded
from training.shipped import shipped_weights

SHAPE = BertShape(layers=2, heads=4, hidden=32)
ROWS = "embeddings.word_embeddings.weight"


@pytest.fixture(scope="module")
def weights() -> Weights:
    return random_weights(SHAPE, words=50, positions=16)


@pytest.fixture(scope="module")
def words(weights: Weights) -> WordRows:
    rows, scales = round_rows(weights[ROWS])
    return WordRows(rows, scales[:, 0])


@pytest.fixture(scope="module")
def session(weights: Weights) -> Session:
    return open_session(build_embedder(weights, SHAPE))


def states(session: Session, words: WordRows, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return session.run(None, {"words": words.of(ids), "attention_mask": mask})[0]


def cosines(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(left, axis=-1) * np.linalg.norm(right, axis=-1)
    return (left * right).sum(axis=-1) / lengths


def test_every_token_comes_out_as_in_exact_arithmetic(
    session: Session, words: WordRows, weights: Weights
):
    ids = np.array([3, 14, 15, 9, 26, 5])

    rounded = states(session, words, ids[None], np.ones((1, 6), np.int64))[0]

    assert cosines(rounded, float_bert(weights, SHAPE, ids)).min() > 0.99


def test_padding_and_neighbours_change_nothing(session: Session, words: WordRows):
    ids = np.array([[7, 8, 9, 0, 0, 0], [40, 41, 42, 43, 44, 45]])
    mask = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1]])

    alone = states(session, words, ids[:1, :3], mask[:1, :3])[0]
    together = states(session, words, ids, mask)[0, :3]

    np.testing.assert_allclose(together, alone, atol=1e-4)


def test_weights_stay_below_what_old_processors_can_add(weights: Weights):
    """127 + 127 activations times 63 fit into 16 bits; with 8-bit weights they would not."""
    rows, scales = rounded(weights["encoder.layer.0.output.dense.weight"], LARGEST_WEIGHT)

    assert int(np.abs(rows).max()) == 63
    assert 255 * 2 * int(np.abs(rows).max()) < 2**15
    np.testing.assert_allclose(
        rows * scales, weights["encoder.layer.0.output.dense.weight"], atol=float(scales.max())
    )


def test_the_same_weights_give_the_same_file(weights: Weights):
    assert build_embedder(weights, SHAPE) == build_embedder(weights, SHAPE)


@pytest.fixture
def judge(weights: Weights) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(1)

    def normal(*size: int) -> np.ndarray:
        return draw.normal(0, 0.2, size).astype(np.float32)

    return {
        **weights,
        "kind.weight": normal(16, SHAPE.hidden),
        "pool.weight": normal(SHAPE.hidden, 4 * SHAPE.hidden),
        "pool.bias": normal(SHAPE.hidden),
        "relation.weight": normal(4, SHAPE.hidden),
        "relation.bias": normal(4),
    }


@pytest.mark.parametrize("way", [0, 4, 12])
def test_the_reader_of_pairs_pools_both_sides(
    judge: dict[str, np.ndarray], weights: Weights, words: WordRows, way: int
):
    ids = np.array([1, 7, 8, 2, 9, 8, 2])
    kinds = np.array([0, 0, 1, 0, 2, 3, 2])
    # A token's kind is added to its row before the layers see it.
    shifted = {**judge, ROWS: weights[ROWS][ids] + judge["kind.weight"][kinds + way]}
    exact = float_bert(shifted, SHAPE, np.arange(len(ids)))
    old, new = exact[kinds < 2].mean(axis=0), exact[kinds > 1].mean(axis=0)
    joined = np.concatenate([exact[0], old, new, np.abs(old - new)])
    pooled = np.tanh(judge["pool.weight"] @ joined + judge["pool.bias"])
    expected = judge["relation.weight"] @ pooled + judge["relation.bias"]

    session = open_session(build_pairs(judge, SHAPE, ["relation"]))
    feed = {"kinds": kinds[None] + way, "attention_mask": np.ones((1, 7), np.int64)}
    (scores,) = session.run(["relation"], {**feed, "words": words.of(ids[None])})

    np.testing.assert_allclose(scores[0], expected, atol=0.15)


def test_training_can_go_on_from_what_is_shipped(judge: dict[str, np.ndarray]):
    shipped = shipped_weights(build_pairs(judge, SHAPE, ["relation"]), SHAPE)

    again = shipped_weights(build_pairs(shipped, SHAPE, ["relation"]), SHAPE)

    assert set(shipped) == set(judge) - {ROWS}
    for name, weight in shipped.items():
        step = np.abs(judge[name]).max() / LARGEST_WEIGHT
        np.testing.assert_allclose(weight, judge[name], atol=step)
        np.testing.assert_allclose(again[name], weight, rtol=1e-5)
