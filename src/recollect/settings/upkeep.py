"""Settings of upkeep: the short-term buffer, the lifecycle of records, and retention."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from recollect.domain.record import Kind
from recollect.domain.upkeep import RetentionAction
from recollect.settings.sections import MOST_DAYS, Days, Section
from recollect.settings.working import Count


class BufferSettings(Section):
    """Short-term records: the time to live of each class, and when one becomes long-term."""

    preference_days: Days = 7
    decision_days: Days = 7
    follow_up_days: Days = 3
    sentiment_days: Days = 1
    promote_at: Count = Field(
        default=3,
        description="sessions that recall a short-term record before it is long-term",
    )


class LifecycleSettings(Section):
    """How long expired records are kept, and how many active ones a scope may hold."""

    purge_after_days: Annotated[float, Field(ge=0, le=MOST_DAYS)] = Field(
        default=30, description="how long an expired record can be restored"
    )
    capacity: Count | None = Field(
        default=None,
        description="active records of a scope; the least valuable expire first",
    )


class RetentionRuleSettings(Section):
    """What to do with records that were not changed or confirmed for some time."""

    older_than_days: Days
    action: RetentionAction
    kind: Kind | None = None
    category: str | None = Field(default=None, description="also its aliases")
    org: str | None = None
    workspace: str | None = None
    agent: str | None = Field(default=None, description="empty = any, - = none")
    user: str | None = Field(default=None, description="empty = any, - = none")
