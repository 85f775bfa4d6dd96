"""What somebody means who asks to forget something: the records that clearly answer for it.

The thing is looked up like a question, in the user's own scopes only, and a local model reads what
is found. Without the model, or if nothing clearly fits, nothing is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from recollect.domain.filters import Filter
from recollect.domain.record import Record
from recollect.domain.scope import Caller
from recollect.domain.turn import Turn
from recollect.domain.write import Claim
from recollect.language.extraction.forgetting import ForgetWish, forget_wishes, told_parts
from recollect.language.extraction.message import claim_of
from recollect.language.quantities import numbers
from recollect.ports.facets import UNDECIDED, FacetGuess, FacetReader
from recollect.recall.answering import Answering
from recollect.recall.cache import CachedRecaller

_LOOKED_AT: Final = 12
# Whoever means more than a few has to say which.
MOST_DELETED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """The wish as a claim, the records that it means, and the turns that told the same.

    The `others` tell something else beside it.
    """

    claim: Claim
    records: tuple[Record, ...]
    others: tuple[Record, ...]
    turns: tuple[str, ...]


def holds_forget_wish(turn: Turn) -> bool:
    """Return whether a user asks in this turn to forget something."""
    return bool(_wishes(turn))


class ForgetWishes:
    """Finds what wishes to forget mean."""

    def __init__(
        self,
        recaller: Callable[[], CachedRecaller],
        answering: Callable[[], Answering | None],
        facets: FacetReader | None,
    ) -> None:
        self._recaller = recaller
        self._answering = answering
        self._facets = facets

    async def meant(self, caller: Caller, turns: Sequence[Turn]) -> list[Meant]:
        """Return what the wishes in these turns mean; nothing without a model."""
        answering = self._answering()
        if answering is None:
            return []
        return [
            await self._find(caller, turn, wish, answering)
            for turn in turns
            for wish in _wishes(turn)
        ]

    async def _find(
        self, caller: Caller, turn: Turn, wish: ForgetWish, answering: Answering
    ) -> Meant:
        # Never what others share.
        own = tuple(dict.fromkeys((caller.scope, caller.scope.of_user)))
        recalled = await self._recaller().recall(
            wish.question, own, Filter().without_archives, limit=_LOOKED_AT, min_score=0.0
        )
        hits = [hit.item for hit in recalled if isinstance(hit.item, Record | Turn)]
        asked = UNDECIDED if self._facets is None else await self._facets.asked(wish.question)
        hits = [item for item in hits if item.id != turn.id and item.scope in own]
        clear = await answering.clearly_answering(wish.question, [it.content for it in hits])
        items = [item for item, is_clear in zip(hits, clear, strict=True) if is_clear]
        # What tells something else too, or is of somebody else, is not deleted along with it.
        alone = {
            it.id
            for it in items
            if not _is_about_another(it, asked)
            and all(await answering.clearly_answering(wish.question, told_parts(it.content)))
        }
        records = [item for item in items if isinstance(item, Record)]
        told = [it.turn for record in records if record.id in alone for it in record.evidence]
        values = {value for it in records if it.id in alone for value in _values(it.content)}
        told += [
            item.id
            for item in hits
            if isinstance(item, Turn) and (item.id in alone or _repeats(item.content, values))
        ]
        return Meant(
            claim=claim_of("feedback", wish.said, turn, explicit=True, orders=True),
            records=tuple(record for record in records if record.id in alone),
            others=tuple(record for record in records if record.id not in alone),
            turns=tuple(ident for ident in dict.fromkeys(told) if ident != turn.id),
        )


def _wishes(turn: Turn) -> list[ForgetWish]:
    # A polite wish has the form of a question.
    is_said = turn.role == "user" and turn.act in {"statement", "request", "question", None}
    return [*forget_wishes(turn.content)] if is_said else []


def _is_about_another(item: Record | Turn, asked: FacetGuess) -> bool:
    """Return whether a record is known to be about somebody else than who is asked about."""
    about = item.about if isinstance(item, Record) else ""
    return bool(about and asked.about) and about != asked.about


def _repeats(text: str, values: Collection[str]) -> bool:
    """Return whether a text tells nothing but these values, such as an assistant's echo."""
    parts = told_parts(text)
    return bool(parts) and all(not _values(part).isdisjoint(values) for part in parts)


def _values(text: str) -> frozenset[str]:
    return frozenset(number.value for number in numbers(text))
