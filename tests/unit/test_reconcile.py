"""How a new claim relates to a stored one, and how two are merged, in English and Chinese."""

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.relation import Judgement, Strategy
from recollect.writing.reconcile import merge, relate

_PAIRS = Path(__file__).parents[1] / "data" / "reconcile.tsv"
_WRITTEN_BEFORE_THE_RULES = "25d379766d2cca0511bef879902c32fb61a88ce7c59404c39b418363bd8dea0e"
_THEN = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    language: str
    part: str
    relation: str
    case: str
    days: float
    new: str
    old: str
    cosine: float


def _pairs() -> list[_Pair]:
    _, *lines = _PAIRS.read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return [
        _Pair(
            language=language,
            part=part,
            relation=relation,
            case=case,
            days=float(days),
            new=new,
            old=old,
            cosine=float(cosine),
        )
        for language, part, relation, case, days, new, old, cosine in rows
    ]


def _relate(new: str, old: str, *, days: float = 0.0, cosine: float | None = None) -> Judgement:
    return relate(new, old, cosine=cosine, new_at=_THEN + timedelta(days=days), old_at=_THEN)


def _judged(language: str, part: str, *, embedded: bool) -> Counter[tuple[str, str]]:
    """How many pairs of each label were judged how."""
    return Counter(
        (
            pair.relation,
            _relate(
                pair.new, pair.old, days=pair.days, cosine=pair.cosine if embedded else None
            ).relation,
        )
        for pair in _pairs()
        if (pair.language, pair.part) == (language, part)
    )


def _share(counts: Counter[tuple[str, str]], label: str) -> float:
    return counts[label, label] / sum(n for (given, _), n in counts.items() if given == label)


# --- The labelled pairs --------------------------------------------------------------------------


def test_the_labels_are_those_written_before_the_rules():
    lines = _PAIRS.read_text(encoding="utf-8").splitlines()
    labelled = "\n".join(line.rpartition("\t")[0] for line in lines)
    assert hashlib.sha256(labelled.encode()).hexdigest() == _WRITTEN_BEFORE_THE_RULES


def test_the_labelled_set_is_large_and_covers_both_languages():
    sizes = Counter((pair.language, pair.relation) for pair in _pairs())
    for language in ("en", "zh"):
        assert sizes[language, "same"] >= 60
        assert sizes[language, "update"] >= 50
        assert sizes[language, "conflict"] >= 25
        assert sizes[language, "different"] >= 60


@pytest.mark.parametrize("embedded", [True, False])
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("part", "share"), [("seen", 0.95), ("aside", 0.84)])
def test_duplicates_are_recognised(part: str, share: float, language: str, embedded: bool):
    assert _share(_judged(language, part, embedded=embedded), "same") >= share


@pytest.mark.parametrize("embedded", [True, False])
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("part", "share"), [("seen", 0.95), ("aside", 0.85)])
def test_updates_are_recognised(part: str, share: float, language: str, embedded: bool):
    assert _share(_judged(language, part, embedded=embedded), "update") >= share


@pytest.mark.parametrize("embedded", [True, False])
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("part", ["seen", "aside"])
def test_fewer_than_two_in_a_hundred_are_merged_wrongly(part: str, language: str, embedded: bool):
    counts = _judged(language, part, embedded=embedded)
    others = {pair: n for pair, n in counts.items() if pair[0] != "same"}
    wrong = sum(n for (_, judged), n in others.items() if judged == "same")
    assert wrong / sum(others.values()) < 0.02


@pytest.mark.parametrize("case", ["negation", "number", "swapped", "person", "project"])
def test_what_looks_alike_and_is_not_is_never_merged(case: str):
    lookalikes = [pair for pair in _pairs() if pair.case == case and pair.relation != "same"]
    assert len(lookalikes) >= 7
    for pair in lookalikes:
        assert _relate(pair.new, pair.old, days=pair.days, cosine=1.0).relation != "same", pair


# --- Numbers, negation, names --------------------------------------------------------------------

_WITH_A_NUMBER = [
    "The rent is {} euros a month.",
    "The user has {} cats.",
    "Room {} has a projector.",
    "Tickets expire after {} days.",
    "The user ran {} km on Monday.",
    "房租是每月{}元。",
    "用户有{}只猫。",
    "{}号会议室有投影仪。",
    "缓存保留{}分钟。",
    "用户住在长江路{}号。",
]
_DENIED = [
    ("The user likes coffee.", "The user does not like coffee."),
    ("The user likes coffee.", "The user dislikes coffee."),
    ("The user can swim.", "The user can't swim."),
    ("Deploy on Fridays.", "Never deploy on Fridays."),
    ("The flag is enabled.", "The flag is disabled."),
    ("The user drinks tea with sugar.", "The user drinks tea without sugar."),
    ("The user smokes.", "The user quit smoking."),
    ("Tom likes tea but not milk.", "Tom likes milk but not tea."),
    ("用户喜欢咖啡。", "用户不喜欢咖啡。"),
    ("用户喜欢咖啡。", "用户讨厌咖啡。"),
    ("用户会游泳。", "用户不会游泳。"),
    ("周五可以发布。", "周五不要发布。"),
    ("开关启用了。", "开关禁用了。"),
    ("用户抽烟。", "用户戒烟了。"),
    ("用户喜欢茶，不喜欢牛奶。", "用户喜欢牛奶，不喜欢茶。"),
]


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(_WITH_A_NUMBER),
    st.integers(2, 99_999),
    st.integers(2, 99_999),
    st.sampled_from([None, 1.0]),
)
def test_a_changed_number_is_never_a_duplicate(
    sentence: str, one: int, other: int, cosine: float | None
):
    relation = _relate(sentence.format(one), sentence.format(other), cosine=cosine).relation
    assert (relation == "same") == (one == other)


@pytest.mark.parametrize(("says", "denies"), _DENIED)
@pytest.mark.parametrize("cosine", [None, 1.0])
def test_a_denial_is_never_a_duplicate(says: str, denies: str, cosine: float | None):
    assert _relate(says, denies, cosine=cosine).relation == "conflict"
    assert _relate(denies, says, cosine=cosine).relation in ("conflict", "update")
    assert _relate(denies, says, days=30, cosine=cosine).relation == "update"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Alice lives in Paris.", "Bob lives in Paris."),
        ("My sister is a doctor.", "My brother is a doctor."),
        ("Leo lent Mia 20 dollars.", "Mia lent Leo 20 dollars."),
        ("Ann is Bob's manager.", "Bob is Ann's manager."),
        ("王芳住在广州。", "李娜住在广州。"),
        ("我姐姐是医生。", "我哥哥是医生。"),
        ("小凯借给小美500块。", "小美借给小凯500块。"),
        ("周婷是马强的姐姐。", "马强是周婷的姐姐。"),
    ],
)
@pytest.mark.parametrize("days", [0, 30])
def test_two_people_are_not_one(new: str, old: str, days: float):
    assert _relate(new, old, days=days, cosine=1.0).relation == "different"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (
            "用户要求：以后代码都用 Go 写，注释用中文",
            "用户在字节跳动做后端开发，主要写 Go",
        ),
        ("用户要求：以后代码都用 Go 写", "用户平时写 Python"),
        ("User asks: from now on, write code in Rust", "User writes Python at Acme"),
    ],
)
@pytest.mark.parametrize("days", [0, 30])
def test_what_is_asked_for_does_not_take_the_place_of_what_somebody_does(
    new: str, old: str, days: float
):
    assert _relate(new, old, days=days).relation == "different"
    assert _relate(old, new, days=days).relation == "different"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ann is Bob's teacher.", "Ann teaches Bob."),
        ("Raj reports to Monica.", "Monica is Raj's manager."),
        ("Carl is Dana's husband.", "Dana is married to Carl."),
        ("My car is a grey Skoda.", "The user drives a grey Skoda."),
        ("王芳是李明的老师。", "王芳教李明。"),
        ("产品负责人是叶琳。", "叶琳是产品负责人。"),
    ],
)
@pytest.mark.parametrize("cosine", [None, 0.6])
def test_a_role_and_what_its_bearer_does_say_the_same(new: str, old: str, cosine: float | None):
    assert _relate(new, old, cosine=cosine).relation == "same"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Bob teaches Ann.", "Ann is Bob's teacher."),
        ("I report to Ann.", "I am Ann's boss."),
        ("I supervise Okafor.", "My supervisor is Okafor."),
        ("My wife is a doctor.", "The user is married."),
        ("我是小王的老师。", "小王是我的老师。"),
        ("李明教王芳。", "王芳是李明的老师。"),
        ("小李的领导是小王。", "小王的领导是小李。"),
    ],
)
def test_a_role_is_not_exchanged_with_whom_it_serves(new: str, old: str):
    assert _relate(new, old, days=5, cosine=1.0).relation == "different"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Answers must have at least 100 words.", "Answers must have at most 100 words."),
        ("The limit is more than 80 ms.", "The limit is less than 80 ms."),
        ("The user is a head nurse.", "The user is a nurse."),
        ("The key lives in AWS Secrets Manager.", "The key lives with the manager."),
        ("I walk to work.", "I drive to work."),
        ("The nightly build starts at 1 am.", "The nightly build fails at 1 am."),
        ("Ruth is a chemistry teacher.", "Ruth teaches physics."),
        ("回答至少100字。", "回答不超过100字。"),
        ("我现在是护士长。", "用户是护士。"),
        ("用户喜欢牛肉干。", "用户喜欢牛肉。"),
        ("用户讨厌加班费。", "用户讨厌加班。"),
        ("下周一开会。", "上周一开会。"),
        ("走路上班。", "开车上班。"),
        ("会议九点结束。", "会议九点开始。"),
    ],
)
@pytest.mark.parametrize("cosine", [None, 0.95])
def test_a_small_word_that_matters_is_not_passed_over(new: str, old: str, cosine: float | None):
    assert _relate(new, old, days=5, cosine=cosine).relation != "same"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Please keep your replies brief.", "The user wants short replies."),
        ("The gym opens at 6 in the morning.", "The gym opens at 6 am."),
        ("Keep reports under 5 pages.", "Reports should be shorter than 5 pages."),
        ("The stand-up begins at 9.15 am.", "Our stand-up starts at 9:15 every morning."),
        ("I cycle to work.", "The user commutes by bike."),
        ("预算是一万二欧元。", "预算是12000欧元。"),
        ("包裹重两公斤。", "包裹重量为2kg。"),
        ("会议要在15号之前开。", "会议在15号前开。"),
        ("十点以前别给我安排会议。", "用户不希望十点之前安排会议。"),
        ("我骑车上班。", "用户骑自行车通勤。"),
    ],
)
@pytest.mark.parametrize("cosine", [None, 0.6])
def test_other_ways_to_say_it_are_known(new: str, old: str, cosine: float | None):
    assert _relate(new, old, days=5, cosine=cosine).relation == "same"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The API uses OAuth.", "The API is written in Go."),
        ("The user has a dog.", "The user has a cat."),
        ("The gym closes at 10 pm.", "The pool closes at 9 pm."),
        ("这个接口用 OAuth 认证。", "这个接口是用 Go 写的。"),
        ("用户养了一只狗。", "用户养了一只猫。"),
        ("测试库内存是4GB。", "生产库内存是32GB。"),
        ("合同2027年到期。", "合同从2024年开始。"),
    ],
)
def test_two_things_that_can_both_be_are_no_update(new: str, old: str):
    assert _relate(new, old, days=5, cosine=0.9).relation == "different"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I've started drinking coffee again.", "The user does not drink coffee."),
        ("Please write comments in German.", "The user wants comments in English."),
        ("My daughter is in third grade.", "The user's daughter is in second grade."),
        ("Zoe took over the newsletter.", "Ben is in charge of the newsletter."),
        ("Releases now happen every week.", "Releases happen every other week."),
        ("我把本田卖了，买了辆特斯拉。", "用户开本田。"),
        ("公众号现在由小周接手了。", "公众号由小吴负责。"),
        ("报告的截止日期推迟到下周一。", "报告的截止日期是周五。"),
    ],
)
def test_what_takes_the_place_of_something_is_an_update(new: str, old: str):
    assert _relate(new, old, days=5).relation == "update"


# --- Time and confidence -------------------------------------------------------------------------


def test_of_two_values_the_later_one_stands():
    new, old = "The user lives in Munich.", "The user lives in Berlin."
    later = relate(new, old, cosine=None, new_at=_THEN + timedelta(days=3), old_at=_THEN)
    assert (later.relation, later.stands) == ("update", "new")
    backfilled = relate(new, old, cosine=None, new_at=_THEN - timedelta(days=3), old_at=_THEN)
    assert (backfilled.relation, backfilled.stands) == ("update", "old")


def test_of_two_values_told_together_the_surer_one_stands():
    new, old = "会议在周二。", "会议在周三。"
    assert _relate(new, old).relation == "conflict"
    surer = relate(new, old, cosine=None, new_at=_THEN, old_at=_THEN, old_confidence=0.6)
    assert (surer.relation, surer.stands) == ("update", "new")
    less_sure = relate(new, old, cosine=None, new_at=_THEN, old_at=_THEN, new_confidence=0.6)
    assert (less_sure.relation, less_sure.stands) == ("update", "old")


@pytest.mark.parametrize(
    ("new", "old", "corrected"),
    [
        ("The user was born in 1990.", "The user was born in 1992.", "Actually, "),
        ("用户1990年出生。", "用户1992年出生。", "其实"),
    ],
)
def test_what_never_changes_is_not_outdated_by_a_later_claim(new: str, old: str, corrected: str):
    assert _relate(new, old, days=90).relation == "conflict"
    assert _relate(corrected + new, old, days=90).relation == "update"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("We switched from MySQL to PostgreSQL.", "The team uses MySQL."),
        ("I used to live in Rome but now I live in Oslo.", "The user lives in Rome."),
        ("我以前住在成都，现在住在重庆。", "用户住在成都。"),
        ("我们把 MySQL 换成了 PostgreSQL。", "团队用的是 MySQL。"),
    ],
)
def test_a_claim_that_tells_of_a_change_needs_no_later_time(new: str, old: str):
    assert _relate(new, old).relation == "update"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The user likes coffee ice cream.", "The user likes coffee."),
        ("The user likes coffee.", "The user likes coffee ice cream."),
        ("用户喜欢咖啡冰淇淋。", "用户喜欢咖啡。"),
        ("用户喜欢咖啡。", "用户喜欢咖啡冰淇淋。"),
    ],
)
def test_a_longer_name_is_another_thing(new: str, old: str):
    assert _relate(new, old).relation == "different"


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("The user likes tea.", "The user likes tea and coffee."),
        ("The user has a dog.", "The user has a dog called Rex."),
        ("用户喜欢茶。", "用户喜欢茶和咖啡。"),
    ],
)
def test_a_claim_that_says_more_is_an_update(short: str, long: str):
    assert _relate(long, short).relation == "update"


def test_a_claim_in_the_other_language_is_compared_by_what_it_says():
    assert _relate("用户住在 Berlin。", "The user lives in Berlin.").relation == "same"
    assert _relate("用户住在 Berlin。", "The user lives in Munich.").relation == "conflict"


def test_long_texts_are_the_same_only_word_for_word():
    note = "The user likes tea. " * 50
    assert _relate(note, note).relation == "same"
    assert _relate(note + "Now and then.", note).relation != "same"


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_can_be_related(new: str, old: str):
    assert _relate(new, new).relation == "same"
    assert 0 <= _relate(new, old, cosine=0.5).similarity <= 1


# --- Merging -------------------------------------------------------------------------------------


def test_overwriting_keeps_only_the_new_text():
    assert merge("overwrite", "Prefers tea.", "Prefers coffee.") == "Prefers coffee."


@pytest.mark.parametrize(
    ("old", "new", "both"),
    [
        ("Ran the import", "Fixed 3 rows.", "Ran the import. Fixed 3 rows."),
        ("跑了导入", "修了3行。", "跑了导入。修了3行。"),
        ("Done.", "done.", "Done."),
        ("", "New.", "New."),
    ],
)
def test_appending_keeps_both_and_repeats_nothing(old: str, new: str, both: str):
    assert merge("append", old, new) == both


@pytest.mark.parametrize(
    ("old", "new", "summary"),
    [
        (
            "The user lives in Berlin. The rent is 900 euros.",
            "I live in Berlin. The landlord is Mr. Klein.",
            "The user lives in Berlin. The rent is 900 euros. The landlord is Mr. Klein.",
        ),
        (
            "用户住在上海。房租5000元。",
            "我住在上海。房东是王总。",
            "用户住在上海。房租5000元。房东是王总。",
        ),
        (
            "The user has a dog.",
            "The user has a dog in the city.",
            "The user has a dog in the city.",
        ),
        ("v2.5.1 fixes the leak.", "The leak is fixed in v2.5.1.", "v2.5.1 fixes the leak."),
    ],
)
def test_summarising_says_everything_once(old: str, new: str, summary: str):
    assert merge("summarise", old, new) == summary


_STATEMENTS = st.lists(
    st.sampled_from(
        [
            *(f"The {it} costs {n} dollars." for it in ("ring", "book") for n in (5, 6, 12)),
            *(f"{who} lives in {place}." for who in ("Ann", "Bob") for place in ("Oslo", "Rome")),
            *(f"{it}要{n}元。" for it in ("戒指", "书") for n in (5, 6, 12)),
            "Ann does not live in Oslo.",
            "书不要5元。",
        ]
    ),
    max_size=5,
)


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(["append", "summarise"]), _STATEMENTS, _STATEMENTS)
def test_merging_loses_no_number_name_or_statement(
    strategy: Strategy, old: list[str], new: list[str]
):
    merged = merge(strategy, " ".join(dict.fromkeys(old)), " ".join(dict.fromkeys(new)))
    statements = [it for it in re.split(r"(?<=[.。]) *", merged) if it]
    assert set(statements) == {*old, *new}
    assert len(statements) == len(set(statements))


# --- What was found on sentences nobody had seen --------------------------------------------------


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Emma finished her thesis.", "Emma is doing a thesis."),
        ("The audit is done.", "The audit is still in progress."),
        ("The tender has been signed.", "The tender is still under discussion."),
        ("投标已经签了。", "投标还在谈。"),
        ("小唐硕士毕业了。", "小唐在读硕士。"),
        ("系统已经恢复。", "系统还在抢修。"),
    ],
)
def test_what_was_going_on_and_is_done_is_an_update_and_no_duplicate(new: str, old: str):
    for cosine in (None, 1.0):
        assert _relate(new, old, days=5, cosine=cosine).relation == "update"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Olga runs the purchasing department.", "Olga is the head of purchasing."),
        ("From Vault we read the passwords.", "The passwords are read from Vault."),
        ("The lamp costs two hundred and forty euros.", "The lamp costs 240 euros."),
        ("I find loud keyboards irritating.", "The user dislikes loud keyboards."),
        ("I like Greek food best.", "The user's favourite food is Greek."),
        ("The review is on Friday at 3.", "The review is on Friday at 3 pm."),
        ("我2011年结的婚。", "用户2011年结婚。"),
        ("这道墙是老赵修的。", "老赵修了这道墙。"),
        ("她不吃肉。", "她吃素。"),
        ("采购这块由冯磊负责。", "冯磊负责采购。"),
    ],
)
def test_another_way_to_say_it_is_the_same(one: str, other: str):
    assert _relate(one, other, days=2).relation == "same"
    assert _relate(other, one, days=2).relation == "same"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The villa has two bathrooms.", "The villa has two balconies."),
        ("那套房有两个阳台。", "那套房有两个车位。"),
        ("3号登机口关了。", "5号登机口关了。"),
        ("Passwords are read from Vault.", "Passwords are read from Consul and written to Vault."),
    ],
)
def test_the_same_number_of_other_things_is_neither_the_same_nor_a_change(new: str, old: str):
    assert _relate(new, old, days=9, cosine=0.97).relation == "different"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I commute to the office by bicycle.", "The user owns a bicycle."),
        ("我骑车上下班。", "用户有一辆自行车。"),
        ("用户怕蜘蛛。", "用户恐高。"),
    ],
)
def test_what_an_embedder_finds_alike_is_not_the_same_for_it(new: str, old: str):
    assert _relate(new, old, days=3, cosine=0.99).relation == "different"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I gave up the cello.", "The user plays the cello."),
        ("租约允许养宠物。", "租约不允许养宠物。"),
        ("The bill has been paid.", "The bill is outstanding."),
    ],
)
def test_what_is_given_up_allowed_or_paid_by_now_is_an_update(new: str, old: str):
    assert _relate(new, old, days=12).relation == "update"
