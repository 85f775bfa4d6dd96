"""The hooks and tools for the Claude Agent SDK, called as its command would; it needs a service."""

from pathlib import Path
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions

from recollect import Memory
from recollect.adapters.claude_agent import ClaudeAgentMemory

_LONG = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(2_000))


async def test_prompts_and_sub_agents_are_told_and_what_was_said_is_kept(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as memory:
        known = ClaudeAgentMemory(memory)
        options = ClaudeAgentOptions(**known.options())
        assert "mcp__recollect__memory_save" in options.allowed_tools

        async def fire(event: str, **given: Any) -> dict[str, Any]:
            (matcher,) = options.hooks[event]
            told = await matcher.hooks[0]({"session_id": "s", **given}, None, {"signal": None})
            return told.get("hookSpecificOutput", {})

        (save,) = [it for it in known.tools() if it.name == "memory_save"]
        saved = await save.handler({"content": "Ann wants metric units"})
        assert "created" in saved["content"][0]["text"]

        asked = "Which units does Ann want?"
        told = await fire("UserPromptSubmit", prompt=asked)
        assert "Ann wants metric units" in told["additionalContext"]
        assert "metric units" in (await fire("SubagentStart"))["additionalContext"]
        # The report of a background task is no prompt of the user.
        assert await fire("UserPromptSubmit", prompt="<task-notification>done") == {}

        used = {"tool_input": {}, "tool_response": [{"type": "text", "text": _LONG}]}
        told = await fire("PostToolUse", tool_name="mcp__port__fetch", **used)
        (block,) = told["updatedToolOutput"]
        assert len(block["text"]) < len(_LONG) / 4
        assert await fire("PostToolUse", tool_name="Bash", **used) == {}

        await fire("Stop", last_assistant_message="Metric.")
        spoken = [it.content for it in (await memory.turns(session="s")).items]
        assert spoken == [asked, "Metric."]
    assert await fire("UserPromptSubmit", prompt=asked) == {}
    assert known.degraded
