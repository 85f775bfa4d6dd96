"""Audit entries of administrators' actions on keys and agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from recollect.domain.audit import NewAuditEntry
from recollect.domain.change import ChangeSet
from recollect.domain.scope import Caller, Scope
from recollect.ports.store import Store

CREATE_KEY: Final = "create_key"
REVOKE_KEY: Final = "revoke_key"
SET_AGENT: Final = "set_agent"
RESET_AGENT: Final = "reset_agent"


async def audit_administration(
    store: Store, caller: Caller, action: str, target: str, payload: Mapping[str, Any]
) -> None:
    """Record who did what to which key or agent, in the caller's workspace."""
    scope = Scope(org=caller.scope.org, workspace=caller.scope.workspace)
    entry = NewAuditEntry(scope=scope, action=action, target=target, payload=payload)
    await store.commit(ChangeSet(principal=caller.principal, scope=scope, audit=(entry,)))
