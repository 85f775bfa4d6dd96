"""From hits to the block that goes into a prompt: what enters, within the budget, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Any, Final, cast

from recollect.domain.context import (
    ContextOptions,
    Form,
    LeftOut,
    MemoryContext,
    Place,
    Reason,
    Tongue,
)
from recollect.domain.document import Passage
from recollect.domain.hit import Hit
from recollect.domain.turn import Turn
from recollect.language.analysis import terms
from recollect.language.claims.topics import lasting_topic
from recollect.language.folding import fold
from recollect.language.intent.questions import told_in
from recollect.language.memory_block import memory_block, strip_memory
from recollect.ports.tokens import TokenCounter
from recollect.recall.fence import SECTIONS
from recollect.recall.items import Item, as_item, passage_item
from recollect.recall.superseded import outlived

# A few letters stand in many a sentence that says something else. Counted in bytes, because a
# Chinese character says about as much as three Latin letters.
_TELLING: Final = 12
# An assistant's turn of fewer different terms than these is a mere nod, and no nod is longer.
_FEW_TERMS: Final = 4
_TERSE: Final = 100
# What a record is taken for that nobody called important or unimportant.
_USUAL_IMPORTANCE: Final = 0.5
# Of a long text so many characters tell what it is about.
_BEGINNING: Final = 1_000
_SYSTEM_ROLES: Final = frozenset({"system", "developer"})


def build_context(
    hits: Sequence[Hit],
    options: ContextOptions,
    counter: TokenCounter,
    *,
    now: datetime,
    language: Tongue,
    already: AbstractSet[str] = frozenset(),
    window_texts: Sequence[str] = (),
    is_about_past: bool = False,
    disputed: AbstractSet[str] = frozenset(),
    last_shown: Sequence[str] = (),
    documents: Sequence[Passage] = (),
) -> MemoryContext:
    """The block for a prompt: the best hits that fit the budget whole and are not there already.

    What matters most for the request stands first. When the items are those the reader was
    `last_shown`, their order and so every byte stays until midnight: a provider's prompt cache
    holds. Of what is disputed the reader is told so.
    """
    repeats = _Repeats(window_texts, already)
    unfit = _unfit(hits, is_about_past=is_about_past)
    chosen: list[Item] = []
    left_out: list[LeftOut] = []
    text, tokens = "", 0
    made = [
        (hit, as_item(hit, options.form, now, language, is_disputed=hit.id in disputed))
        for hit in hits
    ]
    for _, item in sorted(made, key=lambda pair: (_urgency(pair[0]), _usual_place(pair[1]))):
        reason = unfit.get(item.id) or repeats.reason_against(item)
        if reason is None:
            # Tokens of parts do not add up to tokens of the whole, so the whole is counted.
            tried = _rendered([*chosen, item], options.form, language)
            cost = counter.count(tried)
            if cost <= options.max_tokens:
                chosen.append(item)
                text, tokens = tried, cost
                continue
            reason = Reason.BUDGET
        left_out.append(LeftOut(id=item.id, reason=reason))
    # Documents have a budget of their own, which the search for them has kept to.
    for item in (passage_item(passage, options.form) for passage in documents):
        if (reason := repeats.reason_against(item)) is None:
            chosen.append(item)
        else:
            left_out.append(LeftOut(id=item.id, reason=reason))
    if documents and chosen:
        text = _rendered(chosen, options.form, language)
        tokens = counter.count(text)
    ids = tuple(item.id for item in chosen)
    if ids != tuple(last_shown) and set(ids) == set(last_shown):
        by_id = {item.id: item for item in chosen}
        text = _rendered([by_id[it] for it in last_shown], options.form, language)
        ids, tokens = tuple(last_shown), counter.count(text)
    return MemoryContext(text=text, tokens=tokens, ids=ids, left_out=tuple(left_out))


def _urgency(hit: Hit) -> tuple[bool, float]:
    """Somebody's health first, where it bears on the request at all; then by the hit's score,
    weighted with how important the record is."""
    importance = _USUAL_IMPORTANCE if hit.record is None else hit.record.importance
    weighted = hit.score * (1 - _USUAL_IMPORTANCE + importance)
    return not _tells_of_health(hit), -weighted


def _usual_place(item: Item) -> tuple[int, float, str]:
    """By section, the newest first: the order of what matters alike."""
    return SECTIONS.index(item.section), -item.at.timestamp(), item.id


def _tells_of_health(hit: Hit) -> bool:
    is_stated = hit.turn is None or (hit.turn.role == "user" and hit.turn.act == "statement")
    return is_stated and lasting_topic(hit.content[:_BEGINNING]) == "health"


def _unfit(hits: Sequence[Hit], *, is_about_past: bool) -> dict[str, Reason]:
    """What has no place in a prompt: a mere "Good to know.", and what no longer holds beside what
    does, unless the past is asked for."""
    present = {hit.id for hit in hits}
    by_turn = {
        hit.id: hit.replaced_by
        for hit in hits
        if hit.replaced_by is not None and hit.replaced_by in present and not is_about_past
    }
    gone = outlived(by_turn, [hit.record for hit in hits if hit.record is not None])
    return {
        **{hit.id: Reason.TERSE for hit in hits if hit.turn is not None and _is_terse(hit.turn)},
        **dict.fromkeys(gone, Reason.REPLACED),
    }


def _is_terse(turn: Turn) -> bool:
    """Whether an assistant's turn says next to nothing; a number may be all that was asked for."""
    if turn.role != "assistant" or len(turn.content) > _TERSE or told_in(turn.content):
        return False
    # Of Chinese the characters are counted, not the pairs of them.
    return sum(it.isascii() or len(it) == 1 for it in set(terms(turn.content))) < _FEW_TERMS


class _Repeats:
    """Knows what the reader has seen already: in the window, from another agent, in this block."""

    def __init__(self, window_texts: Sequence[str], already: AbstractSet[str]) -> None:
        # A block from the last request is about to be replaced: what it says is not there to stay.
        self._window = {_squeezed(strip_memory(text)) for text in window_texts}
        self._already = already
        self._titles_by_body: dict[str, set[str]] = {}

    def reason_against(self, item: Item) -> Reason | None:
        is_told = self._is_told(_squeezed(fold(item.title)), _squeezed(fold(item.body)))
        if item.id in self._already:
            return Reason.GIVEN
        if self._is_in_window(_squeezed(item.body)):
            return Reason.IN_WINDOW
        return Reason.DUPLICATE if is_told else None

    def _is_told(self, title: str, body: str) -> bool:
        """Whether these words came before; under two titles they are two facts, Ann's and Bob's."""
        titles = self._titles_by_body.setdefault(body, set())
        is_told = bool(titles) and (not title or not titles.isdisjoint({title, ""}))
        titles.add(title)
        return is_told

    def _is_in_window(self, body: str) -> bool:
        if len(body.encode()) < _TELLING:
            return body in self._window
        return any(body in text for text in self._window)


def _squeezed(text: str) -> str:
    """The text without the differences of case and spacing that a reader overlooks."""
    return "".join(text.casefold().split())


def _rendered(items: Sequence[Item], form: Form, language: Tongue) -> str:
    """The one renderer of the block; a section stands where its first item would."""
    if form == "flat":
        return memory_block(form, language, "\n" + "\n\n".join(item.text for item in items))
    members: dict[str, list[Item]] = {}
    for item in items:
        members.setdefault(item.section, []).append(item)
    sections = (
        f"  <{name}>\n" + "".join(f"    {item.text}\n" for item in its) + f"  </{name}>"
        for name, its in members.items()
    )
    return memory_block(form, language, "\n\n".join(sections))


def placed(messages: Sequence[Mapping[str, Any]], block: str, place: Place) -> list[dict[str, Any]]:
    """The messages with the block in its place; those given are left as they are.

    `system` puts it at the end of the one system message, made if there is none; `last_user` before
    the words of the last user message.
    """
    result = [dict(message) for message in messages]
    if not block:
        return result
    if place == "last_user":
        users = [index for index, message in enumerate(result) if message.get("role") == "user"]
        if users:
            result[users[-1]]["content"] = _joined(block, result[users[-1]].get("content"))
            return result
    for message in result:
        if message.get("role") in _SYSTEM_ROLES:
            message["content"] = _joined(message.get("content"), block)
            return result
    return [{"role": "system", "content": block}, *result]


def _joined(first: object, second: object) -> object:
    """Two contents as one: texts with a blank line between, or a list of parts."""
    if isinstance(first, str | None) and isinstance(second, str | None):
        return "\n\n".join(text for text in (first, second) if text)
    return [*_parts(first), *_parts(second)]


def _parts(content: object) -> list[object]:
    if isinstance(content, list):
        return cast("list[object]", content)
    return [{"type": "text", "text": content}] if content else []
