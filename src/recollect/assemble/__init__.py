"""Where the parts meet: settings in, a wired memory out. Nothing else knows every part."""

from recollect.assemble.doctoring import diagnose, diagnose_settings
from recollect.assemble.embedding import (
    check_embedder,
    embedder_choice,
    embedder_in_use,
    fetch_model,
    lasting_choice,
    list_embedders,
    wanted_embedder,
)
from recollect.assemble.memory import assemble
from recollect.assemble.restoring import restore

__all__ = [
    "assemble",
    "check_embedder",
    "diagnose",
    "diagnose_settings",
    "embedder_choice",
    "embedder_in_use",
    "fetch_model",
    "lasting_choice",
    "list_embedders",
    "restore",
    "wanted_embedder",
]
