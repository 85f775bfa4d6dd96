"""A model that is opened by its first call, because its library takes long to import."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from recollect.domain.model_tier import ModelChoice
from recollect.ports.language_model import Filled, LanguageModel, Prompt, Shape, Written


class OpenedModel(LanguageModel, Protocol):
    """A model with connections to close."""

    async def close(self) -> None: ...


Opener = Callable[[str, ModelChoice], OpenedModel]


def open_remote(name: str, choice: ModelChoice) -> OpenedModel:
    """Open a model of any provider."""
    from recollect.models.language.providers import open_model

    return open_model(name, choice)


class LazyModel:
    """A model that is opened once, in a thread; if that fails, each call tries again."""

    def __init__(self, name: str, choice: ModelChoice, opener: Opener) -> None:
        self.name = name
        self._choice = choice
        self._opener = opener
        self._model: OpenedModel | None = None
        self._opening = asyncio.Lock()

    async def write(self, prompt: Prompt) -> Written:
        return await (await self._opened()).write(prompt)

    async def fill(self, prompt: Prompt, shape: type[Shape]) -> Filled[Shape]:
        return await (await self._opened()).fill(prompt, shape)

    async def close(self) -> None:
        if self._model is not None:
            await self._model.close()

    async def _opened(self) -> OpenedModel:
        async with self._opening:
            if self._model is None:
                self._model = await asyncio.to_thread(self._opener, self.name, self._choice)
            return self._model
