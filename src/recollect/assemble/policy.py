"""Settings → the write policy of each agent."""

from __future__ import annotations

from collections.abc import Callable

from recollect.domain.route import WritePolicy
from recollect.domain.scope import Caller
from recollect.settings import Settings


def policy_of(settings: Settings) -> Callable[[Caller], WritePolicy]:
    """Return a function that gives the write policy of a caller."""

    def policy(caller: Caller) -> WritePolicy:
        agent = settings.agents.get(caller.scope.agent or "")
        if agent is None:
            return settings.writing.policy
        return (agent.write_policy or settings.writing.policy) if agent.enabled else "off"

    return policy
