"""Settings of writing: what of a conversation becomes memory, and how it is compared."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from recollect.domain.write import RedactMode, WritePolicy
from recollect.settings.sections import Section
from recollect.settings.working import Count, Size


class WritingSettings(Section):
    """The steps `route → redact → extract → ground → reconcile → store → audit`."""

    policy: WritePolicy = Field(
        default="auto",
        description="what of a conversation becomes memory; agents may differ",
    )
    route: Literal["auto", "rules"] = Field(
        default="auto", description="auto = also ask the classify model, if there is one"
    )
    redact: RedactMode = Field(
        default="off", description="personal data and secrets: keep, mask, or do not store"
    )
    extract: Literal["auto", "rules", "off"] = Field(
        default="auto", description="auto = the extract model, if there is one, then rules"
    )
    every: Size = Field(
        default=10, description="turns after which extraction reads a session; 0 = only at its end"
    )
    idle_minutes: Annotated[float, Field(ge=0)] = Field(
        default=5,
        description="inactivity after which the rest of a session is read; 0 = never",
    )
    ground: bool = Field(
        default=True, description="false = also store what its source does not support"
    )
    reconcile: bool = Field(
        default=True, description="false = store everything without comparing it"
    )
    judge: Literal["auto", "local", "rules"] = Field(
        default="auto",
        description="who decides how a statement relates to stored ones: the classify model if "
        "there is one, then the local model; the local model; only what is certain",
    )
    candidates: Annotated[int, Field(ge=1, le=100)] = Field(
        default=5,
        description="stored records that a new one is compared with, by words and by vectors",
    )
    episode_after: Count = Field(
        default=4, description="minimum user turns for an ended session to be stored as an episode"
    )
