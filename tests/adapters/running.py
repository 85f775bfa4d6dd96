"""Run pytest in the environment of a framework: our checks, or the framework's own tests."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.nursery import WARM

ROOT = Path(__file__).parents[2]
ADAPTERS = ROOT / "tests" / "adapters"


def set_up(name: str) -> None:
    """Make the environment of a framework match its lock."""
    subprocess.run(["sh", "tools/setup.sh", "adapter", name], cwd=ROOT, check=True)


def run(name: str, *arguments: str, folder: Path = ROOT, path: str = "") -> int:
    """Run pytest in the environment of a framework; the number of tests that passed."""
    python = ADAPTERS / f".venv-{name}" / "bin" / "python"
    environment = {**os.environ, "PYTHONPATH": path} if path else dict(os.environ)
    # What a framework imports is compiled once, not in every run.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    # CrewAI calls home unless it is told not to, before it is imported.
    environment |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true"}
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]
    (passed,) = re.findall(r"(\d+) passed", done.stdout)
    return int(passed)


def run_checks(name: str) -> int:
    """Run our own checks of the adapter for a framework."""
    return run(name, "-c", str(ADAPTERS / "pytest.ini"), str(ADAPTERS / f"with_{name}"))


def run_own_tests(name: str, source: str, *arguments: str) -> int:
    """Run tests of a framework's source package, with our classes plugged in."""
    folder = ADAPTERS / f".sources-{name}" / source
    plug = ("-p", "plug", "-o", "asyncio_mode=auto")
    return run(name, *plug, *arguments, folder=folder, path=str(ADAPTERS / f"with_{name}"))


def run_example(file: str, folder: Path, name: str = "") -> list[str]:
    """Run an example in an empty folder, in the environment of a framework; the lines it prints."""
    python = ADAPTERS / f".venv-{name}" / "bin" / "python" if name else WARM
    done = subprocess.run(
        [python, ROOT / "examples" / file], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout.splitlines()


STORIES = ("remembered", "archived", "compressed")


def check_stories(lines: list[str], stories: Sequence[str] = STORIES) -> None:
    """See that a preference was remembered, a result archived and a long chat compressed."""
    told = dict(line.split(": ", 1) for line in lines)
    assert tuple(told) == tuple(stories)
    assert told["remembered"] in ("True", "In metric units.")
    if "archived" in told:
        found = re.findall(r"[\d,]+\d", told["archived"])
        before, after = (int(it.replace(",", "")) for it in found)
        assert before > 50_000
        assert after < before / 4
    if "compressed" in told:
        messages, sent = map(int, re.findall(r"\d+", told["compressed"]))
        assert sent < messages / 2
