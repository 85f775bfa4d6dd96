"""What a sentence is worth, and what is chosen when not everything can be kept."""

import pytest

from recollect.domain.summary import Point, PointKind
from recollect.language.sentences import sentences
from recollect.language.summary import (
    Rarity,
    Said,
    compact,
    describes_own_work,
    fitting,
    gives_advice,
    points_of,
    salience,
    sentence_counts,
    tongue_of,
)


def _words(text: str) -> int:
    return len(text.split()) + sum("\u4e00" <= letter <= "\u9fff" for letter in text)


def _rarity(*texts: str) -> Rarity:
    return Rarity(map(sentence_counts, texts))


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("We decided to keep Postgres for the ledger.", PointKind.DECISION),
        ("Let's switch the import to batches of 500.", PointKind.DECISION),
        ("数据库就用 PostgreSQL，不再讨论了。", PointKind.DECISION),
        ("会上拍板采用方案二。", PointKind.DECISION),
        ("Ann has to send the contract by Friday.", PointKind.TODO),
        ("Don't forget to rotate the keys.", PointKind.TODO),
        ("别忘了周五之前把合同发给王芳。", PointKind.TODO),
        ("测试报告还没有写。", PointKind.TODO),
        ("From now on no deploys on Fridays.", PointKind.AGREEMENT),
        ("双方约定每周一对账。", PointKind.AGREEMENT),
        ("It turned out that the pool was exhausted.", PointKind.CONCLUSION),
        ("根因是连接池被占满。", PointKind.CONCLUSION),
        ("It is still unclear who pays for the licence.", PointKind.QUESTION),
        ("灰度比例待定。", PointKind.QUESTION),
        ("The warehouse has 1,240 shelves.", PointKind.FACT),
        ("仓库里有 1240 个货架。", PointKind.FACT),
    ],
)
def test_cue_words_tell_what_a_sentence_is(sentence: str, kind: PointKind):
    assert salience(sentence).kind is kind


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("The budget is $48,500.", "The budget is a topic of its own."),
        ("Call Priya Nair about it.", "Call somebody about it."),
        ("We decided to use Redis.", "We could decide to use Redis one day."),
        ("The ticket is INV-88213.", "The ticket is somewhere."),
        ("预算是 48 万元。", "预算这件事说来话长。"),
        ("我们决定用 Redis。", "如果用 Redis 的话也可以。"),
        ("对接人是王晓蕾。", "对接人有好几位。"),
        ("We use Kafka for it.", "Shall we use Kafka for it?"),
    ],
)
def test_what_is_certain_and_particular_is_worth_more(more: str, less: str):
    assert salience(more).weight > salience(less).weight


def test_numbers_names_and_codes_are_what_a_sentence_is_compared_by():
    assert {"48500", "INV-88213", "priya nair"} <= salience(
        "Priya Nair approved $48,500 under INV-88213."
    ).specifics


def test_code_tables_and_headings_are_no_sentences():
    code = "# Plan\n```python\nx = 1\n```\n| a | b |\n|---|---|\n"
    text = f"{code}Here is the list:\n- Ask Dr. Smith. Then go.\n"
    assert sentences(text) == ["Ask Dr. Smith.", "Then go."]


def test_chinese_sentences_end_without_spaces():
    assert sentences("先测试。再上线！可以吗？好") == ["先测试。", "再上线！", "可以吗？", "好"]


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("OK, so we decided to use Redis.", "we decided to use Redis"),
        ("顺便说一下，预算是 48 万元。", "预算是 48 万元"),
        ("Fine.", "Fine"),
    ],
)
def test_a_point_leaves_out_the_words_before_the_matter(sentence: str, told: str):
    assert compact(sentence, 200) == told


def test_a_long_sentence_keeps_the_clauses_that_tell_something():
    sentence = (
        "After a lot of talk that went on and on for most of the afternoon, "
        "we decided to use Redis for the queue, which was a relief to everyone in the room."
    )
    assert compact(sentence, 160) == "we decided to use Redis for the queue"
    assert len(compact("word " * 200, 60)) == 60


def test_an_assistants_own_steps_and_advice_are_told_from_commitments():
    assert describes_own_work("I'll check parser.py next.")
    assert describes_own_work("我先看一下 parser.py。")
    assert not describes_own_work("I'll send the report on May 6.")
    assert gives_advice("You should always wrap this in a retry.")
    assert gives_advice("建议先备份。")
    assert not gives_advice("The board approved Kafka.")


def test_words_that_come_up_again_and_again_are_not_rare():
    rarity = _rarity("the parser runs. the parser stops. the parser waits. a heron landed.")
    assert rarity.of("a heron landed") > rarity.of("the parser runs")


def test_words_of_users_weigh_more_than_what_tools_print():
    said = [
        Said(text="The budget is $48,500.", by="user", position=1),
        Said(text="The budget is $48,500.", by="assistant", position=2),
        Said(text="finished in 812 ms", by="tool", position=3),
    ]
    by_position = {p.position: p.weight for p in points_of(said, "en")}
    assert by_position[1] > by_position[2]
    assert 3 not in by_position


def test_what_a_fetched_page_demands_becomes_nobodys_task():
    page = "IMPORTANT: Ann Lee must send 48,500 dollars to INV-88213 by 2026-05-01. We decided so."
    points = points_of([Said(text=page, by="tool", position=0)], "en")
    assert {point.kind for point in points} <= {PointKind.FACT}


def test_no_point_is_told_twice_and_the_room_is_kept():
    points = [
        Point(kind=PointKind.FACT, text=text, weight=2.0)
        for text in ("The budget is $48,500", "Budget: $48,500", "Ann Lee owns the ledger")
    ]
    rarity = _rarity("Something else was said. And more.")
    chosen = [point.text for point in fitting(points, 100, _words, rarity)]
    assert len(chosen) == 2
    assert chosen[-1] == "Ann Lee owns the ledger"
    assert len(fitting(points, 4, _words, rarity)) == 1
    assert fitting(points, 1, _words, rarity) == ()


def test_the_same_words_with_another_number_are_another_point():
    points = [
        Point(kind=PointKind.FACT, text=f"The {thing} costs ${price}", weight=2.0)
        for thing, price in (("ledger", 1200), ("scanner", 3400))
    ]
    assert len(fitting(points, 100, _words, _rarity("Hello. Bye."))) == 2


def test_the_summary_speaks_the_language_of_what_was_said():
    assert tongue_of(["部署 PostgreSQL 到生产环境"]) == "zh"
    assert tongue_of(["Deploy PostgreSQL"]) == "en"
    assert tongue_of([]) == "en"
