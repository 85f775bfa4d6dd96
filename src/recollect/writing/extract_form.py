"""The form that a language model fills in to extract; read only when one is asked."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

Category = Literal[
    "preference",
    "user",
    "feedback",
    "decision",
    "follow-up",
    "sentiment",
    "project",
    "domain-facts",
    "reference",
    "task-traces",
    "tool-effects",
]


class _Quoted(BaseModel):
    """Something that a turn says, with its own words."""

    turn: int = Field(description="the number of the turn that says it")
    quote: str = Field(description="the words of that turn that say it, copied exactly")


class FoundStatement(_Quoted):
    """A fact, a preference, a decision and the like."""

    category: Category
    content: str = Field(description="one sentence that is understood on its own")


class FoundEvent(_Quoted):
    """Something that happened."""

    content: str = Field(description="one sentence that is understood on its own")
    participants: list[str] = Field(default_factory=list)
    outcome: str = ""
    artifacts: list[str] = Field(default_factory=list, description="files, links, commits")


class FoundProcedure(_Quoted):
    """A way of working that the user wants."""

    name: str
    trigger: str = Field(default="", description="when it is to be used")
    steps: list[str] = Field(default_factory=list)


class ExtractionForm(BaseModel):
    """What a conversation says that will still matter later; often nothing."""

    statements: list[FoundStatement] = Field(default_factory=list[FoundStatement])
    events: list[FoundEvent] = Field(default_factory=list[FoundEvent])
    procedures: list[FoundProcedure] = Field(default_factory=list[FoundProcedure])
