"""Whether words support a claim, in English and Chinese.

A line of `ground.tsv`: language, claim, source, `ok` or `bad`, and whether the line was `seen`
while the rules were written or kept `aside`.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.language.claims.moods import plain, stance
from recollect.language.extraction.grounding import ground

_FILE = Path(__file__).parents[3] / "data" / "ground.tsv"
_HASH = "c40424f80e0b679a0e06c556d524efe25771babf9532934d26f0366b80529c43"


def _labelled(language: str, part: str) -> Iterator[tuple[str, str, bool]]:
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        its_language, claim, source, label, its_part = line.split("\t")
        if (its_language, its_part) == (language, part):
            yield claim, source, label == "ok"


def _reason(claim: str, source: str) -> str:
    return ground(claim, source, (0, len(source))).reason


def test_the_labelled_set_is_the_one_that_was_frozen():
    assert hashlib.sha256(_FILE.read_bytes()).hexdigest() == _HASH


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("part", "accepted", "refused"), [("seen", 0.97, 0.97), ("aside", 0.88, 0.95)]
)
def test_supported_claims_pass_and_others_do_not(
    language: str, part: str, accepted: float, refused: float
):
    judged = [
        (ok, ground(claim, source, (0, len(source))).ok, source)
        for claim, source, ok in _labelled(language, part)
    ]
    passed = [it for ok, it, _ in judged if ok]
    # What only asks or supposes, the reader refuses.
    stopped = [not it or stance(plain(source)) != "told" for ok, it, source in judged if not ok]
    assert sum(passed) >= accepted * len(passed)
    assert sum(stopped) >= refused * len(stopped)


@pytest.mark.parametrize(
    ("claim", "source", "reason"),
    [
        ("User has 4 cats", "I have 3 cats.", "numbers"),
        ("The limit is 200 seconds", "The limit is 200 ms.", "numbers"),
        ("用户养了三只猫", "我养了两只猫。", "numbers"),
        ("User lives in Lisbon", "I live in Porto.", "names"),
        ("手册位于 docs/b.md", "手册放在 docs/a.md 里。", "names"),
        ("User owns a boat", "I took the bus.", "terms"),
        ("用户会开飞机", "我今天坐公交。", "terms"),
        ("User likes cilantro", "I don't like cilantro.", "polarity"),
        ("用户吃猪肉", "我不吃猪肉。", "polarity"),
        ("User works at Siemens", "My brother works at Siemens.", "subject"),
        ("用户讨厌开会", "我老板讨厌开会。", "subject"),
    ],
)
def test_the_reason_tells_what_is_not_supported(claim: str, source: str, reason: str):
    assert _reason(claim, source) == reason


def test_what_is_missing_is_named():
    source = "We use PostgreSQL in production."
    assert ground("The project uses MySQL", source, (0, len(source))).missing == ("mysql",)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("User has three children", "We have 3 kids."),
        ("The budget is 300000", "这个项目的预算是三十万 budget."),
        ("预算为 30 万", "预算是三十万。"),
        ("预算为12000欧元", "预算是一万二欧元。"),
        ("User is a doctor", "I work as a doctor in Leeds."),
        ("用户是医生", "我在昆明当医生。"),
        ("User's son is allergic to nuts", "My son has a nut allergy."),
        ("Ines leads the mobile team", "The mobile team is led by Ines."),
        ("The budget is 40000 dollars", "The budget is 40,000 dollars."),
        ("User prefers 深色主题", "我偏好深色主题。"),
        ("User dislikes long meetings", "I'm not a fan of long meetings."),
        ("用户避免喝酒", "我从来不喝酒。"),
        ("User asked how to deploy the service", "How do I deploy the service?"),
    ],
)
def test_other_words_for_the_same_thing_pass(claim: str, source: str):
    assert _reason(claim, source) == ""


def test_only_the_span_counts():
    source = "I live in Porto. My flat has 3 rooms."
    assert ground("User lives in Porto", source, (0, 16)).ok
    assert not ground("User lives in Porto", source, (17, len(source))).ok


@pytest.mark.parametrize("span", [(0, 0), (5, 2), (900, 999), (-9, -1)])
def test_an_empty_span_supports_nothing(span: tuple[int, int]):
    assert ground("User likes tea", "I like tea.", span).reason == "empty"


@given(st.text(st.characters(), max_size=120), st.text(st.characters(), max_size=120))
def test_any_text_is_judged_and_always_the_same(claim: str, source: str):
    judged = ground(claim, source, (0, len(source)))
    assert judged == ground(claim, source, (0, len(source)))
    assert judged.ok == (not judged.reason)
