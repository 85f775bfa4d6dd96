"""One recalled hit as an item of the block: its section, its text and its notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from recollect.domain.context import Form, Tongue
from recollect.domain.document import Passage
from recollect.domain.hit import ArchivePassage, Hit
from recollect.domain.record import Episode, Kind, Procedure, Record, with_aliases
from recollect.domain.times import EPOCH
from recollect.domain.turn import Turn
from recollect.domain.unit import ARCHIVE
from recollect.language.sentences import passages
from recollect.language.times.mentions import days_ago
from recollect.recall.fence import SECTIONS, fenced
from recollect.recall.note_words import WORDS, NoteWords

# Of a longer text the matching passage is shown, with the id of the whole.
LONG: Final = 600

_PREFERENCES, _PROJECT, _EPISODES, _PROCEDURES, _DOCUMENTS = SECTIONS
_BY_KIND: Final[Mapping[Kind, str]] = {Kind.EPISODIC: _EPISODES, Kind.PROCEDURAL: _PROCEDURES}
_BY_CATEGORY: Final[Mapping[str, str]] = {
    name: section
    for section, categories in (
        (_PREFERENCES, ("user", "feedback", "sentiment")),
        (_EPISODES, ("task-traces", "tool-effects", "follow-up")),
    )
    for category in categories
    for name in with_aliases(category)
}
_STATED_BY_USER: Final = frozenset({"user", "user-stated"})
_NO_BRACKETS: Final = str.maketrans("", "", "[]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A hit in the block: its own words, and the escaped text made of them."""

    id: str
    section: str
    at: datetime
    title: str
    body: str
    text: str


def as_item(
    hit: Hit, form: Form, now: datetime, conversation: Tongue, *, is_disputed: bool = False
) -> Item:
    """Return a hit as an item of the block, with notes in the conversation's language."""
    words = WORDS[conversation]
    body, is_excerpt = _body(hit)
    match hit.item:
        case Record():
            section, at, notes = _about_record(hit.item, words)
            label, title = hit.item.category, _title(hit.item)
        case Turn():
            section, at, notes = _about_turn(hit.item, words)
            label, title = "turn", hit.item.speaker
        case ArchivePassage():
            section, at, notes = _EPISODES, hit.item.created_at, hit.item.id
            label, title = ARCHIVE, hit.item.tool
    if hit.replaced_by is not None:
        notes = f"{notes}, {words.superseded}"
    elif hit.followed_by is not None:
        notes = f"{notes}, {words.earlier}"
    if is_disputed:
        notes = f"{notes}, {words.disputed}"
    if is_excerpt:
        notes = f"{notes}, {words.whole.format(hit.id)}"
    if body.startswith(title):
        title = ""
    parts = _ItemParts(
        label=fenced(label).translate(_NO_BRACKETS),
        title=title,
        body=body,
        ellipsis=" …" if is_excerpt else "",
        notes=fenced(notes),
        when=days_ago(at, now, conversation),
    )
    if form == "flat":
        text = parts.flat()
    else:
        text = parts.as_episode() if section == _EPISODES else parts.as_fact()
    return Item(id=hit.id, section=section, at=at, title=title, body=body, text=text)


def passage_id(passage: Passage) -> str:
    """Return the id of a passage in a block: its document and character range."""
    citation = passage.citation
    return f"{citation.document}:{citation.start}-{citation.end}"


def passage_item(passage: Passage, form: Form) -> Item:
    """Return a passage of a document as an item that cites its place."""
    citation = passage.citation
    where = f"{citation.document}, {citation.start}-{citation.end}"
    body = passage.content.strip()
    if form == "flat":
        text = f"[document] {fenced(citation.label)}\n{fenced(body)} ({fenced(where)})"
    else:
        text = f"- {fenced(f'{citation.label}: {body}')} ({fenced(where)})"
    return Item(
        id=passage_id(passage),
        section=_DOCUMENTS,
        at=EPOCH,
        title=citation.label,
        body=body,
        text=text,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ItemParts:
    """The parts of an item's text; the notes always come last."""

    label: str
    title: str
    body: str
    ellipsis: str
    notes: str
    when: str

    def as_fact(self) -> str:
        return f"- {self._line()} ({self.notes}, {self.when})"

    def as_episode(self) -> str:
        return f"- [{self.when}] {self._line()} ({self.notes})"

    def flat(self) -> str:
        heading = f"[{self.label}] {fenced(self.title)}".rstrip()
        return f"{heading}\n{fenced(self.body)}{self.ellipsis} ({self.notes}, {self.when})"

    def _line(self) -> str:
        return fenced(f"{self.title}: {self.body}" if self.title else self.body) + self.ellipsis


def section_of(record: Record) -> str:
    """Return the section of a record: by its kind, and for a fact by its category."""
    if record.kind in _BY_KIND:
        return _BY_KIND[record.kind]
    return _BY_CATEGORY.get(record.category, _PROJECT)


def _about_record(record: Record, words: NoteWords) -> tuple[str, datetime, str]:
    # An event keeps its date; a fact is as fresh as its last confirmation.
    at = record.observed_at if record.kind is Kind.EPISODIC else record.last_confirmed
    notes = (
        _origin(record, words),
        words.confidence.format(record.confidence),
        words.sources.format(record.evidence_count),
    )
    return section_of(record), at, ", ".join(notes)


def _about_turn(turn: Turn, words: NoteWords) -> tuple[str, datetime, str]:
    return _EPISODES, turn.at, f"{words.turn}, {words.roles.get(turn.role, turn.role)}"


def _origin(record: Record, words: NoteWords) -> str:
    """Return who vouches for a record: another agent, the user, inference, or an explicit save."""
    if record.scope.is_shared:
        return words.shared.format(record.source)
    if record.source in _STATED_BY_USER:
        return words.stated
    return words.inferred if record.evidence else words.saved


def _title(record: Record) -> str:
    if isinstance(record.details, Procedure):
        return record.title or record.details.trigger
    return record.title


def _body(hit: Hit) -> tuple[str, bool]:
    """Return the text of a hit to show, and whether it is only a part."""
    details = hit.item.details if isinstance(hit.item, Record) else None
    if isinstance(details, Procedure) and details.steps:
        return " → ".join(details.steps), False
    content = hit.content.strip()
    if len(content) > LONG:
        is_part = len(hit.passage) < len(hit.content)
        passage = (hit.passage if is_part else _best_passage(hit)).strip()
        return passage, len(passage) < len(content)
    if isinstance(details, Episode) and details.outcome not in content:
        return f"{content} → {details.outcome}", False
    return content, False


def _best_passage(hit: Hit) -> str:
    """Return the passage with most of the matched terms, for a text that matched as a whole."""
    pieces = [hit.content[start:end] for start, end in passages(hit.content)]
    terms = hit.explanation.matched_terms
    return max(pieces, key=lambda piece: sum(term in piece.casefold() for term in terms))
