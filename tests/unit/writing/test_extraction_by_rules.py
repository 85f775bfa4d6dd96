"""What is found without a model: wishes, procedures and effects, in both languages."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.record import Episode, Kind, Procedure, Tier
from recollect.domain.scope import Scope
from recollect.domain.turn import Turn
from recollect.domain.write import Claim
from recollect.language.extraction.message import self_contained
from recollect.language.memory_block import memory_block
from recollect.writing.plain_reader import PlainReader
from recollect.writing.reader_extraction import ReaderExtractor
from tests.growth import grows_in_proportion

_NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def extract(turns: Sequence[Turn], *, before: Sequence[Turn] = ()) -> Sequence[Claim]:
    return asyncio.run(ReaderExtractor(PlainReader()).extract(turns, before=before))


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


# --- What a claim holds --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I prefer tabs.", "User prefers tabs"),
        ("I always fly from Porto", "User always flies from Porto"),
        ("Remember that my badge is number 7.", "User's badge is number 7"),
        ("Call me Ada.", "Call User Ada"),
        ("From now on, use metric units.", "User asks: From now on, use metric units"),
        ("记住，我的工号是 7。", "用户的工号是 7"),
        ("我习惯早起。", "用户习惯早起"),
        ("以后都用中文回答我。", "用户要求：以后都用中文回答我"),
    ],
)  # fmt: skip
def test_a_claim_is_understood_on_its_own(text: str, content: str):
    assert content in {claim.content for claim in extract([_turn(text)])}


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
        ("I tore my meniscus", "User tore their meniscus"),
        ("I threw the old one out", "User threw the old one out"),
        ("I learnt Go at a bank", "User learnt Go at a bank"),
    ],
)
def test_a_verb_that_ends_as_an_adverb_does_is_a_verb(said: str, told: str):
    assert self_contained(said, "en", "User", is_theirs=True) == told


@pytest.mark.parametrize(
    "text",
    ["Remember that I park on level 3.", "以后都用英文写。", "默认用人民币", "我偏好靠窗的座位"],
)
def test_what_is_wished_is_long_term(text: str):
    [claim] = extract([_turn(text)])
    assert claim.explicit
    assert claim.tier is Tier.LONG


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
        ("每次发版都先跑测试，再通知群里。", "发版", ("跑测试", "通知群里")),
        ("部署流程：\n1、构建镜像\n2、推送\n3、发布", "部署流程", ("构建镜像", "推送", "发布")),
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


def test_remember_this_keeps_what_was_said_before_it():
    claim = _only("A: 访客密码是 7719。", "U: 记住这个。")
    assert claim.explicit
    assert "7719" in claim.content
    claim = _only("U: The spare key lies under the mat. Please remember that.")
    assert claim.explicit
    assert "spare key" in claim.content


def test_turns_read_before_explain_and_are_not_extracted_again():
    before = _conversation("A: The guest password is 7719.")
    answer = _turn("Remember this.", ordinal=7)
    assert extract([answer]) == ()
    [claim] = extract([answer], before=before)
    assert "7719" in claim.content


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
        "I always drink gold. Just kidding!",
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
    text = f"{block}\nI always go to Oslo."
    [claim] = extract([_turn(text)])
    span = claim.evidence[0]
    assert text[span.start : span.end] == "I always go to Oslo."
    assert extract([_turn(block)]) == ()


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


def test_a_sentence_that_shall_only_be_an_example_is_nobodys_taste():
    assert extract(_conversation("U: 造三个例句，比如“我一直喝茶”。")) == ()
