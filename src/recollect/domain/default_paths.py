"""The default folders for data, settings and caches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import platformdirs

from recollect.errors import SettingsError

_NAME: Final = "recollect"


def data_folder() -> Path:
    """Return the default folder for databases."""
    return _folder(platformdirs.user_data_dir)


def config_folder() -> Path:
    """Return the default folder of the settings file."""
    return _folder(platformdirs.user_config_dir)


def cache_folder() -> Path:
    """Return the default folder for files that can be recreated."""
    return _folder(platformdirs.user_cache_dir)


def _folder(user_folder: Callable[[str], str]) -> Path:
    try:
        return Path(user_folder(_NAME))
    except RuntimeError:
        # This happens in containers and services, whose user has no passwd entry and no HOME.
        raise SettingsError(
            "This user has no home folder, which settings and memory are looked for in",
            code="no_home",
            hint="Set HOME to a folder that may be written to.",
        ) from None
