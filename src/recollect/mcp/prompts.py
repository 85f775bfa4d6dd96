"""Prompts that a person chooses in an MCP client: answer from memory, and store what matters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import mcp_types as types

from recollect.domain.context import Tongue
from recollect.domain.memory_tools import memory_guide
from recollect.errors import InvalidInput, NotFound
from recollect.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    title: str
    description: str
    argument: str = ""
    text: str = ""


_RECALL: Final = "recall"
_GUIDE: Final = "memory_guide"
_REMEMBER: Final = "remember_conversation"
_WORDS: Final[Mapping[str, Mapping[Tongue, _Words]]] = {
    _RECALL: {
        "en": _Words(
            title="Answer from memory",
            description="Ask a question together with what is remembered about it",
            argument="The question",
            text="Nothing is remembered about this.",
        ),
        "zh": _Words(
            title="根据记忆回答",
            description="提出一个问题，并附上与它相关的记忆",
            argument="问题",
            text="没有与此相关的记忆。",
        ),
    },
    _REMEMBER: {
        "en": _Words(
            title="Remember this conversation",
            description="Store what this conversation holds for later ones",
            text="Go through our conversation. Store with memory_save what will be of value in "
            "later ones: preferences, decisions and their reasons, constraints, corrections and "
            "links, one memory each. Look first with memory_recall whether it is known, and "
            "update instead of repeating. Then tell me in one line each what you stored.",
        ),
        "zh": _Words(
            title="记住这次对话",
            description="保存这次对话中对以后有用的内容",
            text="请回顾我们的对话，用 memory_save 保存对以后有价值的内容：偏好、决定及其理由、"
            "约束、纠正和链接，每条一个记忆。先用 memory_recall 查看是否已经记过，"
            "已有的更新而不要重复。最后用一行一条告诉我保存了什么。",
        ),
    },
    _GUIDE: {
        "en": _Words(title="How to use memory", description="Tell the model how to use its memory"),
        "zh": _Words(title="记忆使用说明", description="告诉模型如何使用记忆"),
    },
}


def list_prompts(language: Tongue) -> list[types.Prompt]:
    """Return the prompts there are."""
    return [
        types.Prompt(
            name=name,
            title=words[language].title,
            description=words[language].description,
            arguments=[
                types.PromptArgument(
                    name="question", description=words[language].argument, required=True
                )
            ]
            if words[language].argument
            else None,
        )
        for name, words in _WORDS.items()
    ]


async def get_prompt(
    memory: Memory, language: Tongue, name: str, arguments: Mapping[str, str]
) -> types.GetPromptResult:
    """Return a prompt, filled in."""
    if name not in _WORDS:
        raise NotFound(
            f"There is no prompt {name!r}",
            code="unknown_prompt",
            hint=f"There are: {', '.join(_WORDS)}.",
        )
    words = _WORDS[name][language]
    if name == _RECALL:
        question = arguments.get("question", "").strip()
        if not question:
            raise InvalidInput("The question is missing", code="missing_field")
        known = await memory.context(question, language=language)
        text = f"{known.text or words.text}\n\n{question}"
    else:
        text = memory_guide(language) if name == _GUIDE else words.text
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=words.description, messages=[message])
