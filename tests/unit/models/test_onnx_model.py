"""Texts of like length go through a model together, whose file is not held."""

import sys

from hypothesis import given
from hypothesis import strategies as st

from recollect.models.onnx_model import by_length, open_session
from training.onnx_graph import FLOAT, Graph


@given(st.lists(st.integers(1, 40), max_size=60), st.integers(1, 100), st.integers(1, 8))
def test_every_text_is_in_one_batch_and_batches_fit_when_padded(
    lengths: list[int], budget: int, lanes: int
):
    batches = by_length(lengths, budget, lanes)

    assert sorted(at for batch in batches for at in batch) == list(range(len(lengths)))
    for batch in batches:
        padded = len(batch) * max(lengths[at] for at in batch)
        assert padded <= budget or len(batch) == 1


def test_short_texts_come_before_long_ones_and_are_not_padded_to_them():
    assert by_length([9, 1, 9, 1, 1], 18) == [[1, 3, 4], [0, 2]]


def test_a_few_texts_are_shared_by_all_lanes():
    assert by_length([20] * 8, 192, lanes=2) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    # Three batches would leave one lane idle half of the time.
    assert [len(batch) for batch in by_length([20] * 24, 192, lanes=2)] == [6, 6, 6, 6]


def test_very_little_is_not_worth_a_second_run():
    assert by_length([20, 20], 192, lanes=2) == [[0, 1]]


def test_of_many_texts_each_batch_is_as_full_as_it_can_be():
    assert [len(batch) for batch in by_length([20] * 90, 192, lanes=2)] == [9] * 10


def test_an_open_model_does_not_hold_its_file():
    graph = Graph()
    x = graph.input("x", FLOAT, ("rows", 3))
    graph.output(graph.node("Softmax", x, axis=-1), "y", FLOAT, ("rows", 3))
    file = graph.model()
    held = sys.getrefcount(file)
    session = open_session(file)
    assert sys.getrefcount(file) == held
    assert len(session.get_inputs()) == 1
