"""Settings → the roles of agents in sharing."""

from __future__ import annotations

from recollect.settings import Settings
from recollect.sharing.parties import Parties


def parties_of(settings: Settings) -> Parties:
    """Return the roles of the agents and the coordinators of the workspaces."""
    return Parties(
        lambda name: settings.agent(name).role,
        {name: workspace.coordinator for name, workspace in settings.workspaces.items()},
    )
