"""Packed postings that follow changes are, to the last bit, those packed anew."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect.backends.local.bm25 import Weights
from recollect.backends.local.postings import PackedPostings, PackedSearch, most_bytes
from recollect.backends.local.segment import Segment, pack

_TEXT = st.lists(st.integers(1, 12), max_size=8)
_STEPS = st.lists(
    st.one_of(
        st.lists(_TEXT, min_size=1, max_size=6),
        st.sets(st.integers(1, 60), min_size=1, max_size=8),
    ),
    max_size=12,
)
_QUERY = st.lists(st.integers(1, 14), min_size=1, max_size=6, unique=True)


def _segment(texts: dict[int, list[int]]) -> Segment:
    keys = np.array([key for text in texts.values() for key in text], np.uint64)
    lengths = np.array([len(text) for text in texts.values()], np.int32)
    return pack(np.array(list(texts), np.int64), lengths, keys)


def _postings(*texts: list[int]) -> PackedPostings:
    return PackedPostings().added(_segment(dict(enumerate(texts, 1))))


def _answer(postings: PackedPostings, query: list[int], allowed: list[int] | None = None):
    keys = np.array(query, np.uint64)
    search = PackedSearch(postings, keys)
    statistics = search.statistics
    if not statistics.units:
        return statistics, [], []
    among = None if allowed is None else np.array(allowed, np.int64)
    best = search.score(Weights(statistics), among).top(1_000)
    return statistics, best.units.tolist(), best.scores.tolist()


@given(keys=st.lists(st.integers(0, 5), max_size=40), leading=st.sampled_from([1, 2**40, 2**61]))
def test_members_are_in_order_whatever_bits_keys_share(keys, leading):
    # Keys that differ in their last bits only, and such that differ in the first ones.
    texts = {unit: [key * leading] for unit, key in enumerate(keys, 1)}

    segment = _segment(texts)

    for place, term in enumerate(segment.terms.tolist()):
        members = segment.members[segment.starts[place] : segment.starts[place + 1]]
        assert members.tolist() == [at for at, key in enumerate(keys) if key * leading == term]
    assert segment.terms.tolist() == sorted({key * leading for key in keys})


@settings(deadline=None)
@given(steps=_STEPS, query=_QUERY)
@example(steps=[[[1], [], [], []], {1}], query=[1])
def test_following_gives_the_same_bits_as_packing_anew(steps, query):
    followed = PackedPostings()
    left: dict[int, list[int]] = {}
    last = 0
    for step in steps:
        if isinstance(step, list):
            new = dict(enumerate(step, last + 1))
            last += len(new)
            left |= new
            followed = followed.added(_segment(new))
        else:
            left = {unit: text for unit, text in left.items() if unit not in step}
            followed = followed.removed(np.array(sorted(step), np.int64))
        anew = PackedPostings().added(_segment(left))
        assert (followed.units, followed.length) == (anew.units, anew.length)
        assert _answer(followed, query) == _answer(anew, query)


@settings(deadline=None)
@given(texts=st.lists(_TEXT, min_size=1, max_size=12), query=_QUERY, data=st.data())
def test_only_allowed_units_are_found_with_the_scores_they_have_among_all(texts, query, data):
    postings = _postings(*texts)
    allowed = data.draw(st.sets(st.integers(1, len(texts) + 3)))
    _, units, scores = _answer(postings, query)
    expected = [pair for pair in zip(units, scores, strict=True) if pair[0] in allowed]
    _, units, scores = _answer(postings, query, sorted(allowed))
    assert list(zip(units, scores, strict=True)) == expected


@settings(deadline=None)
@given(texts=st.lists(_TEXT, min_size=1, max_size=12), query=_QUERY, limit=st.integers(1, 6))
def test_the_top_is_the_start_of_the_whole_ranking(texts, query, limit):
    search = PackedSearch(_postings(*texts), np.array(query, np.uint64))
    ranking = search.score(Weights(search.statistics))
    assert ranking.top(limit).units.tolist() == ranking.top(1_000).units.tolist()[:limit]


def test_of_equals_the_one_written_first_comes_first():
    _, units, _ = _answer(_postings([7, 8], [1, 2], [1, 3], [1, 4]), [1])
    assert units == [2, 3, 4]


def test_units_without_terms_do_no_harm():
    statistics, units, _ = _answer(_postings([], []), [1])
    assert (statistics.units, statistics.length, units) == (2, 0, [])


def test_units_that_came_one_by_one_are_kept_in_few_parts():
    postings = PackedPostings()
    for unit in range(1, 301):
        postings = postings.added(_segment({unit: [unit % 7, unit]}))
    assert len(postings.parts) <= 6


def test_removed_units_give_their_memory_back():
    postings = _postings(*([place, place + 1, place + 2] for place in range(400)))
    before = postings.bytes
    postings = postings.removed(np.arange(1, 301, dtype=np.int64))
    assert postings.units == 100
    assert postings.bytes < before / 3


def test_removing_what_was_never_there_changes_nothing():
    postings = _postings([1, 2])
    assert postings.removed(np.array([5, 9], np.int64)).parts == postings.parts


@settings(deadline=None)
@given(texts=st.lists(_TEXT, min_size=1, max_size=12))
def test_postings_never_take_more_than_was_foreseen(texts):
    postings = _postings(*texts)
    assert postings.bytes <= most_bytes(postings.units, postings.length) + 4


def test_packing_keeps_memory_small():
    rng = np.random.default_rng(1)
    lengths = np.full(2_000, 30, np.int32)
    keys = rng.zipf(1.3, 60_000).astype(np.uint64)
    segment = pack(np.arange(2_000, dtype=np.int64), lengths, keys)
    assert segment.bytes < 10 * 60_000
