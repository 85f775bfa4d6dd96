"""What stands around a candidate speaks for it: neighbours, session, day, the question before."""

import numpy as np
import pytest

from recollect.domain.sections import RecallSettings
from recollect.domain.unit import Trait
from recollect.ports.units import UnitRows
from recollect.recall.candidates import gather
from recollect.recall.neighbourhood import from_neighbours
from tests.unit.recall.found import found, row

_ONLY_NEIGHBOURS = RecallSettings(
    session_weight=0, day_weight=0, answer_weight=0, neighbour_weight=0.2
)
_ONLY_SESSION = RecallSettings(
    session_weight=0.5, day_weight=0.25, answer_weight=0, neighbour_weight=0
)
_ONLY_ANSWERS = RecallSettings(
    session_weight=0, day_weight=0, answer_weight=0.4, neighbour_weight=0
)


def _added(options: RecallSettings, *scored: tuple[UnitRows, float]) -> list[float]:
    """What is added for each, in rising order of the units' numbers."""
    candidates = gather([found("keyword", scored)])
    evidence = candidates.by_path("keyword")
    return from_neighbours(candidates, evidence, evidence, options).tolist()


def _turn(unit: int, place: int, cluster: int = 7, **more: int) -> UnitRows:
    return row(unit, place=place, cluster=cluster, **more)


def test_the_turns_beside_a_turn_speak_for_it_and_the_next_but_one_half_as_much():
    said = [(_turn(1, 1), 0.0), (_turn(2, 2), 0.0), (_turn(3, 3), 0.8), (_turn(4, 4), 0.0)]
    assert _added(_ONLY_NEIGHBOURS, *said) == pytest.approx([0.08, 0.16, 0.0, 0.16])


def test_places_count_and_not_the_order_in_which_candidates_were_found():
    apart = [(_turn(1, 1), 0.5), (_turn(2, 9), 0.5)]
    assert _added(_ONLY_NEIGHBOURS, *apart) == [0.0, 0.0]
    backwards = [(_turn(1, 2), 0.5), (_turn(2, 1), 0.0)]
    assert _added(_ONLY_NEIGHBOURS, *backwards) == pytest.approx([0.0, 0.1])


def test_another_session_is_no_neighbour():
    said = [(_turn(1, 1, cluster=7), 0.8), (_turn(2, 2, cluster=8), 0.0)]
    assert _added(_ONLY_NEIGHBOURS, *said) == [0.0, 0.0]


def test_records_of_a_day_are_no_neighbours_of_each_other():
    noted = [
        (row(1, kind="record", place=1, cluster=-7), 0.8),
        (row(2, kind="record", place=2, cluster=-7), 0.0),
    ]
    assert _added(_ONLY_NEIGHBOURS, *noted) == [0.0, 0.0]


def test_the_best_of_a_session_speaks_for_all_of_it_the_less_the_larger_its_share():
    said = [
        *((_turn(1, 1), 0.8), (_turn(2, 30), 0.2)),
        *((_turn(3, 1, cluster=8), 0.1), (_turn(4, 1, cluster=9), 0.1)),
    ]
    # Half of the candidates are of session 7, a quarter of each other one.
    added = _added(_ONLY_SESSION, *said)
    assert added == pytest.approx([0.2, 0.2, 0.5 * 0.1 * 0.75, 0.5 * 0.1 * 0.75])


def test_a_day_of_records_speaks_with_its_own_weight():
    noted = [
        (row(1, kind="record", place=1, cluster=-7), 0.8),
        (row(2, kind="record", place=2, cluster=-7), 0.0),
        (row(3, kind="record", place=3, cluster=-8), 0.0),
        (row(4, kind="record", place=4, cluster=-9), 0.0),
    ]
    assert _added(_ONLY_SESSION, *noted) == pytest.approx([0.1, 0.1, 0.0, 0.0])


def test_a_session_that_holds_all_candidates_tells_nothing():
    said = [(_turn(unit, 10 * unit), unit / 10) for unit in range(1, 6)]
    assert _added(_ONLY_SESSION, *said) == [0.0] * 5


def test_what_belongs_to_nothing_has_no_company():
    alone = [(row(1, cluster=0), 0.8), (row(2, cluster=0), 0.2)]
    assert _added(_ONLY_SESSION, *alone) == pytest.approx([0.2, 0.05])


def test_a_long_text_does_not_speak_for_its_neighbours():
    said = [(_turn(1, 1, size=600), 0.8), (_turn(2, 2), 0.0)]
    assert _added(_ONLY_NEIGHBOURS, *said) == [0.0, 0.0]
    half = [(_turn(1, 1, size=300), 0.8), (_turn(2, 2), 0.0)]
    assert _added(_ONLY_NEIGHBOURS, *half) == pytest.approx([0.0, 0.08])


def test_a_fitting_question_speaks_for_what_follows_it_at_once():
    asks = int(Trait.ASKS)
    said = [(_turn(1, 1, traits=asks), 0.5), (_turn(2, 2), 0.0), (_turn(3, 3), 0.0)]
    assert _added(_ONLY_ANSWERS, *said) == pytest.approx([0.0, 0.2, 0.0])
    no_question = [(_turn(1, 1), 0.5), (_turn(2, 2), 0.0)]
    assert _added(_ONLY_ANSWERS, *no_question) == [0.0, 0.0]


def test_an_assistant_answers_whatever_it_is_asked_so_that_tells_nothing():
    asks, assistant = int(Trait.ASKS), int(Trait.BY_ASSISTANT)
    said = [(_turn(1, 1, traits=asks), 0.5), (_turn(2, 2, traits=assistant), 0.0)]
    assert _added(_ONLY_ANSWERS, *said) == [0.0, 0.0]


def test_one_candidate_alone_has_no_surroundings():
    assert _added(RecallSettings(), (_turn(1, 1, traits=1), 0.9)) == [0.0]


def test_what_is_added_is_never_negative_and_bounded():
    rng = np.random.default_rng(1)
    said = [
        (
            _turn(unit, int(rng.integers(1, 9)), cluster=int(rng.integers(-3, 4))),
            float(rng.random()),
        )
        for unit in range(1, 40)
    ]
    options = RecallSettings()
    most = options.session_weight + 3 * options.neighbour_weight + options.answer_weight
    assert all(0 <= it <= most for it in _added(options, *said))
