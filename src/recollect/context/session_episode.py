"""The episode of an ended session: what it was about and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from recollect.context.message_formats import messages_of
from recollect.context.summariser import Summariser
from recollect.domain.fields import MAX_ITEMS, MAX_LABEL, Draft, RecordFields
from recollect.domain.filters import Filter
from recollect.domain.job import Job
from recollect.domain.message import Message, TextPart
from recollect.domain.record import Evidence, Kind, Record
from recollect.domain.scope import Caller
from recollect.domain.summary import PointKind, SegmentSummary
from recollect.domain.turn import Turn
from recollect.language.memory_block import strip_memory
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.writing.saver import Saver
from recollect.writing.schedule import session_of

SOURCE: Final = "session"
_CATEGORY: Final = "task-traces"
_IMPORTANCE: Final = 0.5
_CONFIDENCE: Final = 0.8
_OUTCOMES: Final = (PointKind.DECISION, PointKind.CONCLUSION, PointKind.AGREEMENT)
_STOPS: Final = "。！？!?;；."


class SessionEpisodes:
    """A job that stores one episode per session, updated when the session ends again."""

    def __init__(
        self, store: Store, saver: Saver, summariser: Summariser, clock: Clock, *, after: int
    ) -> None:
        self._store = store
        self._saver = saver
        self._summariser = summariser
        self._clock = clock
        self._after = after

    async def run(self, job: Job) -> None:
        """Run the job."""
        caller, session = session_of(job)
        await self.keep(caller, session)

    async def keep(self, caller: Caller, session: str) -> Record | None:
        """Store and return the episode of a session; None if too little was said."""
        turns = await self._store.turns([caller.scope], Filter(session=session))
        if sum(turn.role == "user" for turn in turns) < self._after:
            return None
        messages = [_without_memory(message) for turn in turns for message in messages_of(turn)]
        summary = await self._summariser.segment(messages, 0, len(messages))
        if not summary.points:
            return None
        kept = await self._find_episode(caller, session)
        content, fields = _content(summary), _fields(summary, turns, session)
        if kept is None:
            draft: Draft = {**fields, "content": content}
            (record,) = await self._saver.create(caller, [draft], reason="the session ended")
            return record
        if kept.content == content:
            return kept
        reason = "the session went on"
        return await self._saver.update(caller, kept.id, content, fields, reason=reason)

    async def _find_episode(self, caller: Caller, session: str) -> Record | None:
        where = Filter(kinds=frozenset({Kind.EPISODIC}), session=session)
        found = await self._store.records([caller.scope], where, now=self._clock.now())
        return next((record for record in found if record.source == SOURCE), None)


def _without_memory(message: Message) -> Message:
    """Return the message without injected memory, which is not part of what happened."""
    if "<memory" not in message.text:
        return message
    return replace(message, parts=(TextPart(text=strip_memory(message.text)),))


def _content(summary: SegmentSummary) -> str:
    """Return all points as sentences, grouped by kind."""
    is_chinese = summary.language == "zh"
    sentences: list[str] = []
    for kind in PointKind:
        for text in summary.told(kind):
            end = "" if text[-1:] in _STOPS else ("。" if is_chinese else ".")
            sentences.append(f"{text}{end}")
    return ("" if is_chinese else " ").join(dict.fromkeys(sentences))


def _fields(summary: SegmentSummary, turns: Sequence[Turn], session: str) -> RecordFields:
    said = {turn.id: turn for turn in turns}
    outcome = [text for kind in _OUTCOMES for text in summary.told(kind)]
    speakers = (turn.speaker or turn.role for turn in turns if turn.role in ("user", "assistant"))
    evidence = [Evidence(turn=turn_id) for turn_id in summary.turn_ids if turn_id in said][
        :MAX_ITEMS
    ]
    return RecordFields(
        kind=Kind.EPISODIC,
        category=_CATEGORY,
        title=(summary.topics[0] if summary.topics else "")[:MAX_LABEL],
        importance=_IMPORTANCE,
        confidence=_CONFIDENCE,
        evidence=evidence,
        source=SOURCE,
        session=session,
        task=turns[-1].task,
        first_observed=turns[0].at,
        participants=tuple(dict.fromkeys(speakers)),
        outcome=" ".join(outcome),
        timestamp=turns[-1].at,
    )
