"""Settings of the optional reranker."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from recollect.settings.sections import Section, Share


class RerankSettings(Section):
    """The model that reads the best candidates together with the question, if any."""

    model: str = Field(
        default="", description="empty = none; folder:PATH; cohere:NAME; endpoint:NAME; tei:NAME"
    )
    base_url: str = ""
    api_key: str = Field(default="", repr=False)
    longest: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="maximum tokens of a question and a text together"
    )
    batch_size: Annotated[int, Field(ge=1)] | None = None
    timeout: Annotated[float, Field(gt=0)] = 10.0
    retries: Annotated[int, Field(ge=0)] = 1
    candidates: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=50, description="number of best candidates to rerank"
    )
    weight: Share = Field(
        default=0.5, description="weight of its scores compared with those of the search paths"
    )
