"""A model that answers from a script, for tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from recollect.models.language.faults import bad_output, too_slow
from recollect.ports.language_model import Filled, Prompt, Shape, Written


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowly:
    """A delayed reply."""

    seconds: float
    reply: Reply


# A text may be valid or invalid JSON; a mapping is sent as JSON; an exception is raised.
Reply = str | Mapping[str, Any] | Exception | Slowly


class ScriptedModel:
    """A model that returns its replies in order and keeps its prompts; each word is a token.

    If there are no replies left, it raises an AssertionError.
    """

    def __init__(
        self,
        replies: Iterable[Reply],
        *,
        name: str = "scripted:model",
        seconds: float | None = None,
    ) -> None:
        self._name = name
        # The time limit of an answer, if the prompt has none.
        self._seconds = seconds
        self._replies = iter(replies)
        self.prompts: list[Prompt] = []
        self.is_closed = False

    @property
    def name(self) -> str:
        return self._name

    async def write(self, prompt: Prompt) -> Written:
        text = await self._reply(prompt)
        return Written(
            text=text,
            input_tokens=_words(prompt.system, prompt.text),
            output_tokens=_words(text),
        )

    async def fill(self, prompt: Prompt, shape: type[Shape]) -> Filled[Shape]:
        first = await self.write(prompt)
        try:
            return _filled(shape, first)
        except ValidationError as problem:
            shown = replace(prompt, text=f"{prompt.text}\n\n{first.text}\n\n{problem}")
        second = await self.write(shown)
        both = replace(
            second,
            input_tokens=first.input_tokens + second.input_tokens,
            output_tokens=first.output_tokens + second.output_tokens,
        )
        try:
            return _filled(shape, both)
        except ValidationError as problem:
            failed = bad_output(self._name, f"{problem.error_count()} errors after one repair")
        raise failed.having_spent(both.input_tokens, both.output_tokens)

    async def close(self) -> None:
        self.is_closed = True

    async def _reply(self, prompt: Prompt) -> str:
        self.prompts.append(prompt)
        reply = next(self._replies, None)
        assert reply is not None, f"the script has no reply left for: {prompt.text[:200]}"
        seconds = self._seconds if prompt.seconds is None else prompt.seconds
        try:
            async with asyncio.timeout(seconds):
                while isinstance(reply, Slowly):
                    await asyncio.sleep(reply.seconds)
                    reply = reply.reply
        except TimeoutError:
            raise too_slow(self._name, seconds or 0) from None
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)


def _filled(shape: type[Shape], written: Written) -> Filled[Shape]:
    return Filled(
        value=shape.model_validate_json(written.text),
        input_tokens=written.input_tokens,
        output_tokens=written.output_tokens,
    )


def _words(*texts: str) -> int:
    return sum(len(text.split()) for text in texts)
