"""Figures that `make soak` measures, kept with the commit they were measured on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parent.parent


def write_report(name: str, figures: Mapping[str, Any]) -> None:
    """Write `reports/{name}.json`."""
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=_ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    target = _ROOT / "reports" / f"{name}.json"
    target.parent.mkdir(exist_ok=True)
    measured = {"commit": commit, "measured_at": datetime.now(UTC).isoformat(timespec="seconds")}
    target.write_text(json.dumps({**measured, **figures}, indent=2, ensure_ascii=False) + "\n")
