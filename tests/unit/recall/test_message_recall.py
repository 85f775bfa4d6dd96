"""The clauses of a message, each of which may bring a memory of its own."""

from types import SimpleNamespace
from typing import Any

import pytest

from recollect.domain.filters import Filter
from recollect.domain.hit import Recalled
from recollect.recall.message_recall import clauses_of, recall_for_message

_REQUEST = "Write a note for the neighbours, with our full address, and when the plumber comes"


class FakeRecaller:
    """Finds the party for a whole message, and for a clause what it names."""

    async def recall(self, text: str, *_: Any, **__: Any) -> Recalled:
        names = ["party"] if text == _REQUEST else ["party", "address", "plumber"]
        scores = {name: 0.5 for name in names if name == "party" or name in text}
        hits: Any = tuple(SimpleNamespace(id=name, score=it) for name, it in scores.items())
        return Recalled(hits=hits)


@pytest.mark.parametrize(
    ("clause_hits", "found"),
    [(0, ["party"]), (1, ["party", "address"]), (3, ["party", "address", "plumber"])],
)
async def test_the_hits_of_clauses_follow_those_of_the_message(clause_hits: int, found: list[str]):
    recaller: Any = FakeRecaller()
    recalled = await recall_for_message(
        recaller,
        _REQUEST,
        (),
        Filter(),
        limit=5,
        clause_hits=clause_hits,
        min_score=None,
        asked_at=None,
    )
    assert [hit.id for hit in recalled] == found


def test_a_request_for_several_things_has_several_clauses():
    english = "Write a note for the neighbours, with our address, and when the plumber comes."
    assert clauses_of(english) == [
        "Write a note for the neighbours",
        "and when the plumber comes.",
    ]
    assert clauses_of("帮我写自我介绍，讲讲我在哪家公司、用什么编程语言") == [
        "帮我写自我介绍",
        "讲讲我在哪家公司",
        "用什么编程语言",
    ]


def test_a_single_question_has_no_clauses():
    assert clauses_of("Where do we keep the spare keys?") == []
    assert clauses_of("备用钥匙放在哪里？") == []


def test_numbers_are_not_cut():
    assert clauses_of("Book the flight for 1,200 euros at 10:30 tomorrow morning") == []


def test_a_pasted_text_is_not_taken_apart():
    assert clauses_of("The harbour opens early, and the lantern shines late. " * 100) == []
