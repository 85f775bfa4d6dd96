"""Prefetch: the recall before an agent answers a message, rendered as a memory block."""

from __future__ import annotations

import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, Final, Protocol, Unpack, cast

from recollect.domain.context import (
    FORMS,
    TONGUES,
    Form,
    MemoryContext,
    Tongue,
    WindowItem,
    checked_choice,
    checked_tokens,
)
from recollect.domain.document import Passage, Passages
from recollect.domain.fields import MAX_LABEL, checked_items, checked_text
from recollect.domain.filters import CommonFilters, Filter, make_filter
from recollect.domain.hit import Recalled
from recollect.domain.ids import new_id
from recollect.domain.injection import GivenItem, Injection
from recollect.domain.memory_tools import memory_guide
from recollect.domain.message import Message
from recollect.domain.meter import Meter
from recollect.domain.preview import ContextPreview
from recollect.domain.profile import Profile
from recollect.domain.record import Record
from recollect.domain.scope import Caller, Scope
from recollect.domain.sections import RecallSettings
from recollect.domain.times import on_own_clocks
from recollect.domain.turn import Turn
from recollect.language.characters import language as language_of
from recollect.language.uptake import takes_up
from recollect.ports.language_model import TokenCounter
from recollect.ports.runtime import IN_TIME, Clock, answer_within, in_time
from recollect.recall.cache import MAX_QUERY, CachedRecaller
from recollect.recall.inject import build_block
from recollect.recall.items import passage_id
from recollect.recall.message_recall import recall_for_message
from recollect.recall.preview import Found, Made, preview_of
from recollect.recall.profile import ProfileReader
from recollect.recall.question import is_about_past

if TYPE_CHECKING:
    from recollect.recall.conflicts import SqlConflicts

_log: Final = logging.getLogger(__name__)
# The number of sessions whose answers are waited for.
_MAX_SESSIONS: Final = 1_000

# Called with a session and the records that entered its prompt.
Entered = Callable[[str, Sequence[Record]], None]
# Called with what a recall gave to a prompt.
Injected = Callable[[Injection], None]

# Documents do not help with other intents, such as preferences or short replies.
_ASKS_FOR_DOCUMENTS: Final = frozenset({"question", "new_task", "bug_fix"})
_MAX_MESSAGE_CHARS: Final = 10_000_000
# The share of the time in which a recall may wait for models; the rest is for what they need not.
_HURRIED_SHARE: Final = 0.5


class Prefetch:
    """The builder of memory blocks for prompts, which remembers who was given what."""

    def __init__(
        self,
        recaller: CachedRecaller,
        profiles: ProfileReader,
        counter: TokenCounter,
        clock: Clock,
        settings: RecallSettings,
        conflicts: SqlConflicts,
        entered: Entered,
        injected: Injected,
        meter: Meter | None = None,
        source: Callable[[], PassageSource] | None = None,
        *,
        limit_of_agent: Callable[[str], int],
        document_tokens: int,
        zone: tzinfo | None = None,
    ) -> None:
        self._recaller = recaller
        self._zone = zone
        self._profiles = profiles
        self._counter = counter
        self._clock = clock
        self._settings = settings
        self._limit_of_agent = limit_of_agent
        self._document_tokens = document_tokens
        self._conflicts = conflicts
        self._entered = entered
        self._injected = injected
        self._meter = meter or Meter()
        # Created on first use.
        self._source = source
        self._runs = ServedBlocks(clock)
        # What entered the prompts of a session since its last answer, and the question.
        self._given: OrderedDict[tuple[Scope, str], tuple[str, dict[str, str]]] = OrderedDict()
        self._has_told_late = False

    def is_enabled(self, agent: str | None) -> bool:
        """Return whether memory is enabled for an agent."""
        return self._limit_of(agent) > 0

    async def context(
        self,
        caller: Caller,
        own_session: str,
        message: str,
        *,
        limit: int | None = None,
        min_score: float | None = None,
        max_tokens: int | None = None,
        form: Form | None = None,
        language: Tongue | None = None,
        window: Iterable[WindowItem] = (),
        session: str | None = None,
        run: str | None = None,
        namespace: str | tuple[str, str] | None = None,
        asked_at: datetime | None = None,
        within: float = math.inf,
        **filters: Unpack[CommonFilters],
    ) -> MemoryContext:
        """Return the profile and what is relevant to a message and new to the reader.

        What is asked of the past gets the profile of that time. What is not found `within` so many
        seconds is left out, and `degraded` says so.
        """
        session = own_session if session is None else checked_text(session, "session", MAX_LABEL)
        receiver = Receiver.of(caller.scope, session, run)
        made = await self._make(
            caller,
            message,
            receiver,
            limit=limit,
            min_score=min_score,
            settings=self._settings_for(form, max_tokens),
            language=language,
            window=window,
            namespace=namespace,
            asked_at=asked_at,
            within=within,
            where=make_filter(**filters),
        )
        recalled, built, settings = made.found.recalled, made.built.context, made.settings
        # No await from the building of the block to the end, so that no two agents get the same
        # item.
        self._runs.give(receiver, built.ids)
        self._entered(session, _records(recalled, built.ids))
        self._count(recalled, built, session)
        self._note_given(caller.scope, session, message, recalled, built.ids)
        recall_id = new_id("recall")
        self._injected(
            Injection(
                recall_id=recall_id,
                scope=caller.scope,
                actor=caller.principal,
                at=self._clock.now(),
                question=_question(message),
                scopes=made.scopes,
                where=made.where,
                limit=made.limit,
                clause_hits=made.clause_hits,
                min_score=min_score,
                asked_at=asked_at,
                items=_given(recalled, made.found.documents, built.ids),
                profile=tuple(map(GivenItem.of_line, made.profile.lines)),
                left_out=built.left_out,
                form=settings.context_form,
                session=session,
                run=run,
            )
        )
        return replace(
            built, place=settings.context_place, degraded=recalled.degraded, recall_id=recall_id
        )

    async def preview(
        self,
        caller: Caller,
        message: str,
        *,
        limit: int | None = None,
        min_score: float | None = None,
        max_tokens: int | None = None,
        form: Form | None = None,
        language: Tongue | None = None,
        window: Iterable[WindowItem] = (),
        session: str | None = None,
        run: str | None = None,
        namespace: str | tuple[str, str] | None = None,
        asked_at: datetime | None = None,
        **filters: Unpack[CommonFilters],
    ) -> ContextPreview:
        """Return what a reader who was given nothing yet would be told, and why.

        Nothing counts as used or is stored, so `session` and `run` change nothing. What is asked of
        the past is asked at that time.
        """
        where = make_filter(**filters)
        made = await self._make(
            caller,
            message,
            None,
            limit=limit,
            min_score=min_score,
            settings=self._settings_for(form, max_tokens),
            language=language,
            window=window,
            namespace=namespace,
            asked_at=asked_at or where.as_of,
            within=math.inf,
            where=where,
        )
        tongue = _tongue(message) if language is None else language
        guide = memory_guide(tongue) if made.limit else ""
        return preview_of(
            made,
            self._counter,
            guide,
            document_tokens=self._document_tokens,
            profile_tokens=self._profiles.budget(made.settings.max_context_tokens // 2),
        )

    async def _make(
        self,
        caller: Caller,
        message: str,
        receiver: Receiver | None,
        *,
        limit: int | None,
        min_score: float | None,
        settings: RecallSettings,
        language: Tongue | None,
        window: Iterable[WindowItem],
        namespace: str | tuple[str, str] | None,
        asked_at: datetime | None,
        within: float,
        where: Filter,
    ) -> Made:
        """Find what bears on a message, and build the block; without a receiver, from nothing."""
        checked_text(message, "message", _MAX_MESSAGE_CHARS, blank=True)
        tongue = _tongue(message) if language is None else checked_choice(language, TONGUES)
        # The message itself is in the prompt already.
        texts = [message, *map(_words, checked_items(window, "window"))]
        # Archives are loaded on demand; the block holds only records, turns and documents.
        where = where.without_archives
        scopes = caller.readable if namespace is None else (caller.namespace(namespace),)
        usual = self._limit_of(caller.scope.agent)
        # A limit that was chosen for the call or the agent is kept.
        is_usual = limit is None and usual == self._settings.prefetch_limit
        clause_hits = self._settings.clause_hits if is_usual else 0
        limit = usual if limit is None else limit
        found = Found()
        if message.strip() and usual:
            recalling = recall_for_message(
                self._recaller,
                _question(message),
                scopes,
                where,
                limit=limit,
                clause_hits=clause_hits,
                min_score=min_score,
                asked_at=asked_at,
            )
            found = await self._find(caller, message, scopes, recalling, within)
        profile = Profile()
        if usual and where.valid_at is None:
            # A small budget is shared by both.
            half = settings.max_context_tokens // 2
            profile = await self._profiles.read(
                caller, form=settings.context_form, max_tokens=half, as_of=where.as_of
            )
        built = build_block(
            found.recalled.hits,
            settings,
            self._counter,
            now=on_own_clocks(asked_at or self._clock.now(), self._zone),
            language=tongue,
            already=self._runs.given_to_others(receiver) if receiver else frozenset(),
            window_texts=texts,
            is_about_past=is_about_past(message),
            disputed=found.disputed,
            last_shown=self._runs.last_shown(receiver) if receiver else (),
            documents=found.documents,
            profile=profile,
        )
        return Made(
            found=found,
            profile=profile,
            built=built,
            settings=settings,
            scopes=scopes,
            where=where,
            limit=limit if usual else 0,
            clause_hits=clause_hits,
        )

    def answered(self, scope: Scope, session: str, answer: str) -> None:
        """Count which of the items in the last prompts of a session an answer takes up."""
        question, items = self._given.pop((scope, session), ("", {}))
        used = sum(takes_up(answer, text, question) for text in items.values())
        if used:
            self._meter.add("taken_up_items", used)

    def _note_given(
        self, scope: Scope, session: str, question: str, recalled: Recalled, ids: Sequence[str]
    ) -> None:
        _, items = self._given.pop((scope, session), ("", {}))
        hits = {hit.id: hit.item for hit in recalled}
        items |= {
            given: item.content
            for given in ids
            if isinstance(item := hits.get(given), Record | Turn)
        }
        self._given[scope, session] = (question, items)
        if len(self._given) > _MAX_SESSIONS:
            self._given.popitem(last=False)

    async def profile(self, caller: Caller, session: str) -> MemoryContext:
        """Return the profile alone, for a prompt that nothing is recalled for."""
        settings = self._settings
        if not self.is_enabled(caller.scope.agent):
            return MemoryContext(
                text="", tokens=0, ids=(), left_out=(), place=settings.context_place
            )
        profile = await self._profiles.read(caller)
        recall_id = new_id("recall")
        self._injected(
            Injection(
                recall_id=recall_id,
                scope=caller.scope,
                actor=caller.principal,
                at=self._clock.now(),
                question="",
                scopes=caller.readable,
                where=Filter(),
                limit=None,
                min_score=None,
                asked_at=None,
                items=(),
                profile=tuple(map(GivenItem.of_line, profile.lines)),
                form=settings.context_form,
                session=session,
            )
        )
        return MemoryContext(
            text=profile.text,
            tokens=profile.tokens,
            ids=(),
            left_out=(),
            profile=profile.text,
            place=settings.context_place,
            recall_id=recall_id,
        )

    async def _find(
        self,
        caller: Caller,
        message: str,
        scopes: Sequence[Scope],
        recalling: Coroutine[Any, Any, Recalled],
        within: float,
    ) -> Found:
        """Return what was found in time; what is late goes on, so that the next call is sooner."""
        ends = time.monotonic() + within
        found = await in_time(self._recall(recalling, scopes, within), within)
        if found is None:
            found = Found(recalled=Recalled(hits=(), degraded=(f"recall did not end {IN_TIME}",)))
        recalled = found.recalled
        left = max(0.0, ends - time.monotonic())
        documents = await in_time(self._documents(caller, message, recalled), left)
        if documents is None:
            note = f"documents were not read {IN_TIME}"
            recalled = replace(recalled, degraded=(*recalled.degraded, note))
        if any(note.endswith(IN_TIME) for note in recalled.degraded):
            self._tell_late(recalled.degraded)
        return replace(found, recalled=recalled, documents=documents or ())

    async def _recall(
        self, recalling: Coroutine[Any, Any, Recalled], scopes: Sequence[Scope], within: float
    ) -> Found:
        answer_within(_HURRIED_SHARE * within)
        recalled = await recalling
        return Found(recalled=recalled, disputed=await self._find_disputed(scopes, recalled))

    def _tell_late(self, notes: Sequence[str]) -> None:
        self._meter.add("late_prompts")
        level = logging.DEBUG if self._has_told_late else logging.WARNING
        _log.log(
            level,
            "a prompt was made without all that is remembered: %s (session.prepare_seconds)",
            "; ".join(notes),
        )
        self._has_told_late = True

    def _count(self, recalled: Recalled, built: MemoryContext, session: str) -> None:
        """Count what entered the prompt, and how much of it comes from another session."""
        entered = {hit.item.id: hit.item for hit in recalled if hit.id in built.ids}
        sessions = [getattr(item, "session", None) for item in entered.values()]
        self._meter.add("prompts")
        self._meter.add("injected_tokens", built.tokens)
        self._meter.add("injected_items", len(built.ids))
        self._meter.add("reused_items", sum(name not in (None, session) for name in sessions))

    async def _documents(
        self, caller: Caller, message: str, recalled: Recalled
    ) -> Sequence[Passage]:
        """Return passages of documents, if the message asks for knowledge."""
        budget = self._document_tokens
        if self._source is None or not budget or recalled.intent not in _ASKS_FOR_DOCUMENTS:
            return ()
        found = await self._source().passages(caller, message, max_tokens=budget)
        return found.passages

    async def _find_disputed(self, scopes: Sequence[Scope], recalled: Recalled) -> frozenset[str]:
        """Return the records that have an undecided conflict."""
        if not any(hit.record is not None for hit in recalled.hits):
            return frozenset()
        undecided = await self._conflicts.find(scopes)
        return frozenset(
            record for conflict in undecided for record in (conflict.first, conflict.second)
        )

    def _limit_of(self, agent: str | None) -> int:
        """Return the limit of an agent, which is 0 if memory is disabled for it."""
        return self._settings.prefetch_limit if agent is None else self._limit_of_agent(agent)

    def _settings_for(self, form: Form | None, max_tokens: int | None) -> RecallSettings:
        settings = self._settings
        if form is not None:
            settings = replace(settings, context_form=checked_choice(form, FORMS))
        if max_tokens is not None:
            settings = replace(settings, max_context_tokens=checked_tokens(max_tokens))
        return settings


def _question(message: str) -> str:
    """Return the message, or the beginning and the end of a long one, where questions stand."""
    if len(message) <= MAX_QUERY:
        return message
    half = MAX_QUERY // 2 - 1
    return f"{message[:half]}\n{message[-half:]}"


def _tongue(message: str) -> Tongue:
    return "zh" if language_of(message) == "zh" else "en"


def _words(item: object) -> str:
    """Return the text of a window item, whichever provider's format it has."""
    match item:
        case str():
            return item
        case Message():
            return item.text
        case Mapping():
            parts = cast("Mapping[str, object]", item)
            return "\n".join(_words(parts[name]) for name in ("text", "content") if name in parts)
        case list() | tuple():
            return "\n".join(map(_words, cast("Sequence[object]", item)))
        case _:
            return ""


def _records(recalled: Recalled, ids: Sequence[str]) -> list[Record]:
    records = {hit.id: hit.item for hit in recalled if isinstance(hit.item, Record)}
    return [records[record_id] for record_id in ids if record_id in records]


def _given(
    recalled: Recalled, documents: Sequence[Passage], ids: Sequence[str]
) -> tuple[GivenItem, ...]:
    given = {hit.id: GivenItem.of(hit) for hit in recalled}
    given |= {passage_id(passage): GivenItem.of_passage(passage) for passage in documents}
    return tuple(given[item_id] for item_id in ids)


# --- The blocks that readers were given: the last one of each, and who has what in a run ----------


_MAX_RUNS: Final = 1_000
_MAX_BLOCKS: Final = 10_000
_MAX_ITEMS: Final = 1_000
# A run without a request for this long is over.
_MAX_IDLE: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """The owner of a prompt: an agent in a run, or a session if the agent has no name."""

    scope: Scope
    run: tuple[str, str, str] | None
    name: str

    @classmethod
    def of(cls, scope: Scope, session: str, run: str | None) -> Receiver:
        if run is None:
            return cls(scope=scope, run=None, name=session)
        place = (scope.org, scope.workspace, checked_text(run, "run", MAX_LABEL))
        return cls(scope=scope, run=place, name=scope.agent or session)


@dataclass(slots=True)
class _Run:
    last_request: datetime
    # Who has each item, the latest last.
    owners: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str])


class ServedBlocks:
    """The items that each agent was given in the current runs of this process.

    An agent gets its own items again, because its block is rebuilt for every request.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._runs: OrderedDict[tuple[str, str, str], _Run] = OrderedDict()
        self._last_shown: OrderedDict[Receiver, tuple[str, ...]] = OrderedDict()

    def last_shown(self, receiver: Receiver) -> tuple[str, ...]:
        """Return the items of the receiver's last block, in order."""
        return self._last_shown.get(receiver, ())

    def given_to_others(self, receiver: Receiver) -> frozenset[str]:
        """Return what other agents of the run have."""
        known = None if receiver.run is None else self._runs.get(receiver.run)
        if known is None or self._is_over(known):
            return frozenset()
        return frozenset(item for item, owner in known.owners.items() if owner != receiver.name)

    def give(self, receiver: Receiver, items: Sequence[str]) -> None:
        """Note that a receiver has these items now, in this order."""
        self._last_shown[receiver] = tuple(items)
        self._last_shown.move_to_end(receiver)
        while len(self._last_shown) > _MAX_BLOCKS:
            self._last_shown.popitem(last=False)
        if receiver.run is None:
            return
        known = self._runs.pop(receiver.run, None)
        if known is None or self._is_over(known):
            known = _Run(self._clock.now())
        known.last_request = self._clock.now()
        for item in items:
            known.owners[item] = receiver.name
            known.owners.move_to_end(item)
        while len(known.owners) > _MAX_ITEMS:
            known.owners.popitem(last=False)
        self._runs[receiver.run] = known
        while len(self._runs) > _MAX_RUNS:
            self._runs.popitem(last=False)

    def _is_over(self, run: _Run) -> bool:
        return self._clock.now() - run.last_request > _MAX_IDLE


# --- Other sources of context for a prompt, besides records and turns -----------------------------


class PassageSource(Protocol):
    """A source of passages with citations, such as documents."""

    async def passages(self, caller: Caller, question: str, *, max_tokens: int) -> Passages:
        """Return the passages that answer a question well enough, within a budget of tokens."""
        ...
