"""Texts of like length go through a model together."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.models.batches import by_length


@given(st.lists(st.integers(1, 40), max_size=60), st.integers(1, 100))
def test_every_text_is_in_one_batch_and_batches_fit_when_padded(lengths: list[int], budget: int):
    batches = by_length(lengths, budget)

    assert sorted(at for batch in batches for at in batch) == list(range(len(lengths)))
    for batch in batches:
        padded = len(batch) * max(lengths[at] for at in batch)
        assert padded <= budget or len(batch) == 1


def test_short_texts_come_before_long_ones_and_are_not_padded_to_them():
    assert by_length([9, 1, 9, 1, 1], 18) == [[1, 3, 4], [0, 2]]
