"""`recollect init` and `recollect chat`: a model is chosen, tried and talked with.

The model is a real one, small and behind a server with OpenAI's API.
"""

from __future__ import annotations

import io
import json
import re
import stat
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recollect.settings import Settings, settings_file
from tests.command_line import CommandLine, Said

if TYPE_CHECKING:
    from tests.real_model import RealModelServer

pytest_plugins = ("tests.real_model",)


class _Typing(CommandLine):
    """Runs a command for somebody who types these lines."""

    def typed(self, monkeypatch: pytest.MonkeyPatch, lines: str, *arguments: str) -> Said:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
        return self(*arguments)


@pytest.fixture
def cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> _Typing:
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "data"))
    # A weak model fills in forms slowly; these stories are about the conversation.
    monkeypatch.setenv("RECOLLECT_WRITING__EXTRACT", "rules")
    monkeypatch.setenv("RECOLLECT_WRITING__ROUTE", "rules")
    monkeypatch.setenv("COLUMNS", "200")
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    return _Typing(capsysbinary)


def _template() -> str:
    return files("recollect.settings").joinpath("template.toml").read_text(encoding="utf-8")


def test_what_the_template_shows_can_be_uncommented(tmp_path: Path):
    assert Settings.load(tomllib.loads(_template())) == Settings.load()
    lines = [re.sub(r"^# (?=\[[\w.]+\]$|\w+ = )", "", it) for it in _template().splitlines()]
    file = tmp_path / "settings.toml"
    file.write_text("\n".join(it for it in lines if not it.startswith(("path =", "url ="))))
    shown = set(Settings.load(file=file).changed()) - set(Settings.load().changed())
    examples = {"models.daily_tokens", "models.providers.openai.base_url"}
    assert shown == examples, "everything else is the default"


@pytest.mark.parametrize("page", ["models.md", "models.zh-CN.md"])
def test_the_examples_of_the_guide_are_whole(page: str):
    guide = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    examples = re.findall(r"```toml\n(.*?)```", guide, flags=re.DOTALL)
    assert len(examples) == 4
    for example in examples:
        assert Settings.load(tomllib.loads(example)).tiers.extract
    for provider in ("openai", "anthropic", "ollama", "none"):
        assert f"recollect init --provider {provider}" in guide


def test_a_model_is_tried_and_written_and_what_was_there_stays(
    cli: _Typing, language_server: RealModelServer
):
    file = settings_file()
    file.parent.mkdir(parents=True)
    file.write_text("# mine\n[recall]\nlimit = 7 # seven\n")
    given = ("--provider", "openai", "--base-url", language_server.base_url)
    told = cli("init", *given, "--model", "smollm2", "--api-key", "k-1", "--json").json
    assert told["model"] == told["effective_model"] == "openai:smollm2"
    assert told["trial"]["text"].strip()
    assert told["trial"]["input_tokens"] > 0 < told["trial"]["output_tokens"]
    assert told["trial"]["cost"] is None, "nobody knows the price of a server of one's own"
    assert file.read_text().startswith("# mine\n[recall]\nlimit = 7 # seven\n")
    settings = Settings.load()
    assert settings.recall.limit == 7
    assert settings.tiers.extract == settings.tiers.classify == "openai:smollm2"
    assert settings.models.providers["openai"].base_url == language_server.base_url
    assert settings.models.providers["openai"].api_key == "k-1"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600, "there is a key in it"
    assert cli("init", "--provider", "none").status == 0
    assert Settings.load().tiers.extract == ""


def test_an_interview_needs_nothing_but_an_address(
    cli: _Typing, monkeypatch: pytest.MonkeyPatch, language_server: RealModelServer
):
    said = cli.typed(monkeypatch, f"3\n{language_server.base_url}\n\n", "init")
    assert said.status == 0, said.err
    assert "Which language model" in said.err
    assert "It has: " in said.err, "the server's own names are offered"
    assert " tokens in, " in said.out
    assert Settings.load().tiers.summarise.startswith("ollama:")
    assert settings_file().read_text().startswith("# The settings of Recollect")
    said = cli.typed(monkeypatch, "\n", "init")
    assert "no language model" in said.out, "the default leaves everything on this machine"


def test_a_model_that_does_not_answer_is_not_written(cli: _Typing):
    given = ("--provider", "openai", "--base-url", "http://127.0.0.1:9/v1", "--model", "x")
    said = cli("init", *given, "--json")
    assert said.status != 0
    assert said.error["code"] == "model_unavailable"
    assert "--no-test" in said.error["hint"]
    assert not settings_file().exists()
    assert cli("init", *given, "--no-test").status == 0
    assert Settings.load().tiers.extract == "openai:x"
    assert cli("init", "--provider", "openai", "--base-url", "nowhere", "--json").status == 2


def test_a_chat_tells_what_is_recalled_answered_and_written(
    cli: _Typing, monkeypatch: pytest.MonkeyPatch, language_server: RealModelServer
):
    given = ("--base-url", language_server.base_url, "--model", "smollm2", "--no-test")
    assert cli("init", "--provider", "openai", *given).status == 0
    # It fills in forms slowly.
    for task in ("SUMMARISE", "EXTRACT", "CLASSIFY"):
        monkeypatch.setenv(f"RECOLLECT_MODELS__{task}", "none")
    assert cli("remember", "The staging key lives in the blue vault", "--user", "ann").status == 0
    lines = "Where does the staging key live?\nRemember that I prefer green tea.\n/quit\nnever\n"
    chat = ("chat", "--user", "ann", "--max-tokens", "12")
    said = cli.typed(monkeypatch, lines, *chat, "--json")
    assert said.status == 0, said.err
    asked, told = map(json.loads, said.out.splitlines())
    (hit,) = asked["recalled"]
    assert hit["passage"] == "The staging key lives in the blue vault"
    assert {path["path"] for path in hit["explanation"]["paths"]} >= {"keyword"}
    assert any("blue vault" in it["content"] for it in asked["sent"])
    assert asked["reply"]["model"] == "openai:smollm2"
    assert asked["reply"]["text"].strip()
    assert asked["reply"]["output_tokens"] > 0
    assert [it["status"] for it in told["written"]] == ["created"]
    assert "green tea" in told["written"][0]["record"]["content"]
    assert "I prefer green tea" in told["written"][0]["reason"], "the words that it rests on"
    assert len(told["sent"]) > len(asked["sent"]), "the conversation goes on"
    shown = cli.typed(monkeypatch, "Which tea?\n/sent\n", *chat)
    assert "recalled  0." in shown.out
    assert "(keyword " in shown.out
    assert "user: Which tea?" in shown.err


def test_a_chat_says_when_nothing_was_recalled_because_it_took_too_long(
    cli: _Typing, monkeypatch: pytest.MonkeyPatch
):
    cli("remember", "The staging key lives in the blue vault", "--user", "ann")
    monkeypatch.setenv("RECOLLECT_SESSION__PREPARE_SECONDS", "0.000001")
    said = cli.typed(monkeypatch, "Where does the staging key live?\n", "chat", "--user", "ann")
    assert "recalled  nothing" in said.out
    assert "missing   recall did not end" in said.out


def test_without_a_model_a_chat_shows_what_would_be_sent(
    cli: _Typing, monkeypatch: pytest.MonkeyPatch
):
    cli("remember", "备用钥匙挂在厨房门后面")
    said = cli.typed(monkeypatch, "备用钥匙在哪里?\n", "chat")
    assert "recollect init" in said.err
    assert "recalled  0." in said.out
    assert "would be sent:" in said.out
    assert "厨房门后面" in said.out.split("would be sent:")[1]
    assert "user: 备用钥匙在哪里?" in said.out


def test_a_model_that_fails_in_a_chat_is_told_and_the_chat_goes_on(
    cli: _Typing, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECOLLECT_MODELS__PROVIDERS__OPENAI__BASE_URL", "http://127.0.0.1:9/v1")
    said = cli.typed(monkeypatch, "hello\nhello again\n", "chat", "--model", "openai:x", "--json")
    first, second = map(json.loads, said.out.splitlines())
    assert first["error"]["code"] == second["error"]["code"] == "model_unavailable"
    assert cli("chat", "--model", "nothing", "--json").error["code"] == "bad_model_name"
    assert len(cli("turns", "--json").json["items"]) == 2, "what was said is kept"
