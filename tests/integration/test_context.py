"""What goes into a prompt for a message: a block, within its budget, without repetition."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import recollect.sync
from recollect import Memory
from recollect.domain.context import MemoryContext
from recollect.domain.message import Message, TextPart
from recollect.errors import RecollectError
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.fakes import FakeEmbedder

TEA = "Ann prefers green tea over coffee"
CHINESE_TEA = "安妮喜欢喝绿茶，不喜欢咖啡"


def reasons(made: MemoryContext) -> dict[str, str]:
    return {left.id: left.reason.value for left in made.left_out}


def settings(path: Path, **recall: Any) -> Settings:
    return Settings.load({"storage": {"path": path}, "recall": recall})


async def test_the_block_tells_what_bears_on_the_message_in_its_language(memory: Memory):
    english = await memory.remember(TEA, category="user-profile")
    chinese = await memory.remember(CHINESE_TEA, category="preference")
    made = await memory.context("What kind of tea does Ann like?")
    assert made.ids == (english.id,)
    assert made.text.startswith("<memory>\nLong-term memory")
    assert f"<user_preferences>\n    - {TEA} (" in made.text
    assert 0 < made.tokens <= 1_500
    made = await memory.context("安妮喜欢喝什么茶？")
    assert made.ids == (chinese.id,)
    assert "以下是与当前对话可能相关的长期记忆" in made.text
    assert CHINESE_TEA in made.text


async def test_nothing_good_enough_is_no_text_at_all(memory: Memory):
    await memory.remember(TEA)
    for message in ("quantum chromodynamics", "量子色动力学", "", "  \n"):
        made = await memory.context(message)
        assert (made.text, made.tokens, made.ids) == ("", 0, ())


async def test_the_form_and_the_language_can_be_asked_for(memory: Memory):
    await memory.remember(TEA, category="preference")
    made = await memory.context("which tea for Ann", form="flat", language="zh")
    assert made.text.startswith("<memory-context>\n以下是")
    assert f"[preference]\n{TEA} (" in made.text


async def test_form_place_size_and_count_come_from_the_settings(database_path: Path):
    own = settings(
        database_path,
        context_form="flat",
        context_place="last_user",
        max_context_tokens=100,
        prefetch_limit=3,
    )
    async with Memory.open(own) as memory:
        await memory.remember_many([f"Ann drank tea number {number}" for number in range(8)])
        made = await memory.context("the tea that Ann drank")
        assert made.text.startswith("<memory-context>")
        assert made.place == "last_user"
        assert made.tokens <= 100
        assert len(made.ids) + len(made.left_out) == 3


async def test_whole_items_are_dropped_until_the_rest_fits(memory: Memory):
    await memory.remember_many([f"Ann drank tea number {number}" for number in range(5)])
    all_of_it = await memory.context("the tea that Ann drank")
    made = await memory.context("the tea that Ann drank", max_tokens=all_of_it.tokens - 1)
    assert made.tokens < all_of_it.tokens
    assert set(made.ids) | set(reasons(made)) == set(all_of_it.ids)
    assert set(reasons(made).values()) == {"budget"}
    assert (await memory.context("the tea that Ann drank", max_tokens=1)).text == ""


@pytest.mark.parametrize(
    "shown",
    [
        f"As said before: {TEA}.",
        {"role": "user", "content": f"By the way,\n{TEA.upper()}"},
        {"role": "user", "content": [{"type": "text", "text": TEA}]},
        {"role": "user", "content": [{"type": "tool_result", "content": [{"text": TEA}]}]},
        Message(role="user", parts=(TextPart(text=TEA),)),
    ],
    ids=["text", "message", "parts", "tool result", "neutral message"],
)
async def test_what_the_window_holds_is_not_told_again(memory: Memory, shown: Any):
    tea = await memory.remember(TEA)
    milk = await memory.remember("Ann takes her tea with oat milk")
    made = await memory.context("which tea does Ann prefer", window=[shown])
    assert made.ids == (milk.id,)
    assert reasons(made) == {tea.id: "in_window"}


async def test_a_message_that_was_just_stored_is_not_told_back(memory: Memory):
    message = "我的航班是周五晚上从上海出发"
    await memory.observe([{"role": "user", "content": message}], session="s1")
    made = await memory.context(message, session="s1")
    assert made.text == ""
    assert set(reasons(made).values()) == {"in_window"}


async def test_agents_of_one_run_are_not_given_the_same_item_twice(memory: Memory):
    writer, critic = memory.scope(agent="writer"), memory.scope(agent="critic")
    tea = await writer.remember(TEA, category="user-profile")
    first = await writer.context("which tea does Ann prefer", run="r1")
    assert first.ids == (tea.id,)
    second = await critic.context("which tea does Ann prefer", run="r1")
    assert second.text == ""
    assert reasons(second) == {tea.id: "given_to_another_agent"}
    # Its own block is made anew for every request, and outside the run nothing is held back.
    assert (await writer.context("which tea does Ann prefer", run="r1")).text == first.text
    assert (await critic.context("which tea does Ann prefer", run="r2")).ids == (tea.id,)
    assert (await critic.context("which tea does Ann prefer")).ids == (tea.id,)


async def test_agents_that_ask_at_once_share_the_items_out(memory: Memory):
    agents = [memory.scope(agent=f"agent-{number}") for number in range(5)]
    await agents[0].remember(TEA, category="user-profile")
    made = await asyncio.gather(
        *(agent.context("which tea does Ann prefer", run="r1") for agent in agents)
    )
    assert sorted(len(it.ids) for it in made) == [0, 0, 0, 0, 1]


async def test_sessions_tell_agents_without_a_name_apart(memory: Memory):
    await memory.remember(TEA)
    for expected in (1, 1):
        made = await memory.context("which tea does Ann prefer", run="r1", session="s1")
        assert len(made.ids) == expected
    assert not (await memory.context("which tea does Ann prefer", run="r1", session="s2")).ids


async def test_a_run_is_over_when_nothing_is_heard_of_it(memory: Memory, clock: TurnedClock):
    a, b = memory.scope(agent="a"), memory.scope(agent="b")
    await a.remember(TEA, category="user-profile")
    await a.context("which tea does Ann prefer", run="r1")
    clock.turn(minutes=59)
    assert not (await b.context("which tea does Ann prefer", run="r1")).ids
    clock.turn(minutes=61)
    assert (await b.context("which tea does Ann prefer", run="r1")).ids


async def test_filters_and_namespaces_choose_what_may_enter(memory: Memory):
    agent = memory.scope(agent="chef", user="ann")
    profile = await agent.remember(TEA, category="user-profile")
    own = await agent.remember("The green tea is brewed at 80 degrees", tags=["kitchen"])
    message = "green tea, brewed for Ann"
    assert set((await agent.context(message)).ids) == {profile.id, own.id}
    assert (await agent.context(message, tags="kitchen")).ids == (own.id,)
    made = await agent.context(message, namespace="user_profile/ann")
    assert made.ids == (profile.id,)
    assert (await agent.context(message, min_score=1.0)).text == ""


async def test_the_same_items_give_the_same_bytes(memory: Memory, clock: TurnedClock):
    await memory.remember_many([TEA, "Ann drinks her green tea at four"])
    first = await memory.context("green tea Ann")
    clock.turn(minutes=10)
    again = await memory.context("Ann's green tea")
    assert again.text == first.text
    assert again.recall_id != first.recall_id
    assert first.recall_id.startswith("recall_")


async def test_a_very_long_message_is_answered_by_its_beginning_and_its_end(memory: Memory):
    tea = await memory.remember(TEA)
    log = "connection reset by peer\n" * 4_000
    for message in (f"Which tea does Ann prefer?\n{log}", f"{log}\nWhich tea does Ann prefer?"):
        made = await memory.context(message, min_score=0)
        assert tea.id in made.ids


async def test_a_failing_model_is_told_and_words_still_answer(
    database_path: Path, clock: TurnedClock
):
    model = FakeEmbedder()
    async with Memory.open(database_path, clock=clock, embedder=model) as memory:
        await memory.remember(TEA)
        model.is_broken = True
        made = await memory.context("which tea does Ann prefer")
        assert made.ids
        assert "the embedding model failed" in made.degraded[0]


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({"form": "xml"}, "unknown_value"),
        ({"language": "fr"}, "unknown_value"),
        ({"max_tokens": 0}, "out_of_range"),
        ({"max_tokens": 2.5}, "out_of_range"),
        ({"limit": 0}, "bad_limit"),
        ({"min_score": 2}, "out_of_range"),
        ({"window": TEA}, "wrong_type"),
        ({"run": ""}, "empty_text"),
        ({"session": "x" * 101}, "text_too_large"),
        ({"colour": "red"}, "unknown_field"),
        ({"message": None}, "wrong_type"),
        ({"message": "nul\x00"}, "nul_byte"),
    ],
    ids=str,
)
async def test_what_cannot_be_meant_is_refused(memory: Memory, wanted: dict[str, Any], code: str):
    wanted = {"message": "which tea does Ann prefer", **wanted}
    with pytest.raises(RecollectError) as refused:
        await memory.context(**wanted)
    assert refused.value.code == code


def test_the_guide_is_a_text_of_its_own_and_blocking_code_has_both(database_path: Path):
    with recollect.sync.Memory.open(database_path) as memory:
        assert "memory_save" in memory.guide()
        assert "存储原则" in memory.guide("zh")
        memory.remember(TEA)
        assert TEA in memory.context("which tea does Ann prefer").text
        with pytest.raises(RecollectError, match="unknown_value"):
            memory.guide("fr")  # pyright: ignore[reportArgumentType]
