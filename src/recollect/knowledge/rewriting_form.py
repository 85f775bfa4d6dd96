"""The form that a model fills in when a question is asked in other words."""

from __future__ import annotations

from pydantic import BaseModel, Field


class SearchPlan(BaseModel):
    """Other ways to ask, and a text that could answer."""

    queries: list[str] = Field(default=[], description="two short queries in other words")
    passage: str = Field(default="", description="two or three sentences that could answer")
