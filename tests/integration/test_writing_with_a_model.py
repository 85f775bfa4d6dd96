"""Writing with language models: scripted ones that do well or badly, and a real small one."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from recollect import Memory
from recollect.domain.record import Status
from recollect.domain.relation import Strategy
from recollect.errors import ModelError
from recollect.models.language.scripted import Reply, ScriptedModel, Slowly
from recollect.ports.judge import Statement
from recollect.recall.intent_model import IntentModel
from recollect.settings import Settings
from recollect.writing.routing import Router
from recollect.writing.strategy import Merged, Merger
from tests.fakes import FakeJudge
from tests.services import services

if TYPE_CHECKING:
    from tests.conftest import TurnedClock
    from tests.real_model import RealModelServer

pytest_plugins = ("tests.real_model",)

_OLD, _NEW = "The API limit is 100 requests.", "The API limit is 200 requests and resets at noon."
_THEN = datetime(2026, 3, 1, 9, tzinfo=UTC)
_BAD: list[tuple[list[Reply], str]] = [
    (["no JSON", "none again"], "model_bad_output"),
    ([ModelError("I would rather not", code="model_refused")], "model_refused"),
    ([Slowly(seconds=30, reply="{}")], "model_timeout"),
]


# --- Routing -------------------------------------------------------------------------------------


async def test_a_model_routes_what_rules_do_not_know():
    model = ScriptedModel(
        [{"should_read": False, "should_write": True, "namespaces": ["domain-facts"]}]
    )

    routed = await Router(model).route("the old box in the cellar is where staging lives")

    assert (routed.should_write, routed.namespaces) == (True, ("domain-facts",))
    assert "scripted:model" in routed.reason


async def test_what_rules_are_sure_of_is_not_asked():
    model = ScriptedModel([])

    assert (await Router(model).route("以后都用中文回复我")).should_write
    assert not (await Router(model).route("Anything at all", "off")).should_write
    assert model.prompts == []


async def test_a_model_is_asked_about_what_rules_would_write():
    message = "我喜欢喝茶"
    assert (await Router().route(message)).should_write
    form = {"should_read": False, "should_write": False, "namespaces": []}
    model = ScriptedModel([form])
    routed = await Router(model).route(message)
    assert (routed.should_write, len(model.prompts)) == (False, 1)
    assert (await Router(model).route("Remember that I like tea")).should_write
    assert len(model.prompts) == 1, "an explicit wish needs no model"


async def test_a_model_tells_the_intent_that_no_rule_knows():
    model = ScriptedModel([{"intent": "bug_fix"}])
    intents = IntentModel(lambda: model, lambda text: text.replace("4711", "****"))
    for _ in range(2):
        judged = await intents.judge("The checkout page 4711 stays white after the update")
        assert judged is not None
        assert judged.intent == "bug_fix"
    assert "****" in model.prompts[0].text
    assert await intents.judge("Which colour do I like?") is None
    assert len(model.prompts) == 1, "neither asked twice, nor about a plain question"
    await intents.close()


async def test_a_recall_does_not_wait_for_a_slow_model():
    model = ScriptedModel([Slowly(seconds=5, reply={"intent": "bug_fix"})])
    intents = IntentModel(lambda: model, str)
    began = time.monotonic()
    assert await intents.judge("The checkout page stays white after the update") is None
    assert time.monotonic() - began < 1
    await intents.close()


@pytest.mark.parametrize(("replies", "code"), _BAD)
async def test_a_router_that_fails_falls_back_to_rules_and_says_so(replies: list[Reply], code: str):
    message = "今天几号？"

    routed = await Router(ScriptedModel(replies, seconds=0.1)).route(message)

    assert routed == replace(await Router().route(message), degraded=code)


async def test_a_namespace_that_does_not_exist_is_shown_to_the_model_once():
    model = ScriptedModel(
        [
            {"should_read": True, "should_write": True, "namespaces": ["my-own"]},
            {"should_read": True, "should_write": False, "namespaces": []},
        ]
    )

    routed = await Router(model).route("Tell me a story.")

    assert (routed.should_read, routed.should_write) == (True, False)
    assert len(model.prompts) == 2


# --- Putting facts together ----------------------------------------------------------------------


async def _merged(model: ScriptedModel, strategy: Strategy, old: str, new: str) -> Merged:
    """One text for two of which a judge knows that the new one changes the limit."""
    judge = FakeJudge()
    judge.knows(_OLD, new, "update")
    before, after = (Statement(text=it, said_at=_THEN) for it in (old, new))
    return await Merger(model, judge).merge(strategy, before, after)


async def test_a_model_puts_facts_together():
    said = "The API limit is 200 requests and resets at noon; Tom is responsible."

    merged = await _merged(ScriptedModel([said]), "summarise", f"{_OLD} Tom is responsible.", _NEW)

    assert (merged.text, merged.by) == (said, "scripted:model")


@pytest.mark.parametrize(
    "lie",
    [
        "The API limit is 500 requests.",
        "The API limit is 100 requests.",
        "The API limit is not 200 requests.",
        "",
        "Sure! Here is the merged statement you asked for, written with great care by Claude.",
    ],
)
async def test_a_model_that_says_something_else_is_not_believed(lie: str):
    old = f"{_OLD} Tom is responsible."

    merged = await _merged(ScriptedModel([lie or " "]), "summarise", old, _NEW)

    assert merged.degraded == "model_ungrounded"
    assert "200" in merged.text
    assert "Tom" in merged.text


@pytest.mark.parametrize(("replies", "code"), _BAD[1:])
async def test_a_merger_that_fails_falls_back_to_rules(replies: list[Reply], code: str):
    old = f"{_OLD} Tom is responsible."

    merged = await _merged(ScriptedModel(replies, seconds=0.1), "summarise", old, _NEW)

    assert (merged.degraded, "Tom" in merged.text) == (code, True)


async def test_a_model_is_only_asked_where_facts_are_put_together():
    model = ScriptedModel([])

    assert (await _merged(model, "overwrite", _OLD, _NEW)).text == _NEW
    assert (await _merged(model, "append", _OLD, _NEW)).text == f"{_OLD} {_NEW}"
    assert model.prompts == []


# --- A real one ----------------------------------------------------------------------------------


def _settings(database: Path, server: RealModelServer) -> Settings:
    model = "openai:smollm2"
    return Settings.load(
        {
            "storage": {"path": database},
            "models": {
                **dict.fromkeys(("extract", "classify", "summarise"), model),
                "providers": {"openai": {"base_url": server.base_url}},
                "seconds": {"extract": 12, "classify": 8, "summarise": 12},
                "retries": 0,
            },
        }
    )


@pytest.mark.soak
async def test_a_real_small_model_extracts_routes_and_summarises_without_harm(
    language_server: RealModelServer, database_path: Path, clock: TurnedClock
):
    said = [
        "My flat in Oslo has 3 rooms.",
        "Remember that I am allergic to peanuts.",
        "We decided to use PostgreSQL for the orders service.",
        "Thanks, that is all.",
    ]
    async with Memory.open(_settings(database_path, language_server), clock=clock) as memory:
        async with memory.session("s") as session:
            for text in said:
                await session.observe({"role": "user", "content": text})
                await session.observe({"role": "assistant", "content": "OK."})
            await session.end()

        found = await memory.extract("s")
        routed = await memory.route("Which city is my flat in?")
        await memory.write("The API limit is 100 requests. Tom runs it.", category="domain-facts")
        clock.turn(days=9)
        changed = await memory.write("The API limit is 200 requests.", category="domain-facts")
        await memory.drain()
        usage = {it.task: it.calls for it in services(memory).models.usage()}
        everything = (await memory.list(status=list(Status), limit=200)).items

    assert any("peanut" in it.record.content for it in found if it.record)
    for written in found:
        assert written.status in {"created", "merged", "versioned", "quarantined", "buffered"}
    assert isinstance(routed.should_read, bool)
    assert changed.record is not None
    assert "200" in changed.record.content
    assert min(usage[task] for task in ("extract", "classify", "summarise")) >= 1
    assert all(_is_well_formed(it) for it in everything)


def _is_well_formed(record: Any) -> bool:
    """Whether a record has words of its source, or waits for somebody to look at it."""
    is_supported = bool(record.evidence) or record.category == "domain-facts"
    return bool(record.content.strip()) and (is_supported or record.status is Status.QUARANTINED)
