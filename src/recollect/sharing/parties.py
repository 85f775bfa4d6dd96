"""Roles in sharing: who may propose, decide and change."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from recollect.domain.record import Record
from recollect.domain.scope import Caller, Role
from recollect.domain.sharing import COORDINATOR, EVERYBODY, PERSON, Party, SharedType, role_named
from recollect.errors import NotAllowed


class Parties:
    """The roles of agents and the coordinator of each workspace.

    A person, who calls without an agent, may propose everything and decides if their role allows
    it; an agent decides only if it is the coordinator too.
    """

    def __init__(self, role_of: Callable[[str], str], coordinators: Mapping[str, str]) -> None:
        self._role_of = role_of
        self._coordinators = coordinators

    def of(self, caller: Caller) -> Party:
        """Return the caller as a party."""
        scope = caller.scope
        role = PERSON if scope.agent is None else role_named(self._role_of(scope.agent))
        return Party(name=scope.actor, role=role, user=scope.user)

    def is_coordinator(self, caller: Caller) -> bool:
        """Return whether the caller may decide here, by its role and, for an agent, by name."""
        agent = caller.scope.agent
        if not caller.role.includes(Role.COORDINATOR):
            return False
        if agent is None:
            return True
        named = self._coordinators.get(caller.scope.workspace, "")
        return agent == named if named else role_named(self._role_of(agent)) == COORDINATOR

    def sees_proposals_of(self, caller: Caller) -> Party | None:
        """Return whose proposals the caller sees; None means everybody's."""
        return None if self.is_coordinator(caller) else self.of(caller)

    def require_coordinator(self, caller: Caller) -> None:
        """Raise an error unless the caller decides here."""
        if not self.is_coordinator(caller):
            raise NotAllowed(
                f"{caller.scope.actor} may not decide on proposals in {caller.scope.workspace}",
                code="not_coordinator",
                hint="The workspace's coordinator decides, or a person whose key has that role.",
            )

    def require_writer(self, caller: Caller, shared: SharedType) -> None:
        """Raise an error if only another role may propose this type."""
        party = self.of(caller)
        if shared.writer == COORDINATOR:
            is_writer = self.is_coordinator(caller)
        else:
            is_writer = shared.writer in (party.role, EVERYBODY)
        if not party.is_person and not is_writer:
            raise NotAllowed(
                f"{party.name} ({party.role or 'no role'}) may not propose: {shared.name}",
                code="wrong_role",
                hint=f"Only the {shared.writer} may; set agents.{party.name}.role.",
            )

    def require_change(self, caller: Caller, record: Record) -> None:
        """Raise an error unless the caller created the record or coordinates."""
        if not self.of(caller).has_written(record) and not self.is_coordinator(caller):
            raise NotAllowed(
                f"{caller.scope.actor} did not create {record.id}",
                code="not_creator",
                hint="Its creator and the coordinator may change it; propose a change instead.",
            )
