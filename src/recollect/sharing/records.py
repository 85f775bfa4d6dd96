"""Shared records: who may propose, decide and change, and access to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from recollect.domain.fields import RecordFields, revised
from recollect.domain.filters import Filter
from recollect.domain.page import Page
from recollect.domain.record import Record, Status
from recollect.domain.scope import Caller, Role
from recollect.domain.sharing import (
    COORDINATOR,
    EVERYBODY,
    PERSON,
    Party,
    SharedType,
    role_named,
    shared_type,
)
from recollect.errors import NotAllowed, NotFound
from recollect.ports.runtime import Clock
from recollect.recall.listing import Listing
from recollect.writing.saver import Saver, require_version

# --- Roles in sharing: who may propose, decide and change -----------------------------------------


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
                f"{caller.scope.actor} may not decide on shared memory in {caller.scope.workspace}",
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


# --- Shared records: who may propose, decide and change, and access to them -----------------------


@dataclass(eq=False)
class SharedRecords:
    """The approved records of a workspace and of the user in it."""

    _listing: Listing
    _parties: Parties
    _saver: Saver
    _clock: Clock

    async def list(
        self, caller: Caller, *, type: str | None, limit: int, cursor: str | None
    ) -> Page[Record]:
        """Return what is shared with the caller, newest first."""
        types = frozenset[str]() if type is None else frozenset({shared_type(type).name})
        where = Filter(categories=types)
        return await self._listing.records(caller.shared, where, limit=limit, cursor=cursor)

    async def get(self, caller: Caller, record_id: str) -> Record:
        """Return one shared record."""
        record = await self._listing.get(caller, record_id)
        if not record.scope.is_shared:
            raise NotFound(f"{record_id} is not shared", hint="shared.list shows what is.")
        return record

    async def update(
        self,
        caller: Caller,
        record_id: str,
        content: str | None,
        fields: RecordFields,
        *,
        expected_version: int | None,
        reason: str,
    ) -> Record:
        """Change a shared record; the previous version stays in its history."""

        def change(record: Record) -> Record:
            require_version(record, expected_version)
            now = self._clock.now()
            after = revised(record, content, fields, now)
            # A change made now is newer than any pending proposal.
            return after if after is record else after.evolve(last_confirmed=now)

        return await self._revise(
            caller, record_id, change, reason, once=expected_version is not None
        )

    async def delete(
        self, caller: Caller, record_id: str, *, expected_version: int | None, reason: str
    ) -> Record:
        """Hide a shared record from everybody; its history stays."""

        def change(record: Record) -> Record:
            require_version(record, expected_version)
            return record.evolve(
                status=Status.DELETED, version=record.version + 1, updated_at=self._clock.now()
            )

        return await self._revise(
            caller, record_id, change, reason, once=expected_version is not None
        )

    async def _revise(
        self,
        caller: Caller,
        record_id: str,
        change: Callable[[Record], Record],
        reason: str,
        *,
        once: bool = False,
    ) -> Record:
        return await self._saver.renew(
            caller,
            record_id,
            change,
            find=lambda: self.get(caller, record_id),
            require=lambda before, _: self._parties.require_change(caller, before),
            reason=reason,
            once=once,
        )
