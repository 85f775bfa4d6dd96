"""Who somebody is when something is shared, and what that lets them do."""

from __future__ import annotations

from collections.abc import Mapping

from recollect.domain.record import Record
from recollect.domain.scope import Caller
from recollect.domain.sharing import COORDINATOR, EVERYBODY, PERSON, Party, SharedType, role_named
from recollect.errors import NotAllowed


class Parties:
    """Knows the roles of agents and the coordinator of each workspace.

    A person, who calls without an agent, may propose everything and decide everywhere.
    """

    def __init__(self, roles: Mapping[str, str], coordinators: Mapping[str, str]) -> None:
        self._roles = {agent: role_named(role) for agent, role in roles.items()}
        self._coordinators = coordinators

    def of(self, caller: Caller) -> Party:
        """The caller as a party."""
        scope = caller.scope
        role = PERSON if scope.agent is None else self._roles.get(scope.agent, "")
        return Party(name=scope.actor, role=role, user=scope.user)

    def is_coordinator(self, caller: Caller) -> bool:
        """Whether the caller decides here: a person, or the one agent that is named for it."""
        agent = caller.scope.agent
        if agent is None:
            return True
        named = self._coordinators.get(caller.scope.workspace, "")
        return agent == named if named else self._roles.get(agent) == COORDINATOR

    def require_coordinator(self, caller: Caller) -> None:
        if not self.is_coordinator(caller):
            raise NotAllowed(
                f"{caller.scope.actor} does not decide what is shared in {caller.scope.workspace}",
                code="not_coordinator",
                hint="The workspace's coordinator decides, or a person: a call without an agent.",
            )

    def require_writer(self, caller: Caller, shared: SharedType) -> None:
        """Refuse a type that another role writes."""
        party = self.of(caller)
        if shared.writer == COORDINATOR:
            is_writer = self.is_coordinator(caller)
        else:
            is_writer = shared.writer in (party.role, EVERYBODY)
        if not party.is_person and not is_writer:
            raise NotAllowed(
                f"{party.name} ({party.role or 'no role'}) may not propose: {shared.name}",
                code="wrong_role",
                hint=f"That is for the {shared.writer}; agents.{party.name}.role gives a role.",
            )

    def require_change(self, caller: Caller, record: Record) -> None:
        """Refuse a change of a shared record by anybody but its creator and the coordinator."""
        if not self.of(caller).has_written(record) and not self.is_coordinator(caller):
            raise NotAllowed(
                f"{caller.scope.actor} has not created {record.id}",
                code="not_creator",
                hint="Its creator and the coordinator change it; others propose a change of it.",
            )
