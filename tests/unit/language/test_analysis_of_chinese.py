"""Chinese, Japanese, Korean and mixed text: characters, pairs, both scripts, numbers."""

import pytest

from recollect.language.analysis import query_terms, terms


@pytest.mark.parametrize(
    ("asked", "stored"),
    [
        ("登录", "用户反馈说登录页面打不开"),
        ("咖啡", "她每天早上喝一杯咖啡。"),
        ("猫", "我家的猫很黏人"),
        ("開發環境", "开发环境已经搭好"),
        ("图书馆", "明天去圖書館還書"),
        ("裡面", "盒子里面有礼物"),
        ("React", "这是用React写的页面"),
        ("写的页面", "这是用React写的页面"),
        ("ＡＢＣ公司", "ABC公司"),
        ("東京", "東京で会議がある"),
        ("ガイド", "ｶﾞｲﾄﾞブック"),
        ("서울", "서울에서 만나요"),
    ],
)
def test_a_word_is_found_inside_a_sentence(asked: str, stored: str) -> None:
    assert set(query_terms(asked)) <= set(terms(stored))


def test_a_run_gives_its_characters_and_pairs() -> None:
    assert terms("咖啡豆") == ["咖", "啡", "豆", "咖啡", "啡豆"]


def test_a_single_character_stands_for_itself() -> None:
    assert terms("茶") == ["茶"]


def test_pairs_do_not_reach_over_punctuation() -> None:
    assert "啡茶" not in terms("咖啡，茶")


@pytest.mark.parametrize("word", ["什么", "谁", "哪些", "怎么", "多少", "吗", "我们", "是不是"])
def test_question_words_and_pronouns_are_not_searched(word: str) -> None:
    assert set(terms(f"{word}，项目")) == {"项", "目", "项目"}


def test_function_characters_count_inside_other_words() -> None:
    assert "目的" in terms("目的")
    assert "开会" in terms("我们下午开会")


def test_a_text_of_stop_words_alone_keeps_them_on_both_sides() -> None:
    assert terms("是谁") == ["是", "谁", "是谁"]
    assert set(query_terms("谁？")) <= set(terms("是谁"))


@pytest.mark.parametrize("date", ["2024年4月", "2024年04月", "２０２４年４月"])
def test_dates_agree_whatever_their_zeros_and_width(date: str) -> None:
    assert {"2024年", "4月"} <= set(terms(date))
    assert terms(date) == terms("2024年4月")


def test_a_month_is_not_every_text_with_that_digit() -> None:
    assert "4月" not in terms("买了4个苹果，3月")


def test_a_letter_belongs_to_the_character_it_names() -> None:
    assert "b站" in terms("在B站看视频")


def test_chinese_around_latin_words_and_numbers_is_kept() -> None:
    assert {"react", "写", "用", "18.5", "公", "里"} <= set(terms("用React写了18.5公里"))


def test_thai_has_no_spaces_either() -> None:
    assert set(query_terms("ไทย")) <= set(terms("ภาษาไทย"))


def test_vowel_signs_stay_inside_a_word() -> None:
    assert len(terms("हिन्दी में")) == 2
