"""Import libraries that would report their use to their makers, with that turned off.

Recollect never calls home, and neither does what it loads: every import of such a library goes
through here.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import Final

# Read once, when the library is first loaded: turning it off later is too late. Processes that we
# start inherit it.
_SILENCE: Final = {
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime
    "HF_HUB_DISABLE_TELEMETRY": "1",  # huggingface_hub, in fastembed and sentence-transformers
}


def import_quietly(library: str) -> ModuleType:
    """Return the imported library, its telemetry turned off."""
    os.environ.update(_SILENCE)
    return importlib.import_module(library)
