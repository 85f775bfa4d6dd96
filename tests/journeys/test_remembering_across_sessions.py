"""A person tells an agent things in two languages and finds them again after a restart."""

from datetime import UTC, datetime
from pathlib import Path

from recollect import Kind, Memory


async def test_what_was_remembered_yesterday_is_recalled_today(database_path: Path):
    async with Memory.open(database_path) as memory:
        saved = await memory.remember("The deploy key for staging lives in the blue vault")
        await memory.remember("用户偏好使用 TypeScript 和 React 技术栈", category="preference")

    async with Memory.open(database_path) as memory:
        english = await memory.recall("where is the staging deploy key?")
        chinese = await memory.recall("喜欢用什么技术栈")

    assert english[0].id == saved.id
    assert english[0].content == "The deploy key for staging lives in the blue vault"
    assert chinese[0].content.startswith("用户偏好")
    assert all(0 <= hit.score <= 1 for hit in (*english, *chinese))


async def test_a_save_can_be_recalled_at_once(memory: Memory):
    for number in range(20):
        saved = await memory.remember(f"Locker {number} belongs to guest number {number}")
        found = await memory.recall(f"locker {number} guest")
        assert saved.id in [hit.id for hit in found]


async def test_each_kind_keeps_its_own_fields(memory: Memory):
    event = await memory.remember(
        "用户报告了登录页面的 CSS 布局问题",
        kind="episodic",
        participants=["user_abc", "agent_frontend"],
        outcome="修复了 flex 布局导致的按钮错位",
        artifacts=["fix_commit_sha"],
        timestamp=datetime(2026, 2, 17, 14, 30, tzinfo=UTC),
        importance=0.7,
    )
    review = await memory.remember(
        "How this user wants code reviewed",
        kind=Kind.PROCEDURAL,
        name="code review",
        trigger="当用户请求代码审查时",
        steps=["check naming", "look for SQL injection", "suggest, do not edit"],
        success_rate=0.92,
    )

    assert await memory.get(event.id) == event
    assert await memory.get(review.id) == review
    assert review.name == "code review"
    assert event.id.startswith("ep_")
    assert review.id.startswith("proc_")
    assert (await memory.recall("按钮错位"))[0].id == event.id
    assert (await memory.recall("SQL injection"))[0].id == review.id


async def test_a_conversation_is_kept_in_order_and_answers(memory: Memory):
    said = [
        {"role": "system", "content": "You are a travel agent."},
        {"role": "user", "content": "Book me a table at Nonna's on Friday", "name": "Ann"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "name": "book"}]},
        {"role": "tool", "content": "confirmed: table 7", "tool_call_id": "c1"},
        {"role": "assistant", "content": [{"type": "text", "text": "Table 7 is yours."}]},
    ]
    await memory.observe(said[0], session="dinner")
    await memory.observe(said[1:2], session="dinner")
    await memory.observe(said[2:], session="dinner")

    kept = await memory.turns(session="dinner")
    assert [turn.ordinal for turn in kept] == [1, 2, 3, 4, 5]
    assert [turn.role for turn in kept] == [message["role"] for message in said]
    assert kept.items[2].payload["tool_calls"] == [{"id": "c1", "name": "book"}]
    assert kept.items[4].content == "Table 7 is yours."

    hit = (await memory.recall("which table did Ann get", min_score=0))[0]
    assert hit.turn is not None
    assert hit.turn.session == "dinner"


async def test_the_past_can_be_filled_in(memory: Memory):
    long_ago = datetime(2019, 5, 4, 12, 0, tzinfo=UTC)
    (turn,) = await memory.observe(
        [{"role": "user", "content": "We met Carla in Lisbon", "at": long_ago}], session="old"
    )
    record = await memory.remember("Carla is a ceramist", created_at=long_ago)

    assert turn.at == long_ago
    assert record.created_at == record.first_observed == long_ago
    assert record.recorded_at > long_ago
    before = datetime(2020, 1, 1, tzinfo=UTC)
    assert len(await memory.recall("Carla", until=before)) == 2
    assert len(await memory.recall("Carla", since=before)) == 0
