"""A tool gives a log that is far too long: the model sees the line that it was asked about."""

from collections.abc import Sequence
from typing import Any

import pytest

from recollect import Memory

_NEEDLES = {
    "en": ("Why did the payment fail?", "ERROR payment gateway refused the card: code E4711"),
    "zh": ("付款为什么失败了？", "错误 付款网关拒绝了这张卡，代码 E4711"),
}


def _log(line: str) -> str:
    lines = [f"10:{n % 60:02d} INFO worker-{n % 17} finished batch {n}" for n in range(3_000)]
    lines[2_000] = line
    return "\n".join(lines)


async def _asked(memory: Memory, question: str, log: str) -> Sequence[dict[str, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": "read_log", "arguments": "{}"}}
    async with memory.session("s") as session:
        await session.observe({"role": "user", "content": question})
        await session.observe({"role": "assistant", "content": None, "tool_calls": [call]})
        await session.observe({"role": "tool", "tool_call_id": "c1", "content": log})
        return await session.prepare()


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_shown_is_what_the_user_asked_about(memory: Memory, language: str):
    # The tool takes no arguments, so what it was called for stands in the conversation only.
    question, line = _NEEDLES[language]
    shown = (await _asked(memory, question, _log(line)))[-1]["content"]
    assert line in shown
    assert "batch 10\n" not in shown
    assert len(shown) < 5_000


async def test_the_beginning_is_not_called_relevant(memory: Memory):
    _, line = _NEEDLES["en"]
    shown = (await _asked(memory, "Anything unusual?", _log(line)))[-1]["content"]
    # The question has no word of it, and the digest points at it.
    assert line in shown.partition("📂")[2]

    (archive,) = await memory.archives.list()
    found = await memory.load_tool_history(archive.id, query="E4711")
    assert "Relevant passages" in found
    assert line in found
    nothing = await memory.load_tool_history(archive.id, query="quantum banana")
    assert "No relevant passage found" in nothing
    assert "Relevant passages" not in nothing
