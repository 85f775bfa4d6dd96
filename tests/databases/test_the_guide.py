"""The guide to database servers does what it says, on the server of this run."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.cli.app import run
from recollect.settings import Settings
from recollect.sync import Memory
from tests.database_servers import Server

pytestmark = pytest.mark.server

_DOCS = Path(__file__).parents[2] / "docs"
_GUIDES = ("databases.md", "databases.zh-CN.md")
_SHOWN = "postgresql://recollect:secret@db.example/"


def _blocks(guide: str, language: str) -> list[str]:
    text = (_DOCS / guide).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


@pytest.fixture
def databases(server: Server) -> Iterator[tuple[str, str]]:
    """The two databases that the guide uses, both empty."""
    names = ("memory", "moved")
    for name in names:
        server.run(f"CREATE DATABASE {name}", server.root)
    yield names
    for name in names:
        server.run(f"DROP DATABASE {name}", server.root)


@pytest.mark.parametrize("guide", _GUIDES)
def test_what_is_typed_and_run_works(
    guide: str,
    server: Server,
    databases: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path))

    def on_the_server(text: str) -> str:
        for name in databases:
            text = text.replace(f"{_SHOWN}{name}", server.url(name))
        return text

    with Memory.open("notes.db") as notes:
        notes.scope(user="ann").remember("Ann has a locker")
    for line in "\n".join(_blocks(guide, "sh")).splitlines():
        command, *words = shlex.split(on_the_server(line), comments=True) or [""]
        monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
        assert command in {"recollect", ""}
        assert not words or run(words) == 0, (line, capsys.readouterr())
    (code,) = _blocks(guide, "python")
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(compile(on_the_server(code), "<guide>", "exec"), {})
    assert re.search("green tea|绿茶", told.getvalue())


@pytest.mark.parametrize("guide", _GUIDES)
def test_the_settings_that_are_shown_are_settings(guide: str):
    (shown,) = _blocks(guide, "toml")
    settings = Settings.load(tomllib.loads(shown))
    assert settings.has_own_store("analyst")


def test_both_languages_show_the_same():
    def shape(guide: str) -> list[int]:
        text = (_DOCS / guide).read_text(encoding="utf-8")
        return [len(re.findall(it, text, re.MULTILINE)) for it in (r"^#+ ", r"^- ", "^```", r"^\|")]

    assert shape(_GUIDES[0]) == shape(_GUIDES[1])
