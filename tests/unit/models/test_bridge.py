"""Chinese becomes English word by word; everything else stays as it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.models.chinese import dictionary
from recollect.models.chinese.bridge import GlossBridge
from recollect.models.chinese.dates import spell_dates
from recollect.models.faults import ModelDamaged
from recollect.text.scripts import HAN

_compiled = dictionary.compile_dictionary(dictionary.source())
bridge = GlossBridge(lambda: dictionary.load_dictionary(_compiled))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  two  spaces\nand a line",
        "Where is the café?",
        "テキスト",
        "42 → 43",
        "🙂",
    ],
)
def test_text_without_chinese_passes_unchanged(text: str):
    assert bridge(text) == text


@pytest.mark.parametrize(
    ("chinese", "english"),
    [
        ("我喜欢喝咖啡", "I like drink coffee"),
        ("猫在厨房里", "cat at kitchen in"),
        ("我的生日", "I birthday"),
        ("电脑", "computer"),
        ("北京", "Beijing"),
    ],
)
def test_a_sentence_becomes_its_words(chinese: str, english: str):
    assert bridge(chinese) == english


def test_traditional_and_simplified_say_the_same():
    assert bridge("媽媽的電腦壞了") == bridge("妈妈的电脑坏了")


def test_latin_words_and_numbers_stay_where_they_are():
    assert bridge("我们用PostgreSQL 16的数据库") == "we use PostgreSQL 16 database"


@pytest.mark.parametrize("text", ["我不喜欢辣", "他没去", "没有钱", "不要发给客户"])
def test_negation_is_said(text: str):
    assert re.search(r"\bnot\b", bridge(text))


def test_words_unknown_to_the_dictionary_are_read_by_their_parts():
    assert "flight attendant" in bridge("乘务员大会") or "attendant" in bridge("乘务员大会")
    assert bridge("咖啡机器人") == "coffee robot"


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("彭雨晴的电话", "Peng Yuqing telephone"),
        ("冯浩然来了", r"Feng \w+"),
        ("欧阳娜娜唱歌", "Ouyang Nana sing"),
        ("张伟负责", "Zhang Wei responsible for"),
        ("毛泽东", r"Mao Zedong"),
        ("数据库连接池", r"database link pond"),
    ],
)
def test_the_name_of_a_person_is_spelled(text: str, english: str):
    assert re.match(english, bridge(text))


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("订酒店", "book hotel"),
        ("登录密码", "login password"),
        ("我老公过敏", "I husband allergic"),
        ("外婆的表妹", "maternal grandmother younger female cousin"),
        ("内存不够", "memory not enough"),
    ],
)
def test_everyday_words_are_said_as_people_say_them(text: str, english: str):
    assert bridge(text) == english


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("什么时候开会", "when meeting"),
        ("电费多少", "electricity bill how many"),
        ("几号站台", "which date platform"),
        ("年假", "annual leave"),
    ],
)
def test_words_that_the_segmenter_cuts_are_read_as_one(text: str, english: str):
    assert bridge(text) == english


def test_full_width_letters_are_read():
    assert "AI" in bridge("ＡＩ芯片")


@pytest.mark.parametrize(
    ("chinese", "english"),
    [
        ("2024年04月01日", "April 1 2024"),
        ("2024年4月", "April 2024"),
        ("12月31号", "December 31"),
        ("3月份", "March"),
        ("2024年", "2024"),
        ("3个月", "3个月"),
        ("13月", "13月"),
        ("第112月", "第112月"),
        ("上周三", "last Wednesday"),
        ("下个星期天", "next Sunday"),
        ("礼拜五", "Friday"),
        ("一周一次", "一周一次"),
        ("每周三次", "每周三次"),
        ("每周三开会", "每 Wednesday 开会"),
    ],
)
def test_dates_are_spelled_as_english_writes_them(chinese: str, english: str):
    assert " ".join(spell_dates(chinese).split()) == english


mixed = st.characters(codec="utf-8") | st.sampled_from("我不在北京2024年4月的猫們電腦〇々")


@given(st.text(mixed, max_size=60))
def test_no_chinese_is_left_and_nothing_breaks(text: str):
    assert not re.search(f"[{HAN}]", bridge(text))


def test_the_dictionary_is_loaded_once_and_only_for_chinese():
    loads: list[int] = []

    def load():
        loads.append(1)
        return dictionary.load_dictionary(_compiled)

    fresh = GlossBridge(load)
    fresh("English only")
    assert not loads
    fresh("中文")
    fresh("也是中文")
    assert len(loads) == 1


def test_the_compiled_dictionary_says_its_licence():
    assert b"Attribution-ShareAlike 4.0" in _compiled["LICENCE.txt"]


@pytest.mark.parametrize(
    "broken",
    [
        lambda files: files | {"words.txt": b"\xff"},
        lambda files: files | {"words.txt": "一\n二\0one".encode()},
        lambda files: {"words.txt": files["words.txt"]},
    ],
)
def test_a_damaged_dictionary_is_an_error_of_ours(
    broken: Callable[[dict[str, bytes]], dict[str, bytes]],
):
    with pytest.raises(ModelDamaged):
        dictionary.load_dictionary(broken(_compiled))


def test_a_dictionary_file_that_is_cut_off_is_told(tmp_path: Path):
    source = dictionary.source()
    assert source is not None
    (tmp_path / "cut.gz").write_bytes(source.read_bytes()[:5000])

    with pytest.raises(ModelDamaged, match=r"cut\.gz"):
        dictionary.compile_dictionary(tmp_path / "cut.gz")
