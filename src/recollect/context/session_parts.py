"""The services and options that all sessions share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from recollect.context.archives.manager import ArchiveOptions, ArchiveParts
from recollect.context.archives.triggers import TriggerOptions
from recollect.context.compression import CompressionOptions
from recollect.context.notes import NotesOptions
from recollect.context.notes_rules import NotesRule
from recollect.context.scratchpad import SCRATCHPAD_TTL
from recollect.context.summariser import Summariser
from recollect.domain.scope import Caller
from recollect.ports.state import State
from recollect.recall.prefetch import Prefetch
from recollect.writing.observer import Observer


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionParts:
    """The services of a session.

    `ended` is called with the caller whose session has ended, `left` with one whose session was
    closed after something was said.
    """

    archive: ArchiveParts
    observer: Observer
    prefetch: Prefetch
    state: State
    summariser: Summariser
    ended: Callable[[Caller, str], Awaitable[None]]
    left: Callable[[Caller, str], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """The default behaviour of sessions."""

    context_tokens: int = 128_000
    # The context size of models that differ, by the beginning of their names.
    models: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    share: float = 0.70
    messages: int = 50
    # Seconds that a prompt waits for summaries of messages that would otherwise be left out.
    patience: float = 2.0
    # How long the state of an inactive session is kept.
    keep_for: timedelta = timedelta(days=30)
    scratchpad_ttl: timedelta = SCRATCHPAD_TTL
    compression: CompressionOptions = field(default_factory=CompressionOptions)
    archive: ArchiveOptions = field(default_factory=ArchiveOptions)
    trigger: TriggerOptions = field(default_factory=TriggerOptions)
    notes: NotesOptions = field(default_factory=NotesOptions)
    notes_rules: Mapping[str, NotesRule] = field(default_factory=dict[str, NotesRule], hash=False)
