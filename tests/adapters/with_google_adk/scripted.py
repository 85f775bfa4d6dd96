"""A model that says what is written, and remembers what it was sent."""

from collections.abc import AsyncGenerator
from typing import Any

from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.genai import types


class Scripted(BaseLlm):
    """See the module."""

    model: str = "scripted"
    answers: list[types.Part]
    sent: list[str]
    told: list[str]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.sent.append(str(llm_request.contents))
        self.told.append(str(llm_request.config.system_instruction or ""))
        yield LlmResponse(content=types.Content(role="model", parts=[self.answers.pop(0)]))


def scripted(*answers: types.Part | str) -> Scripted:
    parts = [types.Part(text=it) if isinstance(it, str) else it for it in answers]
    return Scripted(answers=parts, sent=[], told=[])


def calling(name: str, /, **arguments: Any) -> types.Part:
    return types.Part.from_function_call(name=name, args=arguments)
