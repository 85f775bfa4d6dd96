"""The memory block for a prompt: which hits enter it, within the budget, and where it goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

from recollect.domain.context import (
    BETWEEN_BLOCKS,
    Form,
    LeftOut,
    MemoryContext,
    Place,
    Reason,
    Tongue,
)
from recollect.domain.document import Passage
from recollect.domain.hit import Hit
from recollect.domain.profile import Profile
from recollect.domain.sections import RecallSettings
from recollect.domain.turn import Turn
from recollect.language.analysis import terms
from recollect.language.characters import fold
from recollect.language.claims.subjects import lasting_topic
from recollect.language.memory_block import memory_block, strip_memory
from recollect.ports.language_model import TokenCounter
from recollect.recall.fence import SECTIONS
from recollect.recall.items import Item, as_item, passage_item
from recollect.recall.superseded import outlived

# A shorter text may occur by chance in a sentence that says something else. Counted in bytes,
# because a Chinese character says about as much as three Latin letters.
_MIN_DISTINCT_BYTES: Final = 12
# An assistant's turn with fewer different terms and at most this length is a mere nod.
_FEW_TERMS: Final = 4
_MAX_TERSE_CHARS: Final = 100
# The importance of anything that nobody rated.
_DEFAULT_IMPORTANCE: Final = 0.5
# The beginning of a long text tells what it is about.
_BEGINNING_CHARS: Final = 1_000
_SYSTEM_ROLES: Final = frozenset({"system", "developer"})
_NO_PROFILE: Final = Profile()


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block, the items in it in their order, and the texts of those that were left out."""

    context: MemoryContext
    items: tuple[Item, ...]
    left_out: tuple[Item, ...]


def build_block(
    hits: Sequence[Hit],
    recall: RecallSettings,
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
    profile: Profile = _NO_PROFILE,
) -> Block:
    """Build the text for a prompt: the profile, then the best hits that fit and are new to it.

    The most important hits come first. If the items are those of `last_shown`, their order and so
    every byte stays until midnight, which keeps a provider's prompt cache valid. Disputed records
    are marked. What the profile shows is not repeated; the budget is for both.
    """
    # A disputed record is shown again, because the profile has no notes.
    in_profile = {line.id for line in profile.lines} - disputed

    def render(items: Sequence[Item]) -> str:
        shown = [item for item in items if item.id not in in_profile]
        recalled = _render(shown, recall.context_form, language) if shown else ""
        return BETWEEN_BLOCKS.join(filter(None, (profile.text, recalled)))

    repeats = _Repeats(window_texts, already)
    unfit = _unfit_reasons(hits, is_about_past=is_about_past)
    chosen: list[Item] = []
    left_out: list[LeftOut] = []
    others: list[Item] = []
    text = profile.text
    made = [
        (hit, as_item(hit, recall.context_form, now, language, is_disputed=hit.id in disputed))
        for hit in hits
    ]
    for _, item in sorted(made, key=lambda pair: (_urgency(pair[0]), _default_order(pair[1]))):
        reason = unfit.get(item.id) or repeats.reason_against(item)
        if reason is None:
            # The tokens of the parts do not add up to those of the whole, so the whole is counted.
            tried = render([*chosen, item])
            if counter.count(tried) <= recall.max_context_tokens:
                chosen.append(item)
                text = tried
                continue
            reason = Reason.BUDGET
        left_out.append(LeftOut(id=item.id, reason=reason))
        others.append(item)
    # Documents have a budget of their own, which their search has already applied.
    for item in (passage_item(passage, recall.context_form) for passage in documents):
        if (reason := repeats.reason_against(item)) is None:
            chosen.append(item)
        else:
            left_out.append(LeftOut(id=item.id, reason=reason))
            others.append(item)
    if documents and chosen:
        text = render(chosen)
    ids = tuple(item.id for item in chosen)
    if ids != tuple(last_shown) and set(ids) == set(last_shown):
        by_id = {item.id: item for item in chosen}
        chosen = [by_id[item_id] for item_id in last_shown]
        text = render(chosen)
    context = MemoryContext(
        text=text,
        tokens=counter.count(text) if text else 0,
        ids=tuple(item.id for item in chosen),
        left_out=tuple(left_out),
        profile=profile.text,
    )
    return Block(context=context, items=tuple(chosen), left_out=tuple(others))


def _urgency(hit: Hit) -> tuple[bool, float]:
    """Sort a person's health first, then by score, weighted with the record's importance."""
    importance = _DEFAULT_IMPORTANCE if hit.record is None else hit.record.importance
    weighted = hit.score * (1 - _DEFAULT_IMPORTANCE + importance)
    return not _tells_of_health(hit), -weighted


def _default_order(item: Item) -> tuple[int, float, str]:
    """Sort by section and the newest first, among items of the same urgency."""
    return SECTIONS.index(item.section), -item.at.timestamp(), item.id


def _tells_of_health(hit: Hit) -> bool:
    is_stated = hit.turn is None or (hit.turn.role == "user" and hit.turn.act == "statement")
    return is_stated and lasting_topic(hit.content[:_BEGINNING_CHARS]) == "health"


def _unfit_reasons(hits: Sequence[Hit], *, is_about_past: bool) -> dict[str, Reason]:
    """Return what has no place in a prompt: mere nods and superseded hits.

    Superseded hits stay out only if their successor is there and the question is not about the
    past.
    """
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
    """Return whether an assistant's turn says next to nothing; a number may be an answer."""
    if (
        turn.role != "assistant"
        or len(turn.content) > _MAX_TERSE_CHARS
        or any(map(str.isdigit, turn.content))
    ):
        return False
    # For Chinese, single characters are counted, not pairs of them.
    counted = (term.isascii() or len(term) == 1 for term in set(terms(turn.content)))
    return sum(counted) < _FEW_TERMS


class _Repeats:
    """The texts that the reader already has, in the window, from another agent or in this block."""

    def __init__(self, window_texts: Sequence[str], already: AbstractSet[str]) -> None:
        # The block of the last request is about to be replaced, so its text does not count.
        self._window = {_normalise(strip_memory(text)) for text in window_texts}
        self._already = already
        self._titles_by_body: dict[str, set[str]] = {}

    def reason_against(self, item: Item) -> Reason | None:
        is_told = self._is_repeated(_normalise(fold(item.title)), _normalise(fold(item.body)))
        if item.id in self._already:
            return Reason.GIVEN
        if self._is_in_window(_normalise(item.body)):
            return Reason.IN_WINDOW
        return Reason.DUPLICATE if is_told else None

    def _is_repeated(self, title: str, body: str) -> bool:
        """Return whether the block has these words; under two titles they are two facts."""
        titles = self._titles_by_body.setdefault(body, set())
        is_told = bool(titles) and (not title or not titles.isdisjoint({title, ""}))
        titles.add(title)
        return is_told

    def _is_in_window(self, body: str) -> bool:
        if len(body.encode()) < _MIN_DISTINCT_BYTES:
            return body in self._window
        return any(body in text for text in self._window)


def _normalise(text: str) -> str:
    """Return the text without differences of case and spacing."""
    return "".join(text.casefold().split())


def _render(items: Sequence[Item], form: Form, language: Tongue) -> str:
    """Render the block; a section comes where its first item would."""
    if form == "flat":
        return memory_block(form, language, "\n" + "\n\n".join(item.text for item in items))
    members: dict[str, list[Item]] = {}
    for item in items:
        members.setdefault(item.section, []).append(item)
    sections = (
        f"  <{name}>\n" + "".join(f"    {item.text}\n" for item in section) + f"  </{name}>"
        for name, section in members.items()
    )
    return memory_block(form, language, "\n\n".join(sections))


def placed(messages: Sequence[Mapping[str, Any]], block: str, place: Place) -> list[dict[str, Any]]:
    """Return the messages with the block in its place; the originals are not changed.

    `system` appends it to the system message, which is added if there is none; `last_user` puts it
    before the text of the last user message.
    """
    result = [dict(message) for message in messages]
    if not block:
        return result
    if place == "last_user":
        users = [index for index, message in enumerate(result) if message.get("role") == "user"]
        if users:
            result[users[-1]]["content"] = _join(block, result[users[-1]].get("content"))
            return result
    for message in result:
        if message.get("role") in _SYSTEM_ROLES:
            message["content"] = _join(message.get("content"), block)
            return result
    return [{"role": "system", "content": block}, *result]


def _join(first: object, second: object) -> object:
    """Join two contents: texts with a blank line between them, or a list of parts."""
    if isinstance(first, str | None) and isinstance(second, str | None):
        return "\n\n".join(text for text in (first, second) if text)
    return [*_parts(first), *_parts(second)]


def _parts(content: object) -> list[object]:
    if isinstance(content, list):
        return cast("list[object]", content)
    return [{"type": "text", "text": content}] if content else []
