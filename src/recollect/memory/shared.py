"""`memory.shared`: shared records, and proposals to share something."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.domain.fields import RecordFields
from recollect.domain.operation import Operation
from recollect.domain.page import Page
from recollect.domain.record import Record
from recollect.domain.scope import Caller, Role
from recollect.domain.sharing import Proposal

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring


class SharedMemory:
    """What all agents of a workspace share: proposed by one, approved by its coordinator.

    Types and who may propose them: project-context (coordinator), adr (architect), convention
    (reviewer), known-issue (tester), preference (anybody; it stays bound to its user). Everybody in
    the workspace recalls what was approved. A call without an agent is made by a person, who may
    propose and decide everything.
    """

    def __init__(self, parts: Wiring, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller

    @Operation(
        "POST",
        "/v1/proposals",
        "propose",
        Role.WRITER,
        command="share propose",
        tool="memory_propose",
    )
    async def propose(
        self,
        content: str,
        type: str | None = None,
        *,
        title: str = "",
        reason: str = "",
        tags: Iterable[str] | None = None,
        confidence: float = 1.0,
        target: str | None = None,
    ) -> Proposal:
        """Propose to share something, or with `target` to change that shared record."""
        return await self._parts.sharing.proposals.propose(
            self._caller,
            content,
            type,
            title=title,
            reason=reason,
            tags=tags,
            confidence=confidence,
            target=target,
        )

    @Operation("GET", "/v1/proposals", "list_proposals", Role.READER, command="share proposals")
    async def proposals(
        self,
        status: str | None = "pending",
        *,
        type: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Proposal]:
        """Return proposals, newest first: the coordinator sees all, others their own."""
        return await self._parts.sharing.proposals.find(
            self._caller, status=status, type=type, limit=limit, cursor=cursor
        )

    @Operation(
        "GET", "/v1/proposals/{proposal_id}", "get_proposal", Role.READER, command="share show"
    )
    async def proposal(self, proposal_id: str) -> Proposal:
        """Return one proposal."""
        return await self._parts.sharing.proposals.get(self._caller, proposal_id)

    @Operation(
        "POST",
        "/v1/proposals/{proposal_id}/approve",
        "approve_proposal",
        Role.COORDINATOR,
        command="share approve",
    )
    async def approve(
        self,
        proposal_id: str,
        content: str | None = None,
        *,
        title: str | None = None,
        reason: str = "",
    ) -> Proposal:
        """Approve a proposal, optionally reworded; for the coordinator.

        The result's `record` is the shared record. Of two records about the same thing the newer
        one wins, or the more confident one if they were made together; the other becomes a version
        in its history.
        """
        return await self._parts.sharing.proposals.approve(
            self._caller, proposal_id, content=content, title=title, reason=reason
        )

    @Operation(
        "POST",
        "/v1/proposals/{proposal_id}/reject",
        "reject_proposal",
        Role.COORDINATOR,
        command="share reject",
    )
    async def reject(self, proposal_id: str, reason: str) -> Proposal:
        """Reject a proposal with a reason; for the coordinator."""
        return await self._parts.sharing.proposals.reject(self._caller, proposal_id, reason)

    @Operation(
        "POST",
        "/v1/proposals/{proposal_id}/reopen",
        "reopen_proposal",
        Role.COORDINATOR,
        command="share reopen",
    )
    async def reopen(
        self, proposal_id: str, reason: str = "", *, decided_at: datetime | None = None
    ) -> Proposal:
        """Take back an approval or a rejection, so that the proposal waits again.

        What approving it changed is as it was before. It is refused if that was changed since, or
        if the decision is not the one of `decided_at`.
        """
        return await self._parts.sharing.proposals.reopen(
            self._caller, proposal_id, reason, decided_at
        )

    @Operation(
        "POST",
        "/v1/proposals/{proposal_id}/withdraw",
        "withdraw_proposal",
        Role.WRITER,
        command="share withdraw",
    )
    async def withdraw(self, proposal_id: str, reason: str = "") -> Proposal:
        """Withdraw one's own proposal."""
        return await self._parts.sharing.proposals.withdraw(self._caller, proposal_id, reason)

    @Operation("GET", "/v1/shared", "list_shared", Role.READER, command="share list")
    async def list(
        self, *, type: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[Record]:
        """Return a page of shared records, newest first."""
        return await self._parts.sharing.records.list(
            self._caller, type=type, limit=limit, cursor=cursor
        )

    @Operation("GET", "/v1/shared/{record_id}", "get_shared", Role.READER, command="share show")
    async def get(self, record_id: str) -> Record:
        """Return one shared record."""
        return await self._parts.sharing.records.get(self._caller, record_id)

    @Operation(
        "PATCH", "/v1/shared/{record_id}", "change_shared", Role.WRITER, command="share edit"
    )
    async def update(
        self,
        record_id: str,
        content: str | None = None,
        *,
        title: str | None = None,
        tags: Iterable[str] | None = None,
        confidence: float | None = None,
        expected_version: int | None = None,
        reason: str = "",
    ) -> Record:
        """Change a shared record at once; for its creator and the coordinator."""
        fields = RecordFields()
        if title is not None:
            fields["title"] = title
        if tags is not None:
            fields["tags"] = tags
        if confidence is not None:
            fields["confidence"] = confidence
        return await self._parts.sharing.records.update(
            self._caller,
            record_id,
            content,
            fields,
            expected_version=expected_version,
            reason=reason,
        )

    @Operation(
        "DELETE", "/v1/shared/{record_id}", "delete_shared", Role.WRITER, command="share delete"
    )
    async def delete(
        self, record_id: str, *, expected_version: int | None = None, reason: str = ""
    ) -> Record:
        """Hide a shared record from everybody; for its creator and the coordinator."""
        return await self._parts.sharing.records.delete(
            self._caller, record_id, expected_version=expected_version, reason=reason
        )

    @Operation(
        "POST",
        "/v1/shared/{record_id}/undo",
        "undo_shared",
        Role.WRITER,
        in_query=("expected_version", "reason"),
        command="share undo",
    )
    async def undo(
        self, record_id: str, *, expected_version: int | None = None, reason: str = ""
    ) -> Record:
        """Revert the last change of a shared record, including a deletion.

        For its creator and the coordinator. With `expected_version`, only if the record is still at
        that version.
        """
        return await self._parts.versions.undo(
            self._caller,
            record_id,
            expected_version=expected_version,
            reason=reason,
            is_shared=True,
        )
