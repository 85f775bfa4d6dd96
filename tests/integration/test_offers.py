"""A call that was made before is offered what it gave, when it is made and beside what it gives."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.context.session import Session
from recollect.domain.archive import EarlierResult
from recollect.domain.notes import Cached, Hint
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.integration.archive_texts import ANSWERS, manual


@pytest.fixture
def memory_of(tmp_path: Path, clock: TurnedClock) -> Any:
    def open_memory(**tree: Any) -> Any:
        return Memory.open(Settings.load({"data_dir": tmp_path, **tree}), clock=clock)

    return open_memory


def _call(call: str, tool: str = "docs", **arguments: Any) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)}
    calls = [{"id": call, "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _result(call: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": text}


def _asked(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def _sent_result(session: Session) -> str:
    (sent,) = [it for it in await session.prepare() if it["role"] == "tool"]
    return sent["content"]


@pytest.mark.parametrize(
    ("language", "age"), [("zh", "[同一调用在3小时前（"), ("en", " 3 hours ago (")]
)
async def test_another_session_of_the_scope_is_offered_the_archived_result_with_its_age(
    memory_of: Any, clock: TurnedClock, language: str, age: str
):
    question, answer = ANSWERS[language]
    async with memory_of() as memory:
        monday = memory.session("monday")
        arguments = {"query": question, "page": 1}
        await monday.observe([_asked(question), _call("a", **arguments)])
        assert monday.offers == {}
        await monday.observe(_result("a", manual(language)))

        clock.time += timedelta(hours=3)
        tuesday = memory.session("tuesday")
        # The order of the arguments says nothing.
        again = _call("b", page=1, query=question)
        await tuesday.observe([_asked(question), again])
        offer = tuesday.offers["b"]
        assert isinstance(offer, EarlierResult)
        assert offer.age == timedelta(hours=3)
        assert answer in await tuesday.archive.load_tool_history(offer.archive.id, question)

        # Whoever calls the tool all the same sees both.
        *_, turn = await tuesday.observe(_result("b", "The server is down."))
        shown = await _sent_result(tuesday)
        assert shown.startswith("The server is down.\n[")
        assert age in shown
        assert f'load_tool_history(uuid="{offer.archive.id}")' in shown
        assert turn.content == "The server is down."

        # The next turn has other things to show.
        await tuesday.observe([{"role": "assistant", "content": "Later."}, _asked("And now?")])
        assert tuesday.offers == {}
        assert await _sent_result(tuesday) == "The server is down."


async def test_a_call_and_its_result_handed_over_together_are_not_offered_themselves(
    memory_of: Any,
):
    async with memory_of() as memory:
        session = memory.session("s")
        await session.observe([_asked("go"), _call("a", q=1), _result("a", manual("en"))])
        assert session.offers == {}
        assert "The same call" not in await _sent_result(session)


async def test_a_result_that_is_the_archived_one_is_not_told_of_itself(memory_of: Any):
    async with memory_of() as memory:
        session = memory.session("s")
        await session.observe([_asked("go"), _call("a", q=1), _result("a", manual("en"))])
        await session.observe([_call("b", q=1), _result("b", manual("en"))])
        assert set(session.offers) == {"b"}
        sent = [it["content"] for it in await session.prepare() if it["role"] == "tool"]
        assert all("The same call" not in it for it in sent)


async def test_nothing_is_offered_to_others_for_other_input_of_memory_tools_or_after_its_time(
    memory_of: Any, clock: TurnedClock
):
    async with memory_of() as memory:
        first = memory.session("first")
        await first.observe([_asked("go"), _call("a", q=1), _result("a", manual("en"))])
        for number, (who, call) in enumerate(
            (
                (memory.scope(user="somebody else"), _call("b", q=1)),
                (memory, _call("b", q=2)),
                (memory, _call("b", tool="other", q=1)),
                (memory, _call("b", tool="memory_recall", query="x")),
            )
        ):
            session = who.session(f"s{number}")
            await session.observe([_asked("go"), call])
            assert session.offers == {}, call
        clock.time += timedelta(days=31)
        late = memory.session("late")
        await late.observe([_asked("go"), _call("b", q=1)])
        assert late.offers == {}


async def test_a_cached_structure_is_offered_as_the_notes_say(memory_of: Any):
    toc = {"reg_id": "angui", "children": [{"title": "第五章 倒闸操作", "page": 85}]}
    said = [
        _asked("有哪些章节？"),
        _call("a", tool="get_toc", reg_id="angui"),
        _result("a", json.dumps(toc, ensure_ascii=False)),
        _call("b", tool="get_toc", reg_id="angui"),
    ]
    for answers, kind in ((False, Hint), (True, Cached)):
        async with memory_of(notes={"answer_from_cache": answers}) as memory:
            session = memory.session(f"{answers}")
            await session.observe(said[:3])
            await session.observe(said[3])
            assert isinstance(session.offers["b"], kind)
