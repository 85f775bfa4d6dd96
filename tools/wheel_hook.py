"""What hatchling does besides when it builds the wheel of `recollect`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_CONSOLE = Path("src", "recollect", "server", "console_files", "index.html")
_MODELS = Path("packages", "recollect-embedder")


class CustomBuildHook(BuildHookInterface[Any]):
    """Refuses a wheel without the console, and finds the models for `pip install .` in a clone."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if version == "standard" and not (root / _CONSOLE).is_file():
            raise SystemExit(
                f"{_CONSOLE} is missing, so this wheel would have no console. "
                "Build it with `make console`, or bring it back with `git checkout`."
            )
        # Only pip says that it is building, and only what pip installs from here stays here. Other
        # wheels (`make dist`) name the package of the models, wherever it is then found.
        if "PIP_BUILD_TRACKER" in os.environ and (root / _MODELS).is_dir():
            place = f"{_MODELS.name} @ {(root / _MODELS).resolve().as_uri()}"
            # In its own place: pip would look for the name first, and give up.
            needed = self.metadata.core.dependencies
            needed[:] = [place if it.startswith(_MODELS.name) else it for it in needed]
