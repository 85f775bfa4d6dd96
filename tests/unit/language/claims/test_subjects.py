"""Which statements tell what somebody likes."""

import pytest

from recollect.language.claims.subjects import tells_taste


@pytest.mark.parametrize(
    "text",
    [
        "Ann prefers aisle seats",
        "Ann Lee really likes green tea.",
        "The user doesn't like long meetings",
        "Bob can't stand noise",
        "安妮喜欢靠窗的座位",
        "用户更喜欢深色模式",
        "小林不太喜欢开会",
        "王总偏好简短的回答",
        "Ann 喜欢绿茶",
    ],
)
def test_a_taste_is_somebodys(text: str):
    assert tells_taste(text)


@pytest.mark.parametrize(
    "text",
    [
        "The parser prefers the longest match",
        "This looks like a bug",
        "Ann works in Lisbon",
        "The build favours speed",
        "安妮住在里斯本",
        "服务器的端口是 8080",
        "项目使用 Python 3.11",
    ],
)
def test_what_is_about_a_thing_or_no_liking_is_none(text: str):
    assert not tells_taste(text)
