"""What kind of message a question is, judged by rules in English and Chinese."""

from collections import Counter
from dataclasses import astuple
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.recall.intent import Intent, IntentFactors, judge, lean_of
from tests.growth import grows_in_proportion

_DATA = Path(__file__).parents[2] / "data"
_INTENTS: tuple[Intent, ...] = get_args(Intent)


def _labelled(part: str) -> list[tuple[str, str]]:
    """Messages with their intents: `seen` while the rules were written, or kept `aside`."""
    lines = (_DATA / "intents.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return [(text.replace("\\n", "\n"), intent) for text, intent, its in rows if its == part]


@pytest.mark.parametrize(("part", "accuracy"), [("seen", 0.97), ("aside", 0.85)])
def test_most_labelled_messages_are_judged_right(part: str, accuracy: float):
    messages = _labelled(part)
    right = sum(judge(text).intent == intent for text, intent in messages)
    assert right / len(messages) >= accuracy


@pytest.mark.parametrize("part", ["seen", "aside"])
def test_a_special_intent_is_hardly_ever_claimed_wrongly(part: str):
    claimed: Counter[str] = Counter()
    rightly: Counter[str] = Counter()
    for text, intent in _labelled(part):
        judged = judge(text).intent
        claimed[judged] += 1
        rightly[judged] += judged == intent
    assert all(rightly[it] >= 0.98 * claimed[it] for it in _INTENTS if it != "question")


def test_the_labelled_set_covers_both_languages_of_every_intent():
    chinese: Counter[str] = Counter()
    english: Counter[str] = Counter()
    for text, intent in _labelled("seen") + _labelled("aside"):
        (chinese if any("\u4e00" <= it <= "\u9fff" for it in text) else english)[intent] += 1
    assert min(chinese[it] for it in _INTENTS) >= 25
    assert min(english[it] for it in _INTENTS) >= 25


def test_general_questions_of_knowledge_are_plain_questions():
    lines = (_DATA / "unrelated_questions.txt").read_text(encoding="utf-8").splitlines()
    assert {judge(line).intent for line in lines} == {"question"}


@pytest.mark.parametrize(
    "text",
    [
        "When did I last eat at my favourite restaurant?",
        "Who fixed the crash of the server in May?",
        "What did I write to the landlord?",
        "我上次去超市买了什么？",
        "去年是谁修复了登录报错的问题？",
        "我妹妹最喜欢的歌手是谁？",
    ],
)
def test_questions_about_the_past_are_not_bent_by_the_words_in_them(text: str):
    assert judge(text).intent == "question"
    assert lean_of(judge(text).intent) == IntentFactors()


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("<Bart>: Write a poem\n<Assistant>: Here it is.\n<Bart>: Make it shorter", "follow_up"),
        ('<Lisa>: "When is the concert?"\n<Bart>: "I prefer the second row."', "preference"),
        ("User: I prefer tea\nAssistant: Noted.\nUser: Where is the teapot?", "question"),
        ("用户：继续\n助手：好的\n用户：帮我写一首关于雨的诗", "new_task"),
        ("<Bart>: " + "rain " * 2000 + "\n<Lisa>: What about that one?", "follow_up"),
    ],
)  # fmt: skip
def test_a_dialogue_is_judged_by_its_last_message(text: str, intent: Intent):
    assert judge(text).intent == intent


def test_a_colon_after_a_word_makes_no_dialogue():
    assert judge("The login fails with this config:\nuser: admin\nport: 80").intent == "bug_fix"


@pytest.mark.parametrize(
    ("plain", "other"),
    [
        ("The page doesn't work", "The page doesn’t work"),
        ("I PREFER DARK MODE", "i prefer dark mode"),
        ("帮我写一个脚本", "幫我寫一個腳本"),
        ("我喜欢深色主题", "我喜歡深色主題"),
        ("登录页面报错了", "登錄頁面報錯了"),
        ("@reviewer 请看一下", "＠ｒｅｖｉｅｗｅｒ 请看一下"),
        ("那个呢？", "那个呢?"),
    ],
)
def test_spelling_does_not_matter(plain: str, other: str):
    assert judge(plain).intent == judge(other).intent != "question"


def test_the_words_that_decided_are_given():
    assert judge("As I said, the budget is fixed").reason == "as i said"
    assert judge("我喜欢深色主题").reason == "我喜欢"
    assert judge("The sky is grey today").reason == ""


def test_both_ends_of_a_long_message_are_read_and_its_middle_is_not():
    trace = "\nTraceback (most recent call last):\n"
    filler = "lorem ipsum dolor " * 300
    assert judge(trace + filler).intent == "bug_fix"
    assert judge(filler + trace).intent == "bug_fix"
    assert judge(filler + trace + filler).intent == "question"


def test_other_trades_have_agents_too():
    assert judge("Ask the frontend agent to check the header").intent == "cross_agent"
    assert judge("Ask the travel agent to check the dates").intent == "question"
    assert judge("My address is anna@reviewer.org").intent == "question"


@pytest.mark.parametrize(
    "message",
    [
        "Okay, that route looks fine. I would take the coast road on the second day.",
        "Thanks for the list! The blue tent is the one I'd take.",
        "Hello Max. The garden shed is painted now. Which corner comes after it?",
        "These drawings turned out well. Shall we print them?",
        "I'm back. The dentist took longer than I thought.",
        "The walls are dry. What's the next step for the bathroom?",
        "好的，那条路线没问题，第二天走海边。",
        "早上好，上次的装修清单我看完了。",
    ],
)
def test_a_message_that_reacts_or_reports_goes_on_with_what_is_under_way(message: str):
    assert judge(message).intent == "follow_up"


@pytest.mark.parametrize(
    "message",
    [
        "Okay, when did I paint the shed?",
        "Hello! Where does my sister live?",
        "Good restaurants near the harbour?",
        "What will Maria do next after the move?",
        "对于那条路线，我选了哪个酒店？",
        "好的，我姐姐住在哪里？",
        '<Ann>: "How was it?"\n<Bob>: "Great, I bought the tent."',
    ],
)
def test_what_asks_for_a_fact_or_brings_its_dialogue_along_does_not(message: str):
    assert judge(message).intent == "question"


@given(st.text(st.characters(), max_size=300))
def test_any_text_is_judged_and_always_the_same(text: str):
    judged = judge(text)
    assert judged.intent in _INTENTS
    assert judge(text) == judged


_FRAGMENTS = [
    *("please", "i", "want to", "really", "the", "first", "agent", "ask", "as we", "error.", "@b"),
    *("<x>:", "at.x(", '"', "'", ".", "a1_", "我", "的", "请", "让", "帮我", "继续", "那个"),
    *("第一个", "不", "刚", "用", "根据", "为", "把", "，", "。", "月", "\n", "no such"),
]


@given(st.lists(st.sampled_from(_FRAGMENTS), min_size=1, max_size=6), st.sampled_from(["", " "]))
def test_no_repetition_makes_it_slow(fragments: list[str], between: str):
    text = (between.join(fragments) + between) * 2500
    assert grows_in_proportion(judge, text)


@pytest.mark.parametrize("intent", _INTENTS)
def test_a_lean_is_small(intent: Intent):
    lean = lean_of(intent)
    *factors, recent, fresh, preference = astuple(lean)
    assert all(0.8 <= it <= 1.25 for it in [*factors, preference])
    assert 0 <= recent <= 0.2
    assert 0 <= fresh <= 0.3


def test_each_intent_leans_to_the_memories_of_the_seeds_table():
    assert lean_of("new_task").semantic > lean_of("new_task").procedural > 1
    assert lean_of("follow_up").turn > lean_of("follow_up").episodic > 1
    assert lean_of("follow_up").recent > 0
    assert lean_of("follow_up").fresh > 0
    assert lean_of("bug_fix").episodic > 1
    assert lean_of("preference").preference > 1
    assert lean_of("cross_agent").shared > lean_of("cross_agent").procedural > 1
    assert lean_of("question") == IntentFactors()
