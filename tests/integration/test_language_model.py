"""The whole way to a real language model: a small one, on a server of the tests' own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel, Field

from recollect.domain.model_tier import ModelChoice, ProviderAccess, TierNames
from recollect.errors import ModelError
from recollect.models.language.client import open_model
from recollect.models.language.tiers import Tiers
from recollect.ports.language_model import Prompt
from recollect.ports.runtime import SystemClock

if TYPE_CHECKING:
    from tests.real_model import RealModelServer

pytest_plugins = ("tests.real_model",)


def _choice(server: RealModelServer) -> ModelChoice:
    return ModelChoice(
        tiers=TierNames(summarise="openai:smollm2", extract="openai:smollm2"),
        providers={"openai": ProviderAccess(base_url=server.base_url)},
        seconds={"summarise": 60, "extract": 60},
        retries=1,
    )


class Weather(BaseModel):
    """The weather in a text."""

    is_sunny: bool
    place: str = Field(max_length=20)


async def test_a_real_model_writes_and_fills(language_server: RealModelServer):
    tiers = Tiers(_choice(language_server), SystemClock())
    summarise, extract = tiers.of("summarise"), tiers.of("extract")
    assert summarise
    assert extract

    written = await summarise.write(
        Prompt(system="Answer briefly.", text="Name a colour of the sky.", max_tokens=16)
    )
    assert written.text.strip()
    assert 0 < written.output_tokens <= 16
    assert written.input_tokens > 5

    prompt = Prompt(text="It is sunny in Paris.", system="Read the text.", max_tokens=40)
    try:
        outcome = (await extract.fill(prompt, Weather)).value
    except ModelError as failed:
        outcome = failed.code
    assert isinstance(outcome, Weather) or outcome == "model_bad_output"

    by_task = {it.task: it for it in tiers.usage()}
    assert by_task["summarise"].calls == 1
    assert by_task["summarise"].output_tokens == written.output_tokens
    assert by_task["extract"].output_tokens > 0
    await tiers.close()


async def test_a_real_model_that_is_slow_is_not_waited_for(language_server: RealModelServer):
    model = open_model("openai:smollm2", _choice(language_server))
    with pytest.raises(ModelError) as failed:
        await model.write(Prompt(text="Tell a long story of the sea.", max_tokens=400, seconds=0.2))
    assert (failed.value.code, failed.value.retryable) == ("model_timeout", True)
    await model.close()
    # Giving up must not leave the server busy or broken.
    model = open_model("openai:smollm2", _choice(language_server))
    assert (await model.write(Prompt(text="Say yes.", max_tokens=4))).output_tokens > 0
    await model.close()


async def test_a_real_server_that_dies_in_the_middle_is_a_retryable_error(
    mortal_language_server: RealModelServer,
):
    server = mortal_language_server
    model = open_model("openai:smollm2", _choice(server))
    story = Prompt(text="Tell a long story of the sea.", max_tokens=1000)
    asking = asyncio.create_task(model.write(story))
    await asyncio.sleep(0.3)
    assert not asking.done()
    server.kill()
    with pytest.raises(ModelError) as failed:
        await asking
    assert (failed.value.code, failed.value.retryable) == ("model_unavailable", True)
    await model.close()
