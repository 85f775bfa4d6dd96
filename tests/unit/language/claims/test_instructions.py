"""Which standing instructions exclude each other; whatever could be misread does not count."""

import pytest

from recollect.language.claims.instructions import contradicts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("always answer in English", "以后都用中文回答我"),
        ("User asks: always answer in English", "用户要求：以后都用中文回答我"),
        ("From now on, reply to me in German", "Don't answer in German"),
        ("Keep your answers short", "explain things in more detail from now on"),
        ("回答要简短", "以后回答详细一点"),
        ("never use bullet points", "always use bullet points"),
        ("别再加表情了", "以后可以加表情"),
    ],
)
def test_who_follows_one_does_not_follow_the_other(one: str, other: str):
    assert contradicts(one, other)
    assert contradicts(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("always answer in English", "always answer in English"),
        ("always answer in English", "always answer briefly"),
        ("always answer in English", "please write my email drafts in German from now on"),
        ("always answer in English", "Don't answer in German"),
        ("always answer in English", "I speak German"),
        ("always give me long answers", "keep your answers short when I write in the evening"),
        ("以后都用中文回答我", "用户说德语"),
        ("I drink coffee", "I don't drink coffee"),
        ("I always fly", "I never fly"),
    ],
)
def test_both_may_hold(one: str, other: str):
    assert not contradicts(one, other)
    assert not contradicts(other, one)
