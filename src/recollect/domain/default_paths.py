"""The folders that a user's programs usually keep things in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import platformdirs

from recollect.errors import SettingsError

_NAME: Final = "recollect"


def data_folder() -> Path:
    """Where memory is kept unless somebody says otherwise."""
    return _folder(platformdirs.user_data_dir)


def config_folder() -> Path:
    """Where the settings file is looked for unless somebody says otherwise."""
    return _folder(platformdirs.user_config_dir)


def cache_folder() -> Path:
    """Where that is kept which can be made again."""
    return _folder(platformdirs.user_cache_dir)


def _folder(usual: Callable[[str], str]) -> Path:
    try:
        return Path(usual(_NAME))
    except RuntimeError:
        # Seen in containers and services, whose user has no entry and no HOME.
        raise SettingsError(
            "This user has no home folder, which settings and memory are looked for in",
            code="no_home",
            hint="Set HOME to a folder that may be written to.",
        ) from None
