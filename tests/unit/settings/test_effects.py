"""Every setting does something, or says what it is for; one that is idle is told."""

import ast
import dataclasses
import logging
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import pytest

import recollect
from recollect import Memory
from recollect.assemble.doctor import diagnose
from recollect.server.app import create_app
from recollect.settings import Settings
from recollect.settings.effects import without_effect
from recollect.settings.sections import Section, fields_of, is_section
from tests.services import services

_SOURCE = Path(recollect.__file__).parent
_SETTINGS = _SOURCE / "settings"
_TEXTS = ("for the caller", "for a later release")
# Every optional part is there, so that its settings are read.
_ALL_PARTS = {
    "agents": {"ann": {"role": "tester"}, "bob": {"store": "other"}},
    "stores": {"other": {}},
    "workspaces": {"default": {"coordinator": "ann"}},
    "models": {
        "classify": "openai:a",
        "extract": "openai:a",
        "summarise": "openai:a",
        "providers": {"openai": {"base_url": "http://127.0.0.1:9", "api_key": "key"}},
    },
    "rerank": {"model": "cohere:a", "api_key": "key"},
    "notes": {"rules": {"tool": {"feeds": "page", "content": "result.text"}}},
    "archive": {"policy": "mixed"},
    "retention": [{"older_than_days": 3, "action": "expire"}],
}


def _leaves(section: type, before: str = "") -> Iterator[tuple[str, type, str]]:
    """Name, section and text of every setting."""
    for name, field in fields_of(section).items():
        annotation: Any = field.annotation
        inner = next(filter(is_section, (annotation, *get_args(annotation))), None)
        if inner is None:
            yield f"{before}{name}", section, field.description or ""
        else:
            yield from _leaves(inner, f"{before}{name}.")


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, str]]:
    """The settings that code has read, but for code that only shows them."""
    found: set[tuple[str, str]] = set()

    def is_use(depth: int) -> bool:
        frame = sys._getframe(depth + 1)
        while frame.f_code.co_filename == dataclasses.__file__ and frame.f_back is not None:
            frame = frame.f_back
        file = Path(frame.f_code.co_filename)
        shows = frame.f_code.co_name in {"leaves", "changed", "without_effect"}
        checks = frame.f_code.co_name == "_raise_settings_error"
        return file.is_relative_to(_SOURCE) and not shows and not checks

    def watch(kind: type) -> None:
        plain_get, names = kind.__getattribute__, fields_of(kind).keys()

        def get(section: Any, name: str) -> Any:
            if name in names and is_use(1):
                found.add((kind.__name__, name))
            return plain_get(section, name)

        monkeypatch.setattr(kind, "__getattribute__", get)

    plain_dump = Section.model_dump

    def dump(section: Section, **how: Any) -> Any:
        if is_use(1):
            found.update((type(section).__name__, name) for name in type(section).model_fields)
        return plain_dump(section, **how)

    for kind in {kind for _, kind, _ in _leaves(Settings)}:
        watch(kind)
    monkeypatch.setattr(Section, "model_dump", dump)
    return found


def _read_in_source() -> set[str]:
    """The names of attributes that code outside of the settings reads when it is called."""
    return {
        node.attr
        for path in _SOURCE.rglob("*.py")
        if not path.is_relative_to(_SETTINGS)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }


async def _use(memory: Memory) -> None:
    """Let a session do what most settings are about."""
    call = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    long = "The pump stands in the cellar, and its valve is red. " * 1_000
    async with memory.session("monday", context_tokens=2_000) as session:
        await session.observe({"role": "user", "content": "What does the manual say?"})
        await session.observe({"role": "assistant", "content": None, "tool_calls": [call]})
        await session.observe({"role": "tool", "tool_call_id": "a", "content": long})
        for number in range(60):
            await session.observe({"role": "user", "content": f"Tell me about valve {number}."})
        await session.prepare("Which valve did you find earlier?")
        await session.settle()
        session.notes.add_page_content(long, source="manual")
        session.notes.cache_toc("manual", {"1": "Pumps"})
        session.notes.get_toc_cache_hint()
        session.notes.before_tool("get_toc", {"reg_id": "manual"})
        for archive in (await memory.archives.list()).items:
            await memory.archives.load(archive.id, query="valve")
        await session.prepare("Which valve did you find earlier?")
    await memory.session("tuesday")
    # So long that another process reads it.
    await memory.knowledge.add(f"# Pump\n\n{2 * long}", "pump.md", wait=True)
    await memory.knowledge.search("Which colour has the valve?")
    await memory.scope(agent="ann").context("Which colour has the valve of the pump?")
    await memory.upkeep.sweep()


async def test_each_setting_is_used_or_says_what_it_is_for(
    read: set[tuple[str, str]], tmp_path: Path
):
    settings = Settings.load({**_ALL_PARTS, "data_dir": tmp_path})
    app = create_app(settings)
    async with app.router.lifespan_context(app), Memory.open(settings) as memory:
        wiring = services(memory)
        for kind in type(wiring).__mro__:
            for name, part in vars(kind).items():
                if isinstance(part, cached_property | property):
                    getattr(wiring, name)
        await _use(memory)
    explained = {name for name, _, text in _leaves(Settings) if text.startswith(_TEXTS)}
    unread = {
        name
        for name, section, _ in _leaves(Settings)
        if (section.__name__, name.rpartition(".")[2]) not in read
    }
    in_source = _read_in_source()
    later = {name for name in unread if name.rpartition(".")[2] in in_source}
    # Part of the URL of the vector store, which the section makes of it.
    made_into_others = {"storage.qdrant_url"}
    assert unread - later - explained - made_into_others == set()
    assert len(later) < 25, later
    assert {"models.code"} <= explained


@pytest.mark.parametrize(
    ("given", "idle"),
    [
        ({"storage": {"qdrant_url": "http://127.0.0.1:6333"}}, "storage.qdrant_url"),
        ({"recall": {"source_boosts": {"import": 0.5}}}, "recall.source_boosts"),
        ({"recall": {"recent": 9}}, "recall.recent"),
        ({"recall": {"decay_lambda": 0.5, "decay_weight": 0}}, "recall.decay_lambda"),
        ({"rerank": {"candidates": 9}}, "rerank.candidates"),
        ({"models": {"seconds": {"extract": 9}}}, "models.seconds.extract"),
        ({"storage": {"connections": 3}}, "storage.connections"),
    ],
)
async def test_a_setting_without_effect_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, given: dict[str, Any], idle: str
):
    settings = Settings.load({**given, "data_dir": tmp_path})
    assert idle in [it.name for it in without_effect(settings)]
    with caplog.at_level(logging.WARNING):
        async with Memory.open(settings):
            pass
    assert f"{idle} has no effect" in caplog.text
    found = (await diagnose(settings)).findings
    assert [it.hint for it in found if idle in it.message and it.verdict == "warning"]


def test_usual_settings_are_all_in_effect():
    assert without_effect(Settings()) == ()


async def test_a_variable_of_the_seed_alone_switches_decay_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert Settings.load().effective_recall.decay_weight == 0
    monkeypatch.setenv("MEMORY_DECAY_LAMBDA", "0.5")
    settings = Settings.load({"data_dir": tmp_path})
    async with Memory.open(settings) as memory:
        long_ago = datetime(2020, 1, 1, tzinfo=UTC)
        old = await memory.remember("the door code is 4711", first_observed=long_ago)
        new = await memory.remember("the gate code is 4712")
        scores = {hit.id: hit.score for hit in await memory.recall("which code", min_score=0)}
        assert scores[new.id] > scores[old.id] * 1.1
    assert without_effect(settings) == ()


def test_rules_of_notes_are_shown_as_changed(tmp_path: Path):
    changed = Settings.load({**_ALL_PARTS, "data_dir": tmp_path}).changed()
    assert changed["notes.rules.tool.feeds"] == "page"
