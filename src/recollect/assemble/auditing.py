"""The parts of the audit, wired."""

from __future__ import annotations

from recollect.backends.audit_anchor import AnchorFile, anchor_of
from recollect.backends.sql.audit_log import SqlAudit
from recollect.backends.sql.database import Database
from recollect.backends.sql.jobs import SqlJobs
from recollect.lifecycle.auditing import Sealer, Verifier
from recollect.lifecycle.replaying import Replayer
from recollect.lifecycle.trail import Trail
from recollect.lifecycle.usage import Usage
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.recall.cache import CachedRecaller


def trail_of(
    database: Database, clock: Clock, store: Store, recaller: CachedRecaller, usage: Usage
) -> Trail:
    """The audit that lies in a database, and its anchor beside it."""
    log, anchor = SqlAudit(database), AnchorFile(anchor_of(database.path))
    return Trail(
        log=log,
        sealer=Sealer(log, anchor, SqlJobs(database, clock)),
        verifier=Verifier(log, anchor),
        replayer=Replayer(log, recaller, store, clock),
        usage=usage,
    )
