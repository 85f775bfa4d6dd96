"""An agent works through sessions: its window stays small, and nothing that left it is lost."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.context.placeholder import find_placeholders
from recollect.context.session import Session
from recollect.domain.message import Message
from recollect.domain.notes import Decision, ScratchpadUpdate
from recollect.language.token_estimate import EstimatedTokens
from recollect.models.exact_tokens import ExactTokens
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.conversations import Log, long_log
from tests.database_servers import storage_of
from tests.integration.archive_texts import ANSWERS, manual
from tests.provider_rules import (
    openai_rule_breaks,
)
from tests.services import services

_EXACT = ExactTokens()
_LANGUAGES = ("en", "zh")


def _tokens(sent: list[dict[str, Any]], counter: ExactTokens | EstimatedTokens = _EXACT) -> int:
    return sum(counter.count(json.dumps(message, ensure_ascii=False)) for message in sent)


def _text(sent: list[dict[str, Any]]) -> str:
    return json.dumps(sent, ensure_ascii=False)


async def _live_through(session: Session, log: Log) -> None:
    """Say everything as an agent does: a window before every answer."""
    for message in log.messages:
        if message.role == "assistant":
            sent = await session.prepare()
            assert openai_rule_breaks(sent) == []
            assert session.usage.window_tokens <= session.usage.budget_tokens
            assert len(sent) <= 50
        await session.observe(message)


@pytest.mark.parametrize("language", _LANGUAGES)
async def test_a_long_session_stays_within_its_budget_and_loses_nothing(
    memory: Memory, language: str
):
    log = long_log(5, language, "held", length=160)
    session = memory.session("day", context_tokens=16_000)
    await _live_through(session, log)
    await session.settle()
    sent = await session.prepare(format="neutral")
    usage = session.usage
    assert usage.level >= 2
    assert usage.window_tokens <= usage.budget_tokens == 11_200
    assert log.kept_in(sent) >= 0.8

    # Summaries bring back, word for word, all that they stand for.
    expanded = [turn for it in session.summaries for turn in await session.expand(it)]
    covered = len(expanded)
    assert 100 <= covered < len(log.messages)
    assert [it.content for it in expanded] == [it.text for it in log.messages[:covered]]
    assert [it.text for it in sent[-5:]] == [it.text for it in log.messages[-5:]]

    # And so does recall.
    for one in log.planted[::4]:
        found = await memory.recall(" ".join(one.keys), limit=10, min_score=0)
        assert any(one.is_in(hit.content) for hit in found), one


async def test_a_session_goes_on_where_a_restart_cut_it_off(
    database_path: Path, clock: TurnedClock
):
    log = long_log(6, "zh", "held", length=120)
    async with Memory.open(database_path, clock=clock) as memory:
        session = memory.session("monday", context_tokens=12_000)
        await _live_through(session, log)
        await session.settle()
        await session.scratchpad.update(
            ScratchpadUpdate(current_goal="合并分支", decisions=(Decision(what="用 Redis"),))
        )
        session.notes.cache_toc("angui_2024", {"title": "规程"})
        before = await session.prepare(with_scratchpad=True)
        summaries = session.summaries
        assert summaries
        # As if the process was killed: nothing is closed but the database.
        await session.observe({"role": "user", "content": "我们继续吧。"})
        del session

    async with Memory.open(database_path, clock=clock) as memory:
        session = memory.session("monday", context_tokens=12_000)
        again = await session.prepare(with_scratchpad=True)
        assert again[: len(before)] == before, "not a byte of what the provider cached has changed"
        assert again[-1] == {"role": "user", "content": "我们继续吧。"}
        assert session.summaries == summaries, "nothing was summarised twice"
        assert "合并分支" in _text(again[:1])
        assert "angui_2024" in _text(again[:1])
        assert (await session.expand(summaries[0]))[0].session == "monday"
        await session.observe({"role": "assistant", "content": "好的。"})
        turns = await memory.turns(session="monday", limit=1_000)
        assert [it.ordinal for it in turns] == [*range(1, len(log.messages) + 3)]

        await session.end()
        fresh = memory.session("monday", context_tokens=12_000)
        text = _text(await fresh.prepare(with_scratchpad=True))
        assert "合并分支" not in text
        assert "angui_2024" not in text
        assert fresh.usage.messages == len(log.messages) + 2


def _asks(number: int, question: str) -> list[dict[str, Any]]:
    call = {
        "id": f"call_{number}",
        "type": "function",
        "function": {
            "name": "search_docs",
            "arguments": json.dumps({"query": question}, ensure_ascii=False),
        },
    }
    return [
        {"role": "user", "content": f"{question}？({number})"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]


def _result(number: int, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": text}


@pytest.mark.parametrize("language", _LANGUAGES)
async def test_a_large_result_is_archived_shown_as_passages_and_loaded_again(
    memory: Memory, language: str
):
    question, answer = ANSWERS[language]
    text = manual(language)
    session = memory.session("docs")
    await session.observe(_asks(1, question))
    (turn,) = await session.observe(_result(1, text))
    ((_, _, placeholder),) = find_placeholders(turn.content)
    assert len(turn.content) < 1_500, "the turn keeps the placeholder only"
    assert session.usage.archived == 1

    # The turn that asked sees the passages that answer.
    shown = (await session.prepare())[-1]["content"]
    assert answer in shown
    assert _EXACT.count(shown) < 2_200

    # The next turn sees the placeholder, and whatever it loads, for this once.
    await session.observe(
        [{"role": "assistant", "content": "OK."}, {"role": "user", "content": "And then?"}]
    )
    closed = await session.prepare()
    assert "📂" not in _text(closed)
    assert placeholder.id in _text(closed)
    loaded = await session.prepare(load=[placeholder.id])
    assert text in loaded[2]["content"]
    assert await session.prepare() == closed
    assert await session.archive.load_tool_result(placeholder.id) == text
    assert answer in await memory.load_tool_history(placeholder.id, query=question)


async def test_memories_that_archive_into_one_place_leave_each_other_alone(
    tmp_path: Path, clock: TurnedClock
):
    def settings(name: str) -> Settings:
        storage = storage_of(tmp_path / name / "memory.db")
        place = {"place": str(tmp_path / "bucket")}
        return Settings.load(
            {"storage": storage, "archive": place, "data_dir": str(tmp_path / name)}
        )

    text = manual("en")
    async with (
        Memory.open(settings("mine"), clock=clock) as mine,
        Memory.open(settings("other"), clock=clock) as other,
    ):
        await other.session("docs").observe([*_asks(1, "How?"), _result(1, text)])
        left_behind = await services(mine).blobs.new_key("left-behind.zst")
        await services(mine).blobs.put(left_behind, b"by a process that was killed")
        # What a process has just stored may not be known to the database yet.
        clock.time = datetime.now(UTC) + timedelta(hours=2)
        assert await services(mine).working.retention.collect_orphans() == [left_behind]
        (archive,) = await other.archives.list()
        assert await other.session("docs").archive.load_tool_result(archive.id) == text


async def test_a_loaded_result_that_is_too_large_shows_the_passages_of_the_question(
    memory: Memory,
):
    question, answer = ANSWERS["en"]
    session = memory.session("small", context_tokens=9_000)
    *_, turn = await session.observe([*_asks(1, "how to export"), _result(1, manual("en"))])
    ((_, _, placeholder),) = find_placeholders(turn.content)
    await session.observe(
        [{"role": "assistant", "content": "Done."}, {"role": "user", "content": question}]
    )
    loaded = await session.prepare(load=placeholder.id)
    assert answer in _text(loaded)
    assert session.usage.window_tokens <= session.usage.budget_tokens


async def test_a_result_that_left_the_window_comes_back_when_it_is_loaded(memory: Memory):
    question, answer = ANSWERS["zh"]
    session = memory.session("old", context_tokens=60_000)
    *_, turn = await session.observe([*_asks(1, question), _result(1, manual("zh"))])
    ((_, _, placeholder),) = find_placeholders(turn.content)
    await session.observe({"role": "assistant", "content": "查到了。"})
    for number in range(60):
        await session.observe({"role": "user", "content": f"第 {number} 个问题是什么？"})
        await session.observe({"role": "assistant", "content": f"第 {number} 个回答。"})
    await session.observe({"role": "user", "content": "再看看最早那个结果"})
    await session.prepare()
    await session.settle()
    sent = await session.prepare()
    assert "📎" not in _text(sent)
    loaded = await session.prepare(load=placeholder.id)
    assert answer in _text(loaded)
    assert openai_rule_breaks(loaded) == []
    assert len(loaded) <= 50


@pytest.mark.parametrize("language", _LANGUAGES)
async def test_ten_rounds_of_large_results_cost_a_fifth_at_most(memory: Memory, language: str):
    """The seed's table: each round asks a tool that gives 50,000 characters."""
    question, _ = ANSWERS[language]
    session = memory.session("rounds", context_tokens=1_000_000)
    inline: list[dict[str, Any]] = []
    saved, spent = 0, 0
    for number in range(10):
        text = manual(language, seed=number)
        asked = _asks(number, question)
        answered = {"role": "assistant", "content": "OK."}
        await session.observe([*asked, _result(number, text)])
        inline += [*asked, _result(number, text)]
        spent += _tokens(await session.prepare())
        saved += _tokens(inline)
        await session.observe(answered)
        inline.append(answered)
    assert spent <= 0.2 * saved, f"{1 - spent / saved:.1%} saved"
    assert session.usage.archived == 10


async def test_the_second_question_does_not_fetch_the_structure_again(memory: Memory):
    """S2's own check, through a session: the prompt holds what the tools have found."""
    session = memory.session("规程")
    toc = {"reg_id": "angui_2024", "title": "电力安全工作规程", "children": [{"title": "第五章"}]}
    found = {"results": [{"content": "倒闸操作应由两人进行", "source": "P85", "score": 0.9}]}
    steps: list[dict[str, Any] | Message] = [{"role": "user", "content": "倒闸操作由几个人进行？"}]
    for number, (tool, arguments, result) in enumerate(
        (
            ("get_toc", {"reg_id": "angui_2024"}, toc),
            ("smart_search", {"query": "倒闸操作"}, found),
        )
    ):
        function = {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)}
        call = {"id": f"c{number}", "type": "function", "function": function}
        steps.append({"role": "assistant", "content": None, "tool_calls": [call]})
        told = json.dumps(result, ensure_ascii=False)
        steps.append({"role": "tool", "tool_call_id": f"c{number}", "content": told})
    await session.observe(steps)
    await session.observe({"role": "assistant", "content": "两人。"})
    await session.observe({"role": "user", "content": "谁监护？"})
    prompt = (await session.prepare())[0]
    assert prompt["role"] == "system"
    assert "# 已缓存目录\n以下规程目录已获取: angui_2024" in prompt["content"]
    assert "# 已获取的相关信息" in prompt["content"]
    assert "倒闸操作应由两人进行" in prompt["content"]
    hint = session.notes.before_tool("get_toc", {"reg_id": "angui_2024"})
    assert hint is not None
    assert (await session.prepare(with_notes=False))[0]["role"] == "user"


async def test_what_a_tool_reports_as_an_error_is_not_noted(memory: Memory):
    session = memory.session("errors")
    call = {"type": "tool_use", "id": "a", "name": "read_page_range", "input": {"reg_id": "d"}}
    report = {"type": "tool_result", "tool_use_id": "a", "is_error": True, "content": "It is down"}
    await session.observe(
        [
            {"role": "user", "content": "Who operates a switch?"},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [report]},
        ]
    )
    assert not session.notes.relevant_chunks


async def test_what_memory_knows_is_in_the_prompt_when_the_agent_asks_for_it(memory: Memory):
    await memory.remember("Ann drinks green tea only.", category="preference")
    session = memory.session("tea")
    await session.observe(
        [
            {"role": "system", "content": "You are a waiter."},
            {"role": "user", "content": "What tea shall I bring for Ann?"},
        ]
    )
    sent = await session.prepare("What tea does Ann drink?")
    assert sent[0]["content"].startswith("You are a waiter.\n\n")
    assert "green tea" in sent[0]["content"]
    assert "<memory" in sent[0]["content"]
    assert "green tea" not in _text(await session.prepare())
    first, _ = await memory.turns(session="tea")
    assert first.content == "You are a waiter."
