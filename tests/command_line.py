"""The command line run within the test's own process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from recollect.cli.app import run


@dataclass(frozen=True)
class Said:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        assert self.out == ""
        return json.loads(self.err)["error"]


@dataclass(frozen=True)
class CommandLine:
    """Runs `recollect` and catches what it says."""

    capture: pytest.CaptureFixture[bytes]

    def __call__(self, *arguments: str) -> Said:
        status = run(arguments)
        out, err = self.capture.readouterr()
        return Said(status, out.decode(), err.decode())
