"""The form that a language model fills in to summarise; imported only when one is asked."""

from __future__ import annotations

from pydantic import BaseModel, Field


class SummaryForm(BaseModel):
    """What a conversation came to. Each entry is one short, self-contained sentence."""

    topics: list[str] = Field(default_factory=list, description="what was talked about")
    decisions: list[str] = Field(default_factory=list, description="what was decided, and why")
    conclusions: list[str] = Field(default_factory=list, description="what was found out")
    todos: list[str] = Field(default_factory=list, description="who still has to do what by when")
    agreements: list[str] = Field(default_factory=list, description="what holds from now on")
    open_questions: list[str] = Field(default_factory=list, description="what is not settled")
    facts: list[str] = Field(
        default_factory=list, description="numbers, names and identifiers that will be needed"
    )
