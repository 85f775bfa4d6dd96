"""The form that a model fills in to rewrite a question; imported only when one is asked."""

from __future__ import annotations

from pydantic import BaseModel, Field


class SearchPlan(BaseModel):
    """Other ways to ask, and a text that could answer."""

    queries: list[str] = Field(
        default=[], description="short queries in other words, the last in another language"
    )
    passage: str = Field(default="", description="two or three sentences that could answer")
