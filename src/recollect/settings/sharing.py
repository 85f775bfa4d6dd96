"""Settings of what agents share: who decides on it, and what needs nobody to decide."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from recollect.domain.sharing import SHARED_TYPES, shared_type
from recollect.errors import InvalidInput
from recollect.settings.sections import Days, Section, Share


def _known_type(name: str) -> str:
    try:
        return shared_type(name).name
    except InvalidInput:
        raise ValueError(f"is none of: {', '.join(SHARED_TYPES)}") from None


class WorkspaceSettings(Section):
    """What is special about one workspace."""

    coordinator: str = Field(
        default="",
        description="the agent that decides on proposals, or person; empty = whichever agent has "
        "the role coordinator. A person always may",
    )


class SharingSettings(Section):
    """How proposals become shared memory."""

    auto_approve: tuple[Annotated[str, AfterValidator(_known_type)], ...] = Field(
        default=(), description="types whose proposals need nobody's approval"
    )
    auto_confidence: Share = Field(
        default=0.8, description="less certain proposals of these types wait all the same"
    )
    proposal_days: Days = Field(
        default=14, description="how long a proposal waits before it expires"
    )
