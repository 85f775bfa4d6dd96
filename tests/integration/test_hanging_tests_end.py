"""`make test` always ends: a test that hangs is told with its stacks."""

import subprocess
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
# Leaving the block waits for the child, for longer than anybody waits for a test.
HANGING = """
import subprocess, sys

def test_that_hangs():
    child = "import os, time; os.closerange(0, 3); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", child]):
        raise AssertionError
"""


def test_a_test_that_hangs_is_ended_with_its_stacks(tmp_path: Path):
    hanging = tmp_path / "test_hanging.py"
    hanging.write_text(HANGING)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", PROJECT, "--timeout", "2", "-s", hanging],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 1
    assert "Timeout" in ran.stdout
    assert "in test_that_hangs" in ran.stdout


def test_no_test_may_take_for_ever():
    options = tomllib.loads(PROJECT.read_text())["tool"]["pytest"]["ini_options"]
    assert 0 < options["timeout"] <= 900
