"""The tools that search. What they return counts as recalled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, TypedDict

from recollect.context.archives.passages import select_passages
from recollect.domain.document import Passage
from recollect.domain.filters import Filter, make_filter
from recollect.domain.hit import ArchivePassage, Hit, Item, Recalled
from recollect.domain.ids import new_id
from recollect.domain.injection import GivenItem, Injection
from recollect.domain.memory_tools import ToolName
from recollect.domain.record import Kind, Procedure, Record
from recollect.domain.turn import Turn
from recollect.domain.unit import ARCHIVE
from recollect.domain.views import Json
from recollect.language.intent import route as by_rules
from recollect.language.sentences import PASSAGE_SIZE
from recollect.language.times.mentions import ago
from recollect.language.token_estimate import EstimatedTokens
from recollect.tools.arguments import (
    LoadToolHistory,
    RecallMemory,
    RouteMessage,
    SearchKnowledge,
    SearchMemory,
)
from recollect.tools.metadata import metadata_of
from recollect.tools.tool_context import ToolContext

# Results stay short: of a text longer than a passage, only the relevant parts are returned.
_LONG_TEXT_TOKENS: Final = 400


async def recall(context: ToolContext, asked: RecallMemory) -> list[Json]:
    """Return the records and turns about a query, each with its age."""
    where = make_filter(category=asked.type)
    limit = asked.limit if "limit" in asked.model_fields_set else int(context.defaults["limit"])
    found = await _recall_audited(context, "memory_recall", asked.query, where, limit=limit)
    now = context.parts.clock.now()
    return [
        {
            "id": hit.id,
            "type": _type(hit.item),
            "name": _name(hit.item),
            "content": _shown(hit, asked.query),
            "score": _score(hit),
            "age": ago(_at(hit.item), now, context.language),
        }
        for hit in found
    ]


async def search(context: ToolContext, asked: SearchMemory) -> list[Json]:
    """Return the records and turns about a query, each with its metadata."""
    found = await _recall_audited(
        context,
        "memory_search",
        asked.query,
        context.places.filter(asked.namespace),
        namespace=asked.namespace,
        **_limits(context, asked),
    )
    return [
        {
            "id": hit.id,
            "content": _shown(hit, asked.query),
            "metadata": metadata_of(hit.item, context.places),
            "score": _score(hit),
        }
        for hit in found
    ]


async def search_knowledge(context: ToolContext, asked: SearchKnowledge) -> list[Json]:
    """Return the passages of documents and archives about a query, with their sources."""
    wanted = _limits(context, asked)
    documents = await _documents(context, asked.query, wanted["limit"], wanted["min_score"])
    found = await _recall_audited(
        context,
        "knowledge_search",
        asked.query,
        Filter(owners=frozenset({ARCHIVE})),
        documents=documents,
        **wanted,
    )
    now = context.parts.clock.now()
    archived: list[Json] = [
        {
            "id": hit.id,
            "kind": ARCHIVE,
            "source": _name(hit.item),
            "content": hit.content,
            "score": _score(hit),
            "age": ago(_at(hit.item), now, context.language),
        }
        for hit in found
    ]
    everything = [*map(_cited, documents), *archived]
    return sorted(everything, key=lambda found: -found["score"])[: wanted["limit"]]


async def _documents(
    context: ToolContext, query: str, limit: int, min_score: float
) -> Sequence[Passage]:
    base = context.parts.knowledge
    scopes = await base.scopes(context.caller)
    return await base.retriever.search(scopes, query, limit=limit, min_score=min_score)


def _cited(passage: Passage) -> Json:
    citation = passage.citation
    return {
        "id": citation.document,
        "kind": "document",
        "source": citation.label,
        "content": passage.content,
        "score": round(passage.score, 3),
        "place": {"page": citation.page, "start": citation.start, "end": citation.end},
    }


async def route(context: ToolContext, asked: RouteMessage) -> Json:
    """Return whether to recall memory for a message, and whether and where to store it."""
    policy = None if asked.policy == "default" else asked.policy
    judged = await context.parts.writing.route(context.caller, asked.message, policy)
    if asked.context and not judged.should_read:
        # A short reply needs the same memory as the question before it, but is stored by itself.
        together = by_rules(f"{asked.context}\n{asked.message}", policy="off")
        judged = replace(
            judged,
            should_read=together.should_read,
            namespaces=judged.namespaces or together.namespaces,
            reason=judged.reason or together.reason,
        )
    return {
        "should_read": judged.should_read,
        "should_write": judged.should_write,
        "namespaces": list(judged.namespaces),
        "reason": judged.reason,
        **({"degraded": judged.degraded} if judged.degraded else {}),
    }


async def load_tool_history(context: ToolContext, asked: LoadToolHistory) -> str:
    """Return an archived tool result: all of it, the passages about a query, or a range."""
    return await context.memory.load_tool_history(asked.uuid, asked.query, asked.range)


class _Limits(TypedDict):
    limit: int
    min_score: float


def _limits(context: ToolContext, asked: SearchMemory | SearchKnowledge) -> _Limits:
    """Return the limit and the minimum score: the model's, else those of the settings."""
    given = asked.model_fields_set
    usual = context.defaults
    return {
        "limit": asked.top_k if "top_k" in given else int(usual["top_k"]),
        "min_score": asked.min_score if "min_score" in given else usual["min_score"],
    }


async def _recall_audited(
    context: ToolContext,
    tool: ToolName,
    query: str,
    where: Filter,
    *,
    limit: int,
    min_score: float | None = None,
    namespace: str | None = None,
    documents: Sequence[Passage] = (),
) -> Recalled:
    """Recall, count the hits and audit them, since the tool's result enters the prompt."""
    caller = context.caller
    scopes = context.places.readable(namespace)
    found = await context.parts.recaller.recall(
        query, scopes, where, limit=limit, min_score=min_score, asked_at=None
    )
    context.entered(hit.item for hit in found)
    context.parts.usage.injected(
        Injection(
            recall_id=new_id("recall"),
            scope=caller.scope,
            actor=caller.principal,
            at=context.parts.clock.now(),
            question=query,
            scopes=scopes,
            where=where,
            limit=limit,
            min_score=min_score,
            asked_at=None,
            items=(*map(GivenItem.of, found), *map(GivenItem.of_passage, documents)),
            form=tool,
            session=context.session,
        )
    )
    return found


def _type(item: Item) -> str:
    match item:
        case Record():
            return item.category
        case Turn():
            return "turn"
        case ArchivePassage():
            return ARCHIVE


def _name(item: Item) -> str:
    match item:
        case Record():
            return item.title
        case Turn():
            return item.speaker or item.role
        case ArchivePassage():
            return item.tool


def _at(item: Item) -> datetime:
    if isinstance(item, Turn):
        return item.at
    if isinstance(item, ArchivePassage):
        return item.created_at
    # The age of an event counts from when it happened, that of a fact from its last confirmation.
    return item.observed_at if item.kind is Kind.EPISODIC else item.last_confirmed


def _score(hit: Hit) -> float:
    return round(hit.score, 3)


def _shown(hit: Hit, query: str) -> str:
    text = hit.content
    if len(text) > PASSAGE_SIZE:
        chosen = select_passages(text, query, EstimatedTokens(), _LONG_TEXT_TOKENS)
        text = "".join(f"{text[start:end].strip()} … " for start, end in chosen.spans).strip()
    details = hit.item.details if isinstance(hit.item, Record) else None
    if isinstance(details, Procedure) and details.steps:
        text += "\n" + " → ".join(details.steps)
    return text
