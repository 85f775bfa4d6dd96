"""Settings → the audit service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from recollect.assemble.parties import parties_of
from recollect.backends.audit_anchor import AnchorFile, anchor_of
from recollect.backends.sql.database import Database
from recollect.backends.sql.jobs import SqlJobs
from recollect.domain.placement import Holding
from recollect.domain.scope import Caller, Scope
from recollect.lifecycle.audit_integrity import Sealer, Verifier
from recollect.lifecycle.audit_trail import AuditService
from recollect.lifecycle.prompt_replay import Replayer
from recollect.lifecycle.usage import Usage
from recollect.ports.audit import AuditLog
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.recall.cache import CachedRecaller
from recollect.settings import Settings


def trail_of(
    settings: Settings,
    log: AuditLog,
    holding: Holding[AuditLog],
    database: Database,
    clock: Clock,
    store: Store,
    recaller: CachedRecaller,
    usage: Usage,
    collections: Callable[[Caller], Awaitable[Sequence[Scope]]] | None = None,
) -> AuditService:
    """Return the audit service of a database, with its anchor file."""
    anchor = AnchorFile(anchor_of(database.path))
    return AuditService(
        holding=holding,
        sealer=Sealer(log, anchor, SqlJobs(database, clock)),
        verifier=Verifier(log, anchor),
        replayer=Replayer(holding, recaller, store, clock),
        usage=usage,
        parties=parties_of(settings),
        collections=collections,
    )
