"""Settings of shared memory: who decides on proposals, and which need no decision."""

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
    """The settings of one workspace."""

    coordinator: str = Field(
        default="",
        description="the agent that decides on proposals, or person; empty = whichever agent has "
        "the role coordinator. A person always may",
    )


class SharingSettings(Section):
    """How proposals become shared memory."""

    auto_approve: tuple[Annotated[str, AfterValidator(_known_type)], ...] = Field(
        default=(), description="types whose proposals are approved automatically"
    )
    auto_confidence: Share = Field(
        default=0.8, description="minimum confidence of a proposal for automatic approval"
    )
    proposal_days: Days = Field(
        default=14, description="how long a proposal waits before it expires"
    )
