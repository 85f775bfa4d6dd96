"""What rules find in conversations, in English and Chinese.

A line of `extract.tsv`: language, conversation (`U:` user, `A:` assistant, turns apart by ⏎), what
should be found, and whether the line was `seen` while the rules were written or kept `aside`. What
should be found is `-` or a list apart by semicolons: `category~words in its content`, with several
categories where more than one is right, `event` and `procedure` for those kinds, and a `?` before
what may be found and need not.
"""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.record import Episode, Kind, Procedure, Tier
from recollect.domain.scope import Scope
from recollect.domain.turn import Turn
from recollect.domain.write import Claim
from recollect.language.extraction.conversation import extract
from recollect.language.extraction.grounding import ground
from recollect.language.extraction.message import self_contained
from recollect.language.memory_block import memory_block
from tests.growth import grows_in_proportion

_FILE = Path(__file__).parents[3] / "data" / "extract.tsv"
_HASH = "a2e104f5101243ffd25eeb3511bcd8f589e25a49d76e2631426e0a59af4f79f7"
_NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def _turn(text: str, role: str = "user", speaker: str = "", ordinal: int = 1) -> Turn:
    return Turn(
        id=f"turn_{ordinal}",
        scope=Scope(),
        session="s",
        ordinal=ordinal,
        role=role,
        speaker=speaker,
        content=text,
        at=_NOW,
        task=None,
        recorded_at=_NOW,
        payload={},
    )


def _conversation(*said: str) -> list[Turn]:
    roles = {"U": "user", "A": "assistant"}
    return [_turn(it[3:], roles[it[0]], ordinal=at) for at, it in enumerate(said)]


def _only(*said: str) -> Claim:
    [claim] = extract(_conversation(*said))
    return claim


# --- The labelled set ----------------------------------------------------------------------------


class _Line(NamedTuple):
    turns: list[Turn]
    wanted: list[tuple[frozenset[str], str]]
    optional: frozenset[str]


class _Count(NamedTuple):
    found: int
    missed: int
    wrong: int


def _labelled(language: str, part: str) -> Iterator[_Line]:
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        its_language, said, expected, its_part = line.split("\t")
        if (its_language, its_part) != (language, part):
            continue
        items = [] if expected == "-" else expected.split(" ; ")
        parsed = [(it.lstrip("?").partition("~"), it.startswith("?")) for it in items]
        yield _Line(
            turns=_conversation(*said.replace("\\n", "\n").split(" ⏎ ")),
            wanted=[
                (frozenset(it[0].split("|")), it[2]) for it, optional in parsed if not optional
            ],
            optional=frozenset(
                category for it, optional in parsed if optional for category in it[0].split("|")
            ),
        )


def _names(claim: Claim) -> frozenset[str]:
    kinds = {Kind.EPISODIC: {"event"}, Kind.PROCEDURAL: {"procedure"}, Kind.SEMANTIC: set[str]()}
    return frozenset({claim.category, *kinds[claim.kind]})


def _count(lines: Sequence[_Line]) -> _Count:
    found = missed = wrong = 0
    for line in lines:
        claims = extract(line.turns)
        for categories, words in line.wanted:
            if any(categories & _names(it) and words in it.content.lower() for it in claims):
                found += 1
            else:
                missed += 1
        allowed = line.optional.union(*(categories for categories, _ in line.wanted))
        wrong += sum(not allowed & _names(claim) for claim in claims)
    return _Count(found, missed, wrong)


def test_the_labelled_set_is_the_one_that_was_frozen():
    assert hashlib.sha256(_FILE.read_bytes()).hexdigest() == _HASH


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("part", "precision", "recall"), [("seen", 0.97, 0.97), ("aside", 0.93, 0.92)]
)
def test_what_is_said_is_found_and_little_else(
    language: str, part: str, precision: float, recall: float
):
    count = _count(list(_labelled(language, part)))
    assert count.found / (count.found + count.wrong) >= precision
    assert count.found / (count.found + count.missed) >= recall


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("part", ["seen", "aside"])
def test_questions_suppositions_quotes_and_small_talk_are_no_facts(language: str, part: str):
    empty = [it for it in _labelled(language, part) if not it.wanted]
    wrong = [it for it in empty if _count([it]).wrong]
    assert len(empty) >= 45
    assert len(wrong) <= 0.05 * len(empty)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("part", ["seen", "aside"])
def test_what_rules_find_is_grounded_in_its_span(language: str, part: str):
    claims = 0
    failed = 0
    for line in _labelled(language, part):
        texts = {turn.id: turn.content for turn in line.turns}
        for claim in extract(line.turns):
            span = claim.evidence[0]
            assert span.start is not None
            assert span.end is not None
            claims += 1
            source = texts[span.turn]
            failed += not ground(claim.content, source, (span.start, span.end)).ok
    assert claims >= 80
    assert failed <= 0.03 * claims


# --- What a claim holds --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I prefer tabs.", "User prefers tabs"),
        ("I always fly from Porto", "User always flies from Porto"),
        ("I really don't like long meetings", "User really doesn't like long meetings"),
        ("I'm allergic to nuts and I know it", "User is allergic to nuts and they know it"),
        ("My name is Ada.", "User's name is Ada"),
        ("Hi! I'm Maria.", "User is Maria"),
        ("I’m Maria, I just moved to Dublin.", "User is Maria"),
        ("Remember that my badge is number 7.", "User's badge is number 7"),
        ("I have two cats because I love animals", "User has two cats because they love animals"),
        ("I went to Rome yesterday with my wife.", "User went to Rome yesterday with their wife"),
        ("We decided to use Go.", "We decided to use Go"),
        ("From now on, use metric units.", "User asks: From now on, use metric units"),
        ("Stop adding emojis.", "User's feedback: Stop adding emojis"),
        ("Remind me to call Bo on Monday.", "To do: Remind me to call Bo on Monday"),
        ("OK, let's use SQLite.", "Decision: OK, let's use SQLite"),
        ("我更喜欢喝茶。", "用户更喜欢喝茶"),
        ("我送我女儿上小学。", "用户送自己的女儿上小学"),
        ("记住，我的工号是 7。", "用户的工号是 7"),
        ("以后都用中文回答我。", "用户要求：以后都用中文回答我"),
        ("别再加表情了。", "用户反馈：别再加表情了"),
        ("我们决定用 Go。", "我们决定用 Go"),
        ("下周一提醒我交房租。", "待办：下周一提醒我交房租"),
    ],
)  # fmt: skip
def test_a_claim_is_understood_on_its_own(text: str, content: str):
    assert content in {claim.content for claim in extract([_turn(text)])}


@pytest.mark.parametrize(
    "text",
    [
        "I'm allergic to peanuts, what can I eat?",
        "I'm allergic to peanuts, and my guests come at eight, can you suggest a menu?",
        "我对花生过敏，客人八点到，你能推荐一个菜单吗？",
    ],
)
def test_what_is_told_before_a_question_is_found(text: str):
    assert [it for it in extract([_turn(text)]) if it.category == "user"]


@pytest.mark.parametrize(
    "text",
    [
        "I'm Ok.",
        "I'm done.",
        "If I'm allergic to nuts, what can I eat?",
        "If I live in Porto, which bus do I take?",
        "Even if I'm allergic to nuts, I can try it.",
    ],
)
def test_what_may_be_is_not_said_of_the_user(text: str):
    assert not [it for it in extract([_turn(text)]) if it.category == "user"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I fly from Porto", "User flies from Porto"),
        ("I rely on Ann", "User relies on Ann"),
        ("I apply for grants", "User applies for grants"),
        ("I reply at night", "User replies at night"),
        ("I supply the bakery", "User supplies the bakery"),
        ("I comply with the rules", "User complies with the rules"),
        ("I multiply by ten", "User multiplies by ten"),
        ("I imply nothing", "User implies nothing"),
        ("I ally with Bo", "User allies with Bo"),
        ("I bully nobody", "User bullies nobody"),
        ("I rally the team", "User rallies the team"),
        ("I tally the votes", "User tallies the votes"),
        ("I usually rely on Ann", "User usually relies on Ann"),
        ("I really hate mornings", "User really hates mornings"),
        ("I no longer take aspirin", "User no longer takes aspirin"),
        ("I sometimes drive to work", "User sometimes drives to work"),
        ("I broke my arm", "User broke their arm"),
    ],
)
def test_a_verb_that_ends_as_an_adverb_does_is_a_verb(said: str, told: str):
    assert self_contained(said, "en", "User", is_theirs=True) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("My wife and I are expecting a child.", ["User's wife and they are expecting a child"]),
        ("My brother Karl and I were in Porto.", ["User's brother Karl and they were in Porto"]),
        ("Tom and I are friends.", ["Tom and User are friends"]),
        ("My wife is a nurse and I am a cook.", ["User's wife is a nurse", "User is a cook"]),
        ("My sister died and I am sad.", ["User's sister died", "User is sad"]),
        ("I'm 34 and I live in Porto.", ["User is 34", "User lives in Porto"]),
        ("I need a room on Friday.", ["User needs a room on Friday"]),
        ("I feed two cats.", ["User feeds two cats"]),
        (
            "I used to live in Rome but now I'm in Porto.",
            ["User used to live in Rome but now they are in Porto"],
        ),
        ("下周三下午三点有个牙医预约。", ["下周三下午三点有个牙医预约"]),
        ("每周一上午十点是我们的例会。", ["每周一上午十点是我们的例会"]),
    ],
)
def test_everyday_statements_are_told_in_whole_sentences(said: str, told: list[str]):
    assert [claim.content for claim in extract([_turn(said)])] == told


@pytest.mark.parametrize(
    "said",
    [
        *("That's not what I asked for.", "This is wrong!", "not what I meant"),
        *(
            "You misunderstood me.",
            "不是这个意思。",
            "你理解错了。",
            "你说的不对",
            "这不是我要的！",
        ),
    ],
)
def test_that_something_is_wrong_is_no_feedback_without_what_would_be_right(said: str):
    assert not extract([_turn(said)])
    with_it = f"{said.rstrip('.!。！')}, keep it short"
    assert [claim.category for claim in extract([_turn(with_it)])] == ["feedback"]


def test_a_named_speaker_takes_the_place_of_the_user():
    [claim] = extract([_turn("I love jazz and my dog.", speaker="Melanie")])
    assert claim.content == "Melanie loves jazz and their dog"
    [claim] = extract([_turn("我喜欢爵士乐。", speaker="小林")])
    assert claim.content == "小林喜欢爵士乐"


def test_the_evidence_is_the_clause_that_says_it():
    text = "Hello there! I'm a nurse, and I prefer short answers. Thanks."
    claims = extract([_turn(text)])
    spans = [text[it.evidence[0].start : it.evidence[0].end] for it in claims]
    assert spans == ["I'm a nurse", "I prefer short answers."]


@pytest.mark.parametrize(
    ("text", "tier", "buffer_class"),
    [
        ("Remember that I park on level 3.", Tier.LONG, "preference"),
        ("以后都用英文写。", Tier.LONG, "preference"),
        ("I like oat milk.", Tier.SHORT, "preference"),
        ("我喜欢燕麦奶。", Tier.SHORT, "preference"),
        ("We decided to use Go.", Tier.SHORT, "decision"),
        ("待办：明天检查日志。", Tier.SHORT, "follow-up"),
        ("I'm so tired of this bug.", Tier.SHORT, "sentiment"),
        ("Our deadline is 3 May.", Tier.SHORT, "decision"),
    ],
)
def test_explicit_wishes_are_long_term_and_the_rest_has_a_class(
    text: str, tier: Tier, buffer_class: str
):
    [claim] = extract([_turn(text)])
    assert (claim.tier, claim.buffer_class) == (tier, buffer_class)
    assert claim.explicit == (tier is Tier.LONG)


@pytest.mark.parametrize(
    ("text", "participants", "outcome", "artifacts", "day"),
    [
        (
            "Yesterday I met Laura and Ken, and we signed contract HAL-12.",
            {"User", "Laura", "Ken"},
            "we signed contract HAL-12",
            ("HAL-12",),
            3,
        ),
        (
            "昨天我和刘洋、陈静发布了 2.3.0 版本。",
            {"用户", "刘洋", "陈静"},
            "",
            ("2.3.0",),
            3,
        ),
    ],
)
def test_an_event_knows_who_took_part_what_came_of_it_and_when(
    text: str, participants: set[str], outcome: str, artifacts: tuple[str, ...], day: int
):
    [claim] = extract([_turn(text)])
    assert claim.kind is Kind.EPISODIC
    assert isinstance(claim.details, Episode)
    assert set(claim.details.participants) == participants
    assert claim.details.outcome == outcome
    assert claim.details.artifacts == artifacts
    assert claim.details.timestamp is not None
    assert claim.details.timestamp.date().isoformat() == f"2026-03-{day:02}"


def test_what_an_assistant_did_is_an_outcome_with_its_artifacts():
    claim = _only("A: The report has been saved to /data/reports/q3.csv.")
    assert (claim.kind, claim.category) == (Kind.EPISODIC, "tool-effects")
    assert isinstance(claim.details, Episode)
    assert claim.details.artifacts == ("/data/reports/q3.csv",)
    assert claim.details.outcome


@pytest.mark.parametrize(
    ("text", "trigger", "steps"),
    [
        (
            "Here is how we deploy:\n1. Build the image\n2. Push it\n3. Roll out",
            "how we deploy",
            ("Build the image", "Push it", "Roll out"),
        ),
        (
            "When I ask for a review, check security first, then style.",
            "I ask for a review",
            ("check security first", "style"),
        ),
        ("部署流程：\n1、构建镜像\n2、推送\n3、发布", "部署流程", ("构建镜像", "推送", "发布")),
        ("每次发版都先跑测试，再通知群里。", "发版", ("跑测试", "通知群里")),
    ],
)
def test_a_procedure_has_a_trigger_and_ordered_steps(
    text: str, trigger: str, steps: tuple[str, ...]
):
    [claim] = extract([_turn(text)])
    assert claim.kind is Kind.PROCEDURAL
    assert claim.details == Procedure(trigger=trigger, steps=steps)
    assert claim.title


# --- Across turns --------------------------------------------------------------------------------


def test_what_an_assistant_suggests_counts_when_the_user_agrees():
    suggestion = "A: I suggest storing the sessions in Redis."
    assert extract(_conversation(suggestion)) == ()
    assert extract(_conversation(suggestion, "U: Hmm, let me think about it.")) == ()
    claim = _only(suggestion, "U: Agreed, let's do that.")
    assert claim.content == "User agreed: I suggest storing the sessions in Redis"
    assert [it.turn for it in claim.evidence] == ["turn_0", "turn_1"]


def test_remember_this_keeps_what_was_said_before_it():
    claim = _only("A: 访客密码是 7719。", "U: 记住这个。")
    assert claim.explicit
    assert "7719" in claim.content
    claim = _only("U: The spare key lies under the mat. Please remember that.")
    assert claim.explicit
    assert "spare key" in claim.content


def test_turns_read_before_explain_and_are_not_extracted_again():
    before = _conversation("A: I suggest we use Redis.")
    answer = _turn("Yes, do that.", ordinal=7)
    assert extract([answer]) == ()
    [claim] = extract([answer], before=before)
    assert "Redis" in claim.content


def test_the_same_thing_said_twice_is_one_claim():
    assert len(extract(_conversation("U: I prefer tea.", "U: I prefer tea."))) == 1


@pytest.mark.parametrize("role", ["system", "developer", "tool", "function"])
def test_prompts_and_tool_results_are_material(role: str):
    assert extract([_turn("I prefer tea. 记住我叫小周。", role)]) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Don't remember this, but I prefer tea.",
        "不用记住，我叫小周。",
        "I only drink gold. Just kidding!",
        "Translate this into Dutch:\nI prefer tea.\nMy name is Bo.",
        "下面是我的作文：\n我叫小明。我喜欢猫。",
        "> I prefer tea\n> My name is Bo",
        "```\nI prefer tea\n```",
    ],
)
def test_what_is_withheld_taken_back_or_handed_over_is_not_kept(text: str):
    assert extract([_turn(text)]) == ()


@pytest.mark.parametrize("form", ["structured", "flat"])
def test_text_that_came_out_of_memory_is_never_extracted_again(form: str):
    block = memory_block("flat" if form == "flat" else "structured", "en", "- I prefer tea")
    text = f"{block}\nI live in Oslo."
    [claim] = extract([_turn(text)])
    span = claim.evidence[0]
    assert text[span.start : span.end] == "I live in Oslo."
    assert extract([_turn(block)]) == ()


def test_only_an_assistants_proposal_can_be_agreed_to():
    assert extract(_conversation("U: Should we use Redis?", "U: Yes.")) == ()


def test_what_an_assistant_says_of_itself_is_not_said_of_the_user():
    claim = _only("A: I keep the spare key in drawer 4.", "U: Remember this.")
    assert claim.content == "Assistant keeps the spare key in drawer 4"


def test_outcomes_apart_from_each_other_stay_apart():
    text = "I've fixed the login page.\n\n```\nsecret = 1\n```\n\nI've updated the changelog."
    claims = extract([_turn(text, "assistant")])
    assert [it.content for it in claims] == [
        "I've fixed the login page.",
        "I've updated the changelog.",
    ]


def test_both_ends_of_a_long_message_are_read_and_its_middle_is_material():
    filler = "Lorem ipsum dolor sit amet. " * 1000
    wish = "I prefer tea. "
    [claim] = extract([_turn(filler + wish)])
    assert claim.evidence[0].start == len(filler)
    assert extract([_turn(filler + wish + filler)]) == ()


# --- Any text ------------------------------------------------------------------------------------

_FRAGMENTS = [
    *("i", "we", "my", "prefer", "please", "remember", "that", "always", "if", "when", "the", "is"),
    *("our", "first", "then", "saved", "a/b.c", "https://", "1.", "2.", "\n", '"', "“", "”", "```"),
    *("<memory>", "</memory>", "<memory-context>", "我", "我们", "每次", "先", "再", "以后", "的"),
    *("了", "说", "，", "。", "：", "；", ",", ";", ":", "?", "not", "very", "select", "from", "3"),
]
_ANYTHING = st.text(st.characters(), max_size=200) | st.lists(st.sampled_from(_FRAGMENTS)).map(
    " ".join
)


@pytest.mark.parametrize(
    ("stated", "heard", "kept", "fact"),
    [
        ("The gate code is 4410.", "Nice, got it!", "Remember this.", "4410"),
        ("大门密码是 4410。", "好的，明白了。", "记住这个。", "4410"),
        ("My sister's flight lands at 18:40.", "Thanks for telling me.", "Remember that.", "18:40"),
    ],
)
def test_remember_this_means_what_was_said_before_a_mere_got_it(
    stated: str, heard: str, kept: str, fact: str
):
    turns = [_turn(stated, ordinal=0), _turn(heard, "assistant", ordinal=1), _turn(kept, ordinal=2)]

    explicit = [claim for claim in extract(turns) if claim.explicit]

    assert explicit
    assert all(fact in claim.content for claim in explicit)


@given(_ANYTHING, _ANYTHING)
def test_any_text_is_read_and_every_span_lies_in_it(proposal: str, text: str):
    turns = [_turn(proposal, "assistant", ordinal=0), _turn(text, ordinal=1)]
    texts = {turn.id: turn.content for turn in turns}
    for claim in extract(turns):
        assert claim.content.strip()
        assert 0 < claim.confidence <= 1
        for it in claim.evidence:
            assert it.start is not None
            assert it.end is not None
            assert 0 <= it.start < it.end <= len(texts[it.turn])


@settings(deadline=None, max_examples=30)
@given(st.lists(st.sampled_from(_FRAGMENTS), min_size=1, max_size=6), st.sampled_from(["", " "]))
def test_no_repetition_makes_it_slow(fragments: list[str], between: str):
    text = ((between.join(fragments) + between) * 4000)[:8000]
    assert grows_in_proportion(lambda part: extract([_turn(part)]), text)


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("It's final: the fair will be in Basel.", "decision"),
        ("缓存我们定下来用 Redis。", "decision"),
        ("最终确定：年会在厦门开。", "decision"),
        ("比了三家，最后选了报价低的那家。", "decision"),
    ],
)
def test_a_decision_is_found_however_it_is_put(said: str, category: str):
    assert _only(f"U: {said}").category == category


def test_a_sentence_that_shall_only_be_an_example_is_nobodys_taste():
    assert extract(_conversation("U: 造三个例句，比如“我喜欢茶”。")) == ()
