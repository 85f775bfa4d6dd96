"""Settings → who is who when something is shared."""

from __future__ import annotations

from recollect.settings import Settings
from recollect.sharing.parties import Parties


def parties_of(settings: Settings) -> Parties:
    """The roles of the agents and the coordinators of the workspaces."""
    return Parties(
        lambda name: settings.agent(name).role,
        {name: workspace.coordinator for name, workspace in settings.workspaces.items()},
    )
