"""The forms that a language model fills in; imported only when one is asked."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from recollect.domain.facets import facets
from recollect.domain.relation import Relation
from recollect.domain.write import Namespace

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
    """Something a turn says, with a quotation."""

    turn: int = Field(description="the number of the turn that says it")
    quote: str = Field(description="the words of that turn that say it, copied exactly")


class FoundStatement(_Quoted):
    """A fact, preference, decision or the like."""

    category: Category
    content: str = Field(description="one sentence that is understood on its own")
    about: Literal["identity", "health", "relationship", "instruction", "other"] = Field(
        default="other",
        description="identity, health or relationship of a person; an instruction that holds from "
        "now on; or other",
    )
    facet: str = Field(
        default="",
        description=f"the attribute it states, if it is one of: {', '.join(facets())}",
    )
    whom: str = Field(default="", description="whom it is about: user, other or thing")


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
    """What a conversation says that will matter later; often nothing."""

    statements: list[FoundStatement] = Field(default_factory=list[FoundStatement])
    events: list[FoundEvent] = Field(default_factory=list[FoundEvent])
    procedures: list[FoundProcedure] = Field(default_factory=list[FoundProcedure])


# --- The form in which a language model says how statements relate -----------------------------


class JudgedPair(BaseModel):
    """The relation of one stored statement to the new one."""

    number: int = Field(description="the number of the stored statement")
    relation: Relation
    probability: Annotated[float, Field(ge=0, le=1)] = Field(description="how sure you are")
    reason: str = Field(description="why, in a few words")


class JudgementForm(BaseModel):
    """One entry for every stored statement."""

    pairs: list[JudgedPair]


# --- The form a language model fills in to route a message; imported only when one is asked ----


class RouteForm(BaseModel):
    """What a message means for memory."""

    should_read: bool
    should_write: bool
    namespaces: list[Namespace] = Field(default_factory=list[Namespace], max_length=4)


# --- The form that a language model fills in to summarise; imported only when one is asked --------


class SummaryForm(BaseModel):
    """What a conversation came to. Each entry is one short, self-contained sentence."""

    topics: list[str] = Field(default_factory=list, description="what was talked about")
    decisions: list[str] = Field(default_factory=list, description="what was decided, and why")
    conclusions: list[str] = Field(default_factory=list, description="what was found out")
    todos: list[str] = Field(default_factory=list, description="who still has to do what by when")
    agreements: list[str] = Field(default_factory=list, description="what holds from now on")
    corrections: list[str] = Field(
        default_factory=list, description="what was said wrongly before, as it is now"
    )
    open_questions: list[str] = Field(default_factory=list, description="what is not settled")
    facts: list[str] = Field(
        default_factory=list, description="numbers, names and identifiers that will be needed"
    )
