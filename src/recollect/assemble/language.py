"""A configured language model in a conversation: tried once, or chatted with."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Protocol

from recollect.assemble.sessions import model_choice
from recollect.domain.message import Message, TextPart
from recollect.models.faults import missing_library

if TYPE_CHECKING:
    from recollect.domain.model_tier import Reply
    from recollect.settings import Settings

_TRIAL_TOKENS: Final = 32
_TRIAL: Final = "Say hello in one short sentence."


class ChatModel(Protocol):
    """A model that answers conversations."""

    async def reply(
        self, messages: Sequence[Message], *, max_tokens: int, seconds: float
    ) -> Reply: ...


def require_client() -> None:
    """Raise an error if the library that reaches language models is not installed."""
    if find_spec("pydantic_ai") is None:
        raise missing_library("pydantic-ai-slim", "models")


def chat_model_name(settings: Settings) -> str:
    """Return the model that answers in a chat: that of the first tier that has one, or nothing."""
    tiers = settings.tiers
    return tiers.reasoning or tiers.extract or tiers.summarise


@asynccontextmanager
async def chat_model(settings: Settings, name: str) -> AsyncGenerator[ChatModel]:
    """Open a model by its name, with the access in the settings."""
    require_client()
    from recollect.models.language.client import open_model

    model = open_model(name, model_choice(settings))
    try:
        yield model
    finally:
        await model.close()


async def try_language_model(settings: Settings, name: str) -> Reply:
    """Ask a model for one short sentence."""
    async with chat_model(settings, name) as model:
        return await model.reply(
            [Message(role="user", parts=(TextPart(text=_TRIAL),))],
            max_tokens=_TRIAL_TOKENS,
            seconds=settings.models.seconds.reasoning,
        )
