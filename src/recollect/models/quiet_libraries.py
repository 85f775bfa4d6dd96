"""Import libraries that have telemetry, with the telemetry turned off.

Recollect sends no telemetry, and neither do its libraries: every import of such a library goes
through here.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import Final

# The libraries read these variables once, when they are first imported. Processes that we start
# inherit them.
_NO_TELEMETRY: Final = {
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime
    "HF_HUB_DISABLE_TELEMETRY": "1",  # huggingface_hub, in fastembed and sentence-transformers
}


def import_quietly(library: str) -> ModuleType:
    """Return the imported library, its telemetry turned off."""
    os.environ.update(_NO_TELEMETRY)
    return importlib.import_module(library)
