"""Plain lists of messages with a memory beside them."""

import json
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.adapters.plain import wrap
from recollect.domain.meter import figures_of
from tests.adapters.running import check_stories, run_example
from tests.services import services


def calling(name: str, provider: str, **arguments: Any) -> dict[str, Any]:
    if provider == "anthropic":
        block = {"type": "tool_use", "id": "c1", "name": name, "input": arguments}
        return {"role": "assistant", "content": [block]}
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": "c1", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_list_gets_memory_tools_and_recall_and_stays_its_owners(
    memory: Memory, provider: Any
):
    memory = memory.scope(user="ann")
    messages: list[dict[str, Any]] = [{"role": "user", "content": "I want metric units"}]
    async with wrap(memory, messages, session="s", provider=provider, system="Be brief.") as chat:
        names = [it.get("name") or it["function"]["name"] for it in chat.tools]
        assert "memory_save" in names
        await chat.to_send()
        messages.append(calling("memory_save", provider, content="Ann wants metric units"))
        messages += await chat.answers(messages[-1])
        messages.append({"role": "assistant", "content": "Noted."})
    before = json.dumps(messages)
    messages.append({"role": "user", "content": "Which units does Ann want?"})
    async with wrap(memory, messages, session="t", provider=provider, system="Be brief.") as chat:
        sent = await chat.to_send()
    if provider == "openai":
        prompt, said = sent[0]["content"], sent[1:]
    else:
        prompt, said = str(sent.system), sent.messages
    assert "Be brief." in prompt
    assert "Ann wants metric units" in prompt
    assert len(said) == len(messages)
    assert json.dumps(messages[:-1]) == before
    roles = [it.role for it in (await memory.turns(session="t")).items]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]


@pytest.mark.parametrize(
    ("fact", "question", "answer", "used"),
    [
        ("User's cat is called Momo", "What is my cat called?", "Your cat is called Momo.", 1),
        ("User's cat is called Momo", "What is my cat called?", "I do not know your cat.", 0),
        ("用户的猫叫豆豆", "我的猫叫什么？", "它叫豆豆。", 1),
        ("用户的猫叫豆豆", "我的猫叫什么？", "我不知道你的猫叫什么。", 0),
    ],
)
async def test_what_an_answer_takes_up_counts_as_used(
    memory: Memory, fact: str, question: str, answer: str, used: int
):
    ann = memory.scope(user="ann")
    await ann.remember(fact)
    messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
    async with wrap(ann, messages, session="s") as chat:
        await chat.to_send()
        messages.append({"role": "assistant", "content": answer})
    figures = figures_of(services(memory).meter.totals())
    assert (figures.injected_items, figures.used_items) == (1, used)


async def test_a_closed_memory_sends_the_list_as_it_is(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as memory:
        pass
    messages = [{"role": "user", "content": "Are you there?"}]
    chat = wrap(memory, messages, system="Be brief.")
    assert await chat.to_send() == [{"role": "system", "content": "Be brief."}, *messages]
    assert any(it.startswith("closed") for it in chat.degraded)


def test_the_example_runs(tmp_path: Path):
    check_stories(run_example("plain_messages.py", tmp_path))
