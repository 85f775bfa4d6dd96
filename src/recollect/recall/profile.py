"""The profile of a user, derived from records whenever it is read; nothing is stored twice.

Only what a user said in their own words, or what a person or the application wrote, may enter: the
profile stands in every prompt, so a sentence that somebody slipped in would too.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Final

from recollect.domain.context import Form, Tongue
from recollect.domain.facets import facets, with_near
from recollect.domain.filters import Filter
from recollect.domain.profile import TAG, Profile, ProfileLine, author_of, is_hidden
from recollect.domain.record import Evidence, Record, Version
from recollect.domain.scope import Caller, Scope
from recollect.domain.sections import ProfileSettings
from recollect.domain.turn import Turn
from recollect.domain.write import FORGET_WISH
from recollect.language.characters import fold
from recollect.language.characters import language as language_of
from recollect.language.extraction.grounding import ground
from recollect.language.extraction.own_words import are_own_words
from recollect.language.memory_block import profile_block
from recollect.language.times.dating import begins
from recollect.ports.language_model import TokenCounter
from recollect.ports.runtime import Clock
from recollect.ports.store import Store, one_snapshot
from recollect.recall.fence import fenced
from recollect.recall.user_names import TAG as NAME

# The number of scopes whose profiles are cached, and of spans of which is known whose they are.
_MAX_CACHED: Final = 256
_MAX_CACHED_SPANS: Final = 50_000
# A longer line comes after all others, so that one record cannot take the place of the rest.
_MAX_SHARE_OF_LINE: Final = 0.25
# What a tool returned is sent as a user's message by some providers.
_NOT_SAID: Final = frozenset({"tool_output", "memory_output", "retracted"})
_ANY: Final = Filter()
_SUMMARY: Final = "session"
_IDENTITY: Final = "identity"
# Many wishes hold at a time: only a sure relation lets a new one take the place of an old one.
_STANDING: Final = frozenset({"answer_format", "instruction"})
_SURE: Final = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """The records of a profile, in order, and those that are hidden from it."""

    shown: tuple[Record, ...] = ()
    hidden: tuple[Record, ...] = ()

    @property
    def state(self) -> tuple[tuple[str, int], ...]:
        return tuple((record.id, record.version) for record in (*self.shown, *self.hidden))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cached:
    """What was found, at these versions of the scopes and until something begins or ends."""

    versions: tuple[int, ...]
    until: datetime | None
    found: _Found
    rendered: dict[tuple[Form, int], Profile] = field(
        default_factory=dict[tuple[Form, int], Profile], hash=False
    )


class ProfileReader:
    """Reads profiles, from a cache while their scopes do not change."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        counter: TokenCounter,
        settings: ProfileSettings,
        form: Form,
    ) -> None:
        self._store = store
        self._clock = clock
        self._counter = counter
        self._settings = settings
        self._form: Form = form
        self._origins = Origins(store)
        self._cached: OrderedDict[tuple[Scope, ...], _Cached] = OrderedDict()

    async def read(
        self,
        caller: Caller,
        *,
        form: Form | None = None,
        max_tokens: int | None = None,
        as_of: datetime | None = None,
    ) -> Profile:
        """Return the profile of the caller's user, within the budget of the settings.

        `max_tokens` may only lower that budget. `as_of` is a past time, from what was known then.
        """
        if not self._settings.enabled:
            return Profile()
        wanted = form or self._form, self.budget(max_tokens)
        if as_of is not None:
            found = await self._find(profile_scopes(caller), as_of, as_of=as_of)
            return render(found, *wanted, self._counter)
        cached = await self._current(profile_scopes(caller))
        if wanted not in cached.rendered:
            cached.rendered[wanted] = render(cached.found, *wanted, self._counter)
        return cached.rendered[wanted]

    def budget(self, max_tokens: int | None = None) -> int:
        """Return how long a profile may be in tokens, at most `max_tokens`."""
        budget = self._settings.max_tokens
        return budget if max_tokens is None else min(budget, max_tokens)

    async def is_own(self, caller: Caller, record: Record) -> bool:
        """Return whether the words of a record are a user's own or a person's."""
        return record.id in await self._origins.own(profile_scopes(caller), [record])

    def clear(self) -> None:
        """Drop every profile, because something they may contain was forgotten."""
        self._cached.clear()
        self._origins.clear()

    async def _current(self, scopes: tuple[Scope, ...]) -> _Cached:
        with one_snapshot():
            versions = await self._store.versions(scopes)
            cached = self._cached.get(scopes)
            now = self._clock.now()
            is_valid = cached is not None and cached.versions == versions
            if cached is None or not is_valid or (cached.until is not None and now >= cached.until):
                before, cached = cached, await self._read(scopes, versions, now)
                if before is not None and before.found.state == cached.found.state:
                    # Most writes concern something else.
                    cached.rendered.update(before.rendered)
                self._cached[scopes] = cached
                while len(self._cached) > _MAX_CACHED:
                    self._cached.popitem(last=False)
        self._cached.move_to_end(scopes)
        return cached

    async def _read(
        self, scopes: tuple[Scope, ...], versions: tuple[int, ...], now: datetime
    ) -> _Cached:
        """Return the current profile, and until when it holds."""
        listed = await self._candidates(scopes, now)
        times = (
            moment
            for record in listed
            for moment in (record.expires_at, record.valid_from, record.valid_to, _begins(record))
        )
        until = min((time for time in times if time is not None and time > now), default=None)
        found = await self._find(scopes, now, listed)
        return _Cached(versions=versions, until=until, found=found)

    async def _candidates(
        self, scopes: Sequence[Scope], now: datetime, as_of: datetime | None = None
    ) -> list[Record]:
        wanted = (
            Filter(facets=frozenset(_places()), as_of=as_of),
            Filter(tags=frozenset({TAG}), as_of=as_of),
            Filter(tags=frozenset({NAME}), as_of=as_of),
        )
        listed = [
            record
            for where in wanted
            for record in await self._store.records(scopes, where, now=now)
        ]
        return list({record.id: record for record in listed}.values())

    async def _find(
        self,
        scopes: Sequence[Scope],
        now: datetime,
        listed: Sequence[Record] | None = None,
        *,
        as_of: datetime | None = None,
    ) -> _Found:
        candidates = await self._candidates(scopes, now, as_of) if listed is None else listed
        valid = [record for record in candidates if _is_shown(record, now)]
        own = await self._origins.own(scopes, valid)
        said = [record for record in valid if record.id in own]
        current = await self._without_older(scopes, said, now)
        shown = [record for record in current if not is_hidden(record)]
        hidden = [record for record in current if is_hidden(record)]
        return _Found(shown=tuple(shown), hidden=tuple(hidden))

    async def _without_older(
        self, scopes: Sequence[Scope], records: Sequence[Record], now: datetime
    ) -> list[Record]:
        """Return the records that no later statement supersedes or repeats, in their order.

        What is only to come supersedes nothing yet.
        """
        by_id = {record.id: record for record in records}
        to_come = {record.id for record in records if (at := _begins(record)) and at > now}
        links = [
            link
            for link in await self._store.links(scopes, sorted(by_id))
            if link.older in by_id
            and link.relation in ("update", "same")
            and link.newer not in to_come
            and (link.probability >= _SURE or facet_of(by_id[link.older]) not in _STANDING)
            and _may_replace(by_id.get(link.newer), by_id[link.older])
        ]
        outside = sorted({link.newer for link in links} - by_id.keys())
        later = await self._origins.own_among(scopes, outside, now)
        gone = {
            link.older
            for link in links
            if link.newer in by_id or (link.newer in later and link.relation == "update")
        }
        rest = [record for record in records if record.id not in gone]
        newest: dict[str, Record] = {}
        for record in rest:
            name = facet_of(record)
            if name in _places() and facets()[name].single and record.id not in to_come:
                newest[name] = max(newest.get(name, record), record, key=_age)
        said: set[str] = set()
        kept: list[Record] = []
        for record in sorted(rest, key=_order):
            words = "".join(fold(record.content).casefold().split())
            is_current = newest.get(facet_of(record), record) is record or record.id in to_come
            if is_current and words not in said:
                kept.append(record)
                said.add(words)
        return kept


def profile_scopes(caller: Caller) -> tuple[Scope, ...]:
    """Return the scopes of a profile: the caller's own, and the user's."""
    here = caller.scope
    return (here, here.of_user) if here.agent and here.user else (here,)


# --- Which records belong, and in which order -----------------------------------------------------


@cache
def _places() -> Mapping[str, int]:
    """Return the facets that belong into the profile, with their places."""
    return {name: facet.profile for name, facet in facets().items() if facet.profile is not None}


def is_of_profile(record: Record) -> bool:
    """Return whether the attribute is one of the profile and not about somebody else."""
    # A session's summary holds the words of everybody who spoke, and who asked to forget something
    # wants it in no prompt.
    if record.source == _SUMMARY or FORGET_WISH in record.tags:
        return False
    name = facet_of(record)
    # A thing has no allergy: the attribute was misread.
    is_misread = record.about == "thing" and name in _places() and facets()[name].vital
    return name in _places() and record.about != "other" and not is_misread


def facet_of(record: Record) -> str:
    """Return the attribute that a record states; a name is known without any model.

    What tells a name may tell more: "I'm called Ann, I run the platform team".
    """
    if NAME in record.tags and record.facet not in _places():
        return _IDENTITY
    return record.facet or ""


def _is_shown(record: Record, now: datetime) -> bool:
    """Return whether it belongs, by its facet or a person's choice, and is valid."""
    if TAG not in record.tags and not is_of_profile(record):
        return False
    has_begun = record.valid_from is None or record.valid_from <= now
    return has_begun and (record.valid_to is None or now < record.valid_to)


def _may_replace(newer: Record | None, older: Record) -> bool:
    """Return whether a newer line, or what stands outside of the profile, may end an older one.

    "I quit the clinic" follows "I'm Lena, I live in Graz and work at the clinic", but who somebody
    is stays. What concerns a person's health may end with a statement of any kind.
    """
    name = facet_of(older)
    facet = facets().get(name)
    if facet is None or facet.single or facet.vital:
        return True
    return newer is not None and facet_of(newer) in with_near(name)


def _begins(record: Record) -> datetime | None:
    """Return when the value of an attribute begins that has one value at a time, if it is told."""
    name = facet_of(record)
    if name not in facets() or not facets()[name].single:
        return None
    return begins(record.content, record.first_observed)


def _order(record: Record) -> tuple[float, float, datetime, str]:
    """Sort by facet, then the most important first, then by age."""
    place = _places().get(facet_of(record), float("inf"))
    return place, -record.importance, record.first_observed, record.id


def _age(record: Record) -> tuple[datetime, datetime, str]:
    return record.last_confirmed, record.recorded_at, record.id


# --- The block ------------------------------------------------------------------------------------


def render(found: _Found, form: Form, max_tokens: int, counter: TokenCounter) -> Profile:
    """Return the profile with as many lines as fit.

    What concerns a person's health comes first, then the most important record of each facet, then
    the next ones; the lines are in the order of their facets all the same.
    """
    lines = {record.id: _line(record) for record in found.shown}
    texts = {record.id: fenced(record.content) for record in found.shown}
    tongue = _tongue(texts.values())
    longest = max_tokens * _MAX_SHARE_OF_LINE
    ranks: dict[str, int] = {}
    urgencies: dict[str, tuple[bool, bool, int]] = {}
    for record in found.shown:
        name = facet_of(record)
        rank = ranks[name] = ranks.get(name, -1) + 1
        is_vital = name in facets() and facets()[name].vital
        is_long = counter.count(texts[record.id]) > longest
        urgencies[record.id] = is_long, not is_vital, rank
    chosen: set[str] = set()
    text, tokens = "", 0
    for record_id in sorted(urgencies, key=lambda record: urgencies[record]):
        wanted = [texts[name] for name in texts if name in chosen or name == record_id]
        tried = profile_block(form, tongue, wanted)
        cost = counter.count(tried)
        if cost <= max_tokens:
            chosen.add(record_id)
            text, tokens = tried, cost
    return Profile(
        lines=tuple(line for line in lines.values() if line.id in chosen),
        text=text,
        tokens=tokens,
        hidden=tuple(map(_line, found.hidden)),
        left_out=tuple(line for line in lines.values() if line.id not in chosen),
    )


def _line(record: Record) -> ProfileLine:
    return ProfileLine(
        id=record.id, version=record.version, facet=facet_of(record), text=record.content
    )


def _tongue(texts: Collection[str]) -> Tongue:
    """Return the language of most lines; it does not depend on the question."""
    chinese = sum(language_of(text) == "zh" for text in texts)
    return "zh" if 2 * chinese > len(texts) else "en"


# --- Whose words a record has ---------------------------------------------------------------------


class Origins:
    """Tells which records are a user's own words, or written by a person or the application."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # What was said never changes.
        self._are_own: dict[Evidence, bool] = {}

    def clear(self) -> None:
        self._are_own.clear()

    async def own(self, scopes: Sequence[Scope], records: Sequence[Record]) -> frozenset[str]:
        """Return the ids of these records whose words are a user's or a person's."""
        turns = await self._turns(scopes, records)
        found: set[str] = set()
        for record in records:
            if self._is_own(record, turns) or await self._was_own(scopes, record, turns):
                found.add(record.id)
        return frozenset(found)

    async def own_among(
        self, scopes: Sequence[Scope], ids: Sequence[str], now: datetime
    ) -> AbstractSet[str]:
        """Return the ids of current records and turns that are a user's own words."""
        if not ids:
            return frozenset()
        records = await self._store.records(scopes, _ANY, now=now, ids=ids)
        turns = {turn.id: turn for turn in await self._store.turns(scopes, _ANY, ids=ids)}
        said = {turn for turn in turns if self._supports(Evidence(turn=turn), turns)}
        return said | await self.own(scopes, records)

    def _is_own(self, record: Record, turns: Mapping[str, Turn]) -> bool:
        author = author_of(record)
        if author == "person":
            return True
        if author == "model":
            # The user has said the same.
            return any(
                self._supports(evidence, turns) and _grounds(record, evidence, turns)
                for evidence in record.evidence
            )
        return all(self._supports(evidence, turns) for evidence in record.evidence)

    async def _was_own(
        self, scopes: Sequence[Scope], record: Record, turns: Mapping[str, Turn]
    ) -> bool:
        """Return whether they were its own when they were written; others may repeat them since."""
        if author_of(record) is not None:
            return False
        supported = sum(self._supports(evidence, turns) for evidence in record.evidence)
        # Something was said that has no evidence: a person or the application wrote it.
        is_written = record.evidence_count > len(record.evidence)
        if not supported and not is_written:
            return False
        versions = await self._store.history(scopes, record.id)
        return self._is_own(_written_in(versions, record), turns)

    def _supports(self, evidence: Evidence, turns: Mapping[str, Turn]) -> bool:
        """Return whether the evidence is a user's own words."""
        turn = turns.get(evidence.turn)
        if turn is None or turn.role != "user" or turn.act in _NOT_SAID:
            return False
        if evidence not in self._are_own:
            if len(self._are_own) >= _MAX_CACHED_SPANS:
                self._are_own.clear()
            self._are_own[evidence] = are_own_words(turn.content, evidence.start, evidence.end)
        return self._are_own[evidence]

    async def _turns(self, scopes: Sequence[Scope], records: Iterable[Record]) -> dict[str, Turn]:
        ids = sorted({evidence.turn for record in records for evidence in record.evidence})
        if not ids:
            return {}
        return {turn.id: turn for turn in await self._store.turns(scopes, _ANY, ids=ids)}


def _grounds(record: Record, evidence: Evidence, turns: Mapping[str, Turn]) -> bool:
    said = turns[evidence.turn].content
    span = evidence.start or 0, len(said) if evidence.end is None else evidence.end
    return ground(record.content, said, span).ok


def _written_in(versions: Sequence[Version], record: Record) -> Record:
    """Return the version in which the words of a record were written."""
    written = record
    for version in reversed(versions):
        if version.record.content != record.content:
            break
        written = version.record
    return written
