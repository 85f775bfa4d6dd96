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


@pytest.mark.parametrize(
    ("filler", "said"),
    [
        (
            "Run {n}: the nightly job processed {m} orders and Ann Lee checked batch B-{n}.",
            {
                PointKind.DECISION: "We decided to move the ledger to PostgreSQL",
                PointKind.TODO: "Bob has to send the contract by Friday",
                PointKind.AGREEMENT: "from now on every release needs two reviews",
                PointKind.CORRECTION: "the price increase is 4 percent from May, not 6",
            },
        ),
        (
            "第 {n} 次：夜间任务处理了 {m} 个订单，王芳检查了批次 B-{n}。",
            {
                PointKind.DECISION: "我们决定账务库改用 PostgreSQL",
                PointKind.TODO: "李雷要在周五之前把合同发出去",
                PointKind.AGREEMENT: "以后每次发布都要两人复核",
                PointKind.CORRECTION: "五月起涨价是 4%，不是 6%",
            },
        ),
    ],
    ids=["en", "zh"],
)
def test_no_heading_starves_however_often_something_else_is_repeated(
    filler: str, said: dict[PointKind, str]
):
    texts = [filler.format(n=n, m=1000 + 7 * n) for n in range(150)]
    for place, sentence in enumerate(said.values()):
        texts.insert(30 * (place + 1), sentence)
    tongue = tongue_of(texts)
    messages = [Said(text=text, by="user", position=at) for at, text in enumerate(texts)]
    rarity = Rarity(map(sentence_counts, texts))
    chosen = fitting(points_of(messages, tongue), 300, _words, rarity)
    for kind, sentence in said.items():
        assert [point.text for point in chosen if point.kind is kind] == [sentence]
    facts = [point.text for point in chosen if point.kind is PointKind.FACT]
    assert facts[0].endswith(" × 149")
    assert len(facts) == 2


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (
            "The price increase is 6 percent from May.",
            "Correction: the price increase is 4 percent from May, not 6.",
        ),
        ("预算批了 28 万元。", "更正一下，之前说的预算是 18 万元，不是 28 万元。"),
    ],
    ids=["en", "zh"],
)
def test_what_was_corrected_is_left_out(wrong: str, right: str):
    said = [Said(text=text, by="user", position=at) for at, text in enumerate((wrong, right))]
    points = points_of(said, tongue_of([wrong]))
    told = " ".join(point.text for point in fitting(points, 200, _words, Rarity([])))
    assert ("4 percent" in told) or ("18 万元" in told)
    assert wrong.rstrip(".。") not in told
