"""Commands are answered by the server that has their database open, as if they opened it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from recollect import Memory
from recollect.cli import running_server
from recollect.cli.app import run
from recollect.cli.command_socket import answering_commands
from recollect.settings import Settings
from tests.processes import RECOLLECT, Child

# What the command itself would have to import.
_HEAVY = ("typer", "pydantic", "sqlalchemy", "asyncio", "rich", "recollect.memory")
_COMMAND = f"""
import sys
from recollect.cli import running_server
answered = running_server.ask
def ask(arguments):
    status = answered(arguments)
    heavy = [name for name in {_HEAVY!r} if name in sys.modules]
    assert status is None or not heavy, heavy
    print("direct" if status is None else "asked", file=sys.stderr)
    return status
running_server.ask = ask
from recollect.cli import main
main()
"""

pytestmark = pytest.mark.sqlite(reason="the server of a database file")


@dataclass(frozen=True)
class _Said:
    status: int
    out: str
    # Whether the server answered, or the command opened the database itself.
    how: str
    err: str


async def _run(*arguments: str, folder: Path | None = None, **variables: str) -> _Said:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _COMMAND, *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONUTF8": "1", **variables},
        cwd=folder,
    )
    out, err = await process.communicate()
    lines = err.decode().splitlines()
    (how,) = {"asked", "direct"} & {*lines}
    assert process.returncode is not None
    told = "\n".join(it for it in lines if it != how)
    return _Said(process.returncode, out.decode(), how, told)


@pytest.fixture
async def database(database_path: Path) -> AsyncIterator[Path]:
    """A database that a server has open which answers commands; the fixture is that server."""
    settings = Settings.at(database_path)
    async with Memory.open(settings) as memory, answering_commands(memory, settings):
        yield database_path


async def test_what_is_asked_is_what_the_command_itself_would_do(
    database: Path, capsysbinary: pytest.CaptureFixture[bytes]
):
    place = ("--data", str(database))
    saved = await _run("remember", "备用钥匙挂在厨房门后面", "--user", "ann", "--json", *place)
    assert (saved.status, saved.how) == (0, "asked"), saved.err
    record = json.loads(saved.out)["id"]
    for arguments, status in (
        (("recall", "备用钥匙", "--user", "ann"), 0),
        (("list", "--user=ann"), 0),
        (("--user", "ann", "show", record, "--json"), 0),
        (("kb", "list"), 0),
        # Scopes are kept apart, and errors are told in the same words.
        (("list", "--user", "bob"), 0),
        (("show", record, "--user", "bob"), 3),
        (("show", record, "--user", "bob", "--json"), 3),
        (("profile", "hide"), 2),
    ):
        asked = await _run(*arguments, *place)
        # The same in this process, which opens the database.
        alone = await asyncio.to_thread(run, [*arguments, *place])
        out, err = (it.decode() for it in capsysbinary.readouterr())
        assert asked.how == "asked", arguments
        assert (asked.status, asked.out, asked.err) == (alone, out, err.rstrip("\n"))
        assert asked.status == status
    assert "厨房" not in (await _run("recall", "备用钥匙", "--user", "bob", *place)).out


async def test_only_its_owner_can_ask_and_other_settings_are_not_guessed(database: Path):
    socket = database.with_name(f"{database.name}.sock")
    assert stat.S_IMODE(socket.stat().st_mode) == 0o600
    place = ("--data", str(database))
    saved = await _run(
        "remember", "call 4111 1111 1111 1111", *place, RECOLLECT_WRITING__REDACT="mask"
    )
    assert "4111" not in saved.out, "what this caller set holds"
    # A relative place is meant from where the command is.
    near = await _run("list", "--data", database.name, folder=database.parent)
    assert near.how == "asked"
    (database.parent / "elsewhere").mkdir()
    away = await _run("list", "--data", database.name, folder=database.parent / "elsewhere")
    assert (away.how, away.status) == ("direct", 3)
    for arguments in (("list", "--help"), ("where",), ("remember", "-"), ("nonsense",)):
        assert running_server.ask([*arguments, *place]) is None, "it is the command's own"


async def test_the_file_of_the_settings_says_where_to_ask(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    settings = tmp_path / "settings.toml"
    settings.write_text(f"[storage]\npath = '{database}'\n")
    folder = {"RECOLLECT_DATA_DIR": str(database.parent)}
    told = await _run("list", RECOLLECT_SETTINGS=str(settings), **folder)
    assert (told.how, told.status) == ("direct", 0), "the server was started without that file"
    for name, value in {"RECOLLECT_SETTINGS": str(settings), **folder}.items():
        monkeypatch.setenv(name, value)
    async with Memory.open() as memory:
        (database.with_name(f"{database.name}.sock")).unlink()
        async with answering_commands(memory, Settings.load()):
            assert (await _run("list")).how == "asked"


async def test_a_path_that_is_long_for_a_socket_is_asked_too(tmp_path: Path):
    folder = tmp_path / ("a folder with a long name " * 6)
    folder.mkdir()
    settings = Settings.at(folder / "memory.db")
    async with Memory.open(settings) as memory, answering_commands(memory, settings):
        said = await _run("list", "--data", str(folder / "memory.db"))
    assert said.how == ("asked" if sys.platform == "linux" else "direct")
    assert not (folder / "memory.db.sock").exists(), "an ended server leaves none"


@pytest.mark.soak
def test_a_server_that_is_stuck_or_killed_keeps_nobody_from_memory(database_path: Path):
    place = ("--data", str(database_path))
    socket = database_path.with_name(f"{database_path.name}.sock")

    def ask(*arguments: str) -> _Said:
        return asyncio.run(_run(*arguments, *place))

    with _serving(place) as server:
        assert ask("remember", "first").how == "asked"
        server.send_signal(signal.SIGSTOP)
        stuck = ask("remember", "while it is stuck")
        assert (stuck.how, stuck.status) == ("direct", 0)
        server.send_signal(signal.SIGCONT)
        listed = ask("list", "--json")
        assert listed.how == "asked"
        contents = [it["content"] for it in json.loads(listed.out)["items"]]
        assert contents == ["while it is stuck", "first"], "carried out once"
        server.kill()
    assert socket.exists(), "nobody removed it"
    assert (ask("list").how, ask("list").status) == ("direct", 0)

    async def asked_the_next() -> str:
        settings = Settings.at(database_path)
        async with Memory.open(settings) as memory, answering_commands(memory, settings):
            return (await _run("list", *place)).how

    assert asyncio.run(asked_the_next()) == "asked", "the next server takes its place"
    assert not socket.exists()


def _serving(place: tuple[str, ...]) -> Child[str]:
    """A server in a process of its own, from when it answers."""
    command = [*RECOLLECT, "serve", "--port", "0", "--json", *place]
    server = Child(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout
    server.stdout.readline()
    socket = Path(f"{place[1]}.sock")
    for _ in range(600):
        if socket.exists() and asyncio.run(_run("list", *place)).how == "asked":
            return server
        asyncio.run(asyncio.sleep(0.1))
    raise AssertionError("the server does not answer commands")
