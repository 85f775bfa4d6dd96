"""A move of an agent is killed at any moment: one store serves, and nothing is lost."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.nursery import WARM

_WHOLE = {
    "missing": [],
    "doubled": 0,
    "notes": 30,
    "turns": 1,
    "archived": True,
    "is_intact": True,
    "agents": ["other", "sql"],
}


@pytest.mark.parametrize(
    ("to", "store", "moments"),
    [
        ("own", "own", ("never", "transaction 20", "named", "kept")),
        ("common", "", ("transaction 9", "copied", "named", "left")),
    ],
)
def test_nothing_is_lost_and_the_same_command_goes_on(
    tmp_path: Path, to: str, store: str, moments: tuple[str, ...]
):
    module = "tests.journeys.moving_process"
    program = [WARM, "-m", module, str(tmp_path), to, *moments]
    done = subprocess.run(program, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3_000:]
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [it["moment"] for it in results] == list(moments)
    for result in results:
        assert result["status"] == (0 if result["moment"] == "never" else -9)
        # Somebody wrote all the time, and was never refused.
        assert result["writer"] == 0
        for moment in ("killed", "moved"):
            seen = result[moment]
            assert {name: seen[name] for name in _WHOLE} == _WHOLE, (result["moment"], moment)
            assert seen["written"] > 5
        assert result["moved"]["store"] == store
