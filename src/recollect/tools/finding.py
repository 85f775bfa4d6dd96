"""The tools that look things up. What they show counts as recalled."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from recollect.context.archive_passages import select_passages
from recollect.domain.filters import Filter, make_filter
from recollect.domain.hit import ArchivePassage, Hit, Item, Recalled
from recollect.domain.ids import new_id
from recollect.domain.injection import GivenItem, Injection
from recollect.domain.memory_tools import ToolName
from recollect.domain.record import Kind, Procedure, Record
from recollect.domain.turn import Turn
from recollect.domain.views import Json
from recollect.text.ago import ago
from recollect.text.passages import PASSAGE_SIZE
from recollect.text.tokens import EstimatedTokens
from recollect.tools.arguments import (
    LoadToolHistory,
    RecallMemory,
    RouteMessage,
    SearchKnowledge,
    SearchMemory,
)
from recollect.tools.desk import Desk
from recollect.tools.metadata import metadata_of
from recollect.writing.route import route as by_rules

# A result stays short: of a text longer than a passage only what the question is about is shown.
_TOKENS_OF_LONG: Final = 400


async def recall(desk: Desk, asked: RecallMemory) -> list[Json]:
    """The memories about a question, each with its age."""
    where = make_filter(category=asked.type)
    found = await _found(desk, "memory_recall", asked.query, where, limit=asked.limit)
    now = desk.parts.clock.now()
    return [
        {
            "id": hit.id,
            "type": _type(hit.item),
            "name": _name(hit.item),
            "content": _shown(hit, asked.query),
            "score": _score(hit),
            "age": ago(_at(hit.item), now, desk.language),
        }
        for hit in found
    ]


async def search(desk: Desk, asked: SearchMemory) -> list[Json]:
    """The memories about a question, each with its metadata."""
    found = await _found(
        desk,
        "memory_search",
        asked.query,
        Filter(),
        limit=asked.top_k,
        min_score=asked.min_score,
        namespace=asked.namespace,
    )
    return [
        {
            "id": hit.id,
            "content": _shown(hit, asked.query),
            "metadata": metadata_of(hit.item),
            "score": _score(hit),
        }
        for hit in found
    ]


async def search_knowledge(desk: Desk, asked: SearchKnowledge) -> list[Json]:
    """The passages of archived texts about a question, each with where it comes from."""
    found = await _found(
        desk,
        "knowledge_search",
        asked.query,
        Filter(owners=frozenset({"archive"})),
        limit=asked.top_k,
        min_score=asked.min_score,
    )
    now = desk.parts.clock.now()
    return [
        {
            "id": hit.id,
            "source": _name(hit.item),
            "content": hit.content,
            "score": _score(hit),
            "age": ago(_at(hit.item), now, desk.language),
        }
        for hit in found
    ]


async def route(desk: Desk, asked: RouteMessage) -> Json:
    """Whether a message should be answered with memory, and whether it should become some."""
    policy = None if asked.policy == "default" else asked.policy
    judged = await desk.parts.writing.route(desk.caller, asked.message, policy)
    if asked.context and not judged.should_read:
        # A short answer needs what the question before it needs; it is written for itself only.
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
    }


async def load_tool_history(desk: Desk, asked: LoadToolHistory) -> str:
    """An archived tool result: whole, what a query is about, or a range of it."""
    return await desk.memory.load_tool_history(asked.uuid, asked.query, asked.range)


async def _found(
    desk: Desk,
    tool: ToolName,
    query: str,
    where: Filter,
    *,
    limit: int,
    min_score: float | None = None,
    namespace: str | None = None,
) -> Recalled:
    """What is remembered; it enters the prompt with the tool's result, so it is counted and kept
    in the audit."""
    caller = desk.caller
    scopes = caller.readable if namespace is None else (caller.namespace(namespace),)
    found = await desk.parts.recaller.recall(
        query, scopes, where, limit=limit, min_score=min_score, asked_at=None
    )
    desk.entered(hit.item for hit in found)
    desk.parts.usage.injected(
        Injection(
            recall_id=new_id("recall"),
            scope=caller.scope,
            actor=caller.principal,
            at=desk.parts.clock.now(),
            question=query,
            scopes=scopes,
            where=where,
            limit=limit,
            min_score=min_score,
            asked_at=None,
            items=tuple(map(GivenItem.of, found)),
            form=tool,
            session=desk.session,
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
            return "archive"


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
    # An event is as old as it is; what is known is as fresh as its last confirmation.
    return item.observed_at if item.kind is Kind.EPISODIC else item.last_confirmed


def _score(hit: Hit) -> float:
    return round(hit.score, 3)


def _shown(hit: Hit, query: str) -> str:
    text = hit.content
    if len(text) > PASSAGE_SIZE:
        chosen = select_passages(text, query, EstimatedTokens(), _TOKENS_OF_LONG)
        text = "".join(f"{text[start:end].strip()} … " for start, end in chosen.spans).strip()
    details = hit.item.details if isinstance(hit.item, Record) else None
    if isinstance(details, Procedure) and details.steps:
        text += "\n" + " → ".join(details.steps)
    return text
