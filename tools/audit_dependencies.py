"""Look every locked package up among the known vulnerabilities.

    .venv/bin/python tools/audit_dependencies.py

It fails only when something is found. Without a network, or where the package index does not tell,
it says what was not looked up and goes on. One result holds for a day and a lock.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

_ROOT: Final = Path(__file__).resolve().parent.parent
_LOCK: Final = _ROOT / "requirements.lock"
_MARK: Final = _ROOT / ".tools" / "audited"
_SECONDS: Final = 120
_COMMAND: Final = [
    *(str(_ROOT / ".tools" / "bin" / "uv"), "tool", "run", "pip-audit"),
    *("-r", str(_LOCK), "--no-deps", "--disable-pip"),
    *("--format", "json", "--progress-spinner", "off"),
]


def main() -> int:
    mark = f"{hashlib.sha256(_LOCK.read_bytes()).hexdigest()} {datetime.now(UTC).date()}"
    if _MARK.exists() and _MARK.read_text(encoding="utf-8") == mark:
        print("dependencies: audited today")
        return 0
    found = _audited()
    if found is None:
        return 0
    known = [package for package in found if "vulns" in package]
    bad = [package for package in known if package["vulns"]]
    for package in bad:
        for problem in package["vulns"]:
            fixed = ", ".join(problem["fix_versions"]) or "no version yet"
            print(f"{package['name']} {package['version']}: {problem['id']}, fixed in {fixed}")
    unknown = len(found) - len(known)
    print(f"dependencies: {len(known)} audited, {len(bad)} vulnerable, {unknown} not looked up")
    if known and not bad:
        _MARK.parent.mkdir(exist_ok=True)
        _MARK.write_text(mark, encoding="utf-8")
    return 1 if bad else 0


def _audited() -> list[dict[str, Any]] | None:
    """Return what is known of each package; None when nobody could be asked."""
    try:
        ran = subprocess.run(
            _COMMAND, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        return json.loads(ran.stdout)["dependencies"]
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError) as problem:
        print(f"dependencies: not audited, nobody could be asked ({type(problem).__name__})")
        return None


if __name__ == "__main__":
    sys.exit(main())
