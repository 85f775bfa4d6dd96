"""What a text is mostly written in."""

import pytest

from recollect.language.characters import language, script_share


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did we decide about the login page?", "en"),
        ("Flask", "en"),
        ("登录页面打不开", "zh"),
        ("登入頁面打不開", "zh"),
        ("用React写的", "zh"),
        ("我们用 PostgreSQL 和 Redis 部署", "zh"),
        ("The word 猫 means cat in Chinese and in Japanese", "en"),
        ("これはペンです", "other"),
        ("서울에서 만나요", "other"),
        ("Привет, как дела?", "other"),
        ("2024-04-02", "other"),
        ("2024-04-02 🙂", "other"),
        ("", "other"),
    ],
)
def test_the_language_of_a_text(text: str, expected: str) -> None:
    assert language(text) == expected


def test_the_share_of_cjk_letters() -> None:
    assert script_share("登录页面") == 1
    assert script_share("login page") == 0
    assert script_share("用React写") == pytest.approx(2 / 7)
    assert script_share("123 …") == 0


def test_a_long_text_is_judged_by_its_beginning() -> None:
    assert language("登录" * 2000 + "login " * 100_000) == "zh"
