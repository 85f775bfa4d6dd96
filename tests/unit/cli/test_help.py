"""Help is for people: no Python types, an example a command, and a shell that completes words."""

import re
import shlex
import subprocess
import sys

import pytest

from recollect.cli.app import run
from recollect.cli.catalogue import COMMANDS, GROUPS, Command

_TOP: dict[str, Command] = {name: it for panel in COMMANDS.values() for name, it in panel.items()}
_GROUPED: dict[str, Command] = {
    f"{group} {name}": it
    for group, all_of in GROUPS.items()
    for name, it in all_of.commands.items()
}
_EXAMPLES = {name: it.example for name, it in (_TOP | _GROUPED).items() if it.example is not None}


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERMINAL_WIDTH", "200")


@pytest.mark.parametrize("command", _EXAMPLES)
def test_an_example_uses_options_that_the_command_has(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command.split(), *shlex.split(_EXAMPLES[command]), "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"Example: recollect {command}" in shown
    assert not re.search(r"<(bool|str|int|float|list|path)", shown)


def test_every_command_has_an_example() -> None:
    assert set(_TOP) <= set(_EXAMPLES)


def test_the_shell_completes_the_names_of_commands() -> None:
    words = {"COMP_WORDS": "recollect reca", "COMP_CWORD": "1"}
    found = subprocess.run(
        [sys.executable, "-m", "recollect"],
        env={"_RECOLLECT_COMPLETE": "complete_bash", **words},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert found.stdout.split() == ["recall"], found.stderr
