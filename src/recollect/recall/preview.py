"""A preview of a prompt: the same search and block as for a prompt, told part by part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from recollect.domain.context import Reason
from recollect.domain.document import Passage
from recollect.domain.filters import Filter
from recollect.domain.hit import Hit, Recalled
from recollect.domain.injection import GivenItem
from recollect.domain.preview import ContextPreview, Fate, PartName, PromptItem, PromptPart
from recollect.domain.profile import Profile, ProfileLine
from recollect.domain.scope import Scope
from recollect.domain.sections import RecallSettings
from recollect.ports.language_model import TokenCounter
from recollect.recall.inject import Block
from recollect.recall.items import Item, passage_id

_NOTHING = Recalled(hits=())
# Why a line of the profile is not in it.
_HIDDEN = "hidden"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What bears on a message."""

    recalled: Recalled = _NOTHING
    documents: Sequence[Passage] = ()
    disputed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A block for a prompt, with what it was made of."""

    found: Found
    profile: Profile
    built: Block
    settings: RecallSettings
    scopes: tuple[Scope, ...]
    where: Filter
    # 0 if memory is disabled.
    limit: int
    clause_hits: int


def preview_of(
    made: Made, counter: TokenCounter, guide: str, *, document_tokens: int, profile_tokens: int
) -> ContextPreview:
    """Return the parts of a block with their tokens, and the fate of everything that was found."""
    recalled, settings = made.found.recalled, made.settings
    context = replace(made.built.context, place=settings.context_place, degraded=recalled.degraded)
    items = tuple(_items(made, counter))
    # The tokens of the parts do not add up to those of the whole, so the rest is what is recalled.
    documents = sum(it.tokens for it in items if it.part == "documents" and it.fate == "given")
    profile = made.profile.tokens
    texts = {"recalled": context.recalled, "documents": _texts(items, "documents")}
    parts = (
        PromptPart(name="profile", text=context.profile, tokens=profile, budget=profile_tokens),
        PromptPart(
            name="recalled",
            text=texts["recalled"],
            tokens=max(0, context.tokens - profile - documents),
            budget=settings.max_context_tokens,
        ),
        PromptPart(
            name="documents", text=texts["documents"], tokens=documents, budget=document_tokens
        ),
        PromptPart(name="guide", text=guide, tokens=counter.count(guide) if guide else 0),
    )
    return ContextPreview(
        context=context,
        parts=parts,
        items=items,
        budget=settings.max_context_tokens,
        as_of=made.where.as_of,
        intent=recalled.intent,
        intent_reason=recalled.intent_reason,
    )


def _texts(items: Sequence[PromptItem], part: PartName) -> str:
    return "\n".join(it.text for it in items if it.part == part and it.fate == "given")


def _items(made: Made, counter: TokenCounter) -> Iterator[PromptItem]:
    """Yield the lines of the profile, the items of the block, what is left out, the near misses."""
    profile, built = made.profile, made.built
    told: tuple[tuple[tuple[ProfileLine, ...], Fate, Reason | str], ...] = (
        (profile.lines, "given", ""),
        (profile.left_out, "left_out", Reason.BUDGET),
        (profile.hidden, "left_out", _HIDDEN),
    )
    for lines, fate, reason in told:
        for line in lines:
            yield PromptItem(
                id=line.id,
                part="profile",
                kind="semantic",
                fate=fate,
                text=line.text,
                tokens=counter.count(line.text),
                reason=reason,
                version=line.version,
                facet=line.facet,
            )
    hits = {hit.id: hit for hit in made.found.recalled}
    passages = {passage_id(passage): passage for passage in made.found.documents}
    in_profile = {line.id for line in profile.lines} - made.found.disputed
    for item in built.items:
        # What the profile shows is not told twice.
        if item.id not in in_profile:
            yield _item(item, hits, passages, counter, "given", "")
    reasons = {it.id: it.reason for it in built.context.left_out}
    for item in built.left_out:
        yield _item(item, hits, passages, counter, "left_out", reasons[item.id])
    for miss in made.found.recalled.near_misses:
        if miss.id not in hits:
            yield PromptItem(
                id=miss.id,
                part="recalled",
                kind="",
                fate="near_miss",
                text="",
                tokens=0,
                reason=miss.reason,
                score=round(miss.score, 4),
            )


def _item(
    item: Item,
    hits: Mapping[str, Hit],
    passages: Mapping[str, Passage],
    counter: TokenCounter,
    fate: Fate,
    reason: Reason | str,
) -> PromptItem:
    hit = hits.get(item.id)
    if hit is None:
        given, at, explanation, facet = GivenItem.of_passage(passages[item.id]), None, None, ""
    else:
        given, at, explanation = GivenItem.of(hit), item.at, hit.explanation
        facet = (hit.record.facet or "") if hit.record else ""
    return PromptItem(
        id=given.id,
        part="recalled" if hit is not None else "documents",
        kind=given.kind,
        fate=fate,
        text=item.text,
        tokens=counter.count(item.text),
        reason=reason,
        score=given.score,
        version=given.version,
        facet=facet,
        at=at,
        explanation=explanation,
    )
