"""Build the two wheels of Recollect into a folder: the package, and its models.

python tools/dist.py [FOLDER]   default: dist
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = {
    "recollect": ROOT,
    "recollect_embedder": ROOT / "packages" / "recollect-embedder",
}


def main() -> None:
    """Build both, and say where they are."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    built = build(folder)
    for wheel in built:
        print(f"{wheel} ({wheel.stat().st_size / 1_000_000:.1f} MB)")
    package, models = map(str, built)
    print(f"Install both: pip install {shlex.quote(package)} {shlex.quote(models)}")
    more = shlex.quote(f"{package}[mcp,models]")
    print(f"With MCP and language models: pip install {more} {shlex.quote(models)}")


def build(folder: Path) -> list[Path]:
    """Build the wheels; earlier ones of the same names are replaced."""
    # What pip is told of the place of the models is not for wheels that go elsewhere.
    environment = {name: it for name, it in os.environ.items() if name != "PIP_BUILD_TRACKER"}
    made: list[Path] = []
    for name, package in PACKAGES.items():
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        done = subprocess.run(
            command, cwd=package, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{name} could not be built:\n{done.stdout}{done.stderr}")
        wheels = folder.glob(f"{name}-*.whl")
        made.append(max(wheels, key=lambda it: it.stat().st_mtime_ns))
    return made


if __name__ == "__main__":
    main()
