"""Digests: what matters in a long text, within a budget of tokens.

The whole text is read in one pass. Lines that differ only in numbers count once; readers of common
shapes (test runs, logs, stack traces, tables, JSON, diffs, listings …) say first what a person
would look for; the rest of the budget goes to the lines with the strongest signals, spread over
their kinds and over the text. A shape is guessed from the text alone, and what it does not explain
is still read as lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from recollect.language.characters import one_line
from recollect.language.digest.blocks import Blocks
from recollect.language.digest.changes import Changes
from recollect.language.digest.encoded import encoded_kind, kind_of
from recollect.language.digest.findings import Finding, fitting
from recollect.language.digest.json_values import JsonLines, findings_of, parsed
from recollect.language.digest.lines import Lines
from recollect.language.digest.listings import Listings, Matches
from recollect.language.digest.logs import TIME, Logs, Requests, shortened
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.outlines import Outlines, Symbols, is_html, outline, without_tags
from recollect.language.digest.runs import Runs
from recollect.language.digest.settings_files import SettingsFile
from recollect.language.digest.sources import sources_of_text, sources_of_value
from recollect.language.digest.tables import Tables
from recollect.language.digest.talks import Mails, Prose, Transcript
from recollect.language.digest.traces import Traces
from recollect.language.digest.wording import Wording
from recollect.language.summary import tongue_of

_SAMPLE_LINES: Final = 200
_SAMPLE_CHARS: Final = 200_000
_NOTES: Final = frozenset(("note",))
_SIGNALS: Final = frozenset(("failure", "warning", "note"))
# Of these the first that recognises a text reads it.
_EXCLUSIVE: Final[tuple[type[Observer], ...]] = (
    *(Changes, JsonLines, Requests, Matches, Runs, Listings),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What a digest says, and the sources that the text names."""

    findings: tuple[Finding, ...] = ()
    sources: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(finding.told for finding in self.findings)

    @property
    def lines(self) -> tuple[int, ...]:
        """Return the lines that it points at, the weightiest first."""
        weighty = sorted(self.findings, key=lambda finding: -finding.weight)
        return tuple(dict.fromkeys(finding.line for finding in weighty if finding.line))


def digest(text: str, room: int, cost: Callable[[str], int], *, query: str = "") -> Digest:
    """Return what matters in a text, one finding a line, in at most `room` tokens."""
    say = Wording(tongue_of([text[:_SAMPLE_CHARS]]))
    encoded = encoded_kind(text)
    if encoded is not None:
        kind, size = encoded
        return Digest(findings=(Finding(text=say.say("binary", kind=kind, size=size), weight=1.0),))
    findings: list[Finding] = []
    if is_html(text):
        text, headings = without_tags(text)
        if headings:
            findings += outline([*dict.fromkeys(headings)], say)
    value = parsed(text)
    if value is not None:
        findings.extend(findings_of(value, say))
        return Digest(
            findings=_chosen(findings, text, room, cost, 1), sources=sources_of_value(value)
        )
    reading = _Reading.of(text, query, is_page=bool(findings))
    for number, line in enumerate(_lines_of(text), 1):
        reading.read(line, number)
    findings.extend(reading.findings(say))
    return Digest(
        findings=_chosen(findings, text, room, cost, reading.lines.number),
        sources=sources_of_text(text),
    )


@dataclass(slots=True)
class _Reading:
    """Who reads the lines of a text."""

    lines: Lines
    observers: list[Observer]
    # Whether lines are rows of something that an observer tells of.
    is_structured: bool = False
    is_log: bool = False
    is_code: bool = False
    prose: Prose | None = None

    @classmethod
    def of(cls, text: str, query: str, *, is_page: bool) -> _Reading:
        """Return the readers for a text, by its beginning and its end."""
        lines = Lines(query)
        sample = Sample(
            head=text[:_SAMPLE_CHARS].split("\n")[:_SAMPLE_LINES],
            tail=text[-_SAMPLE_CHARS:].split("\n")[-_SAMPLE_LINES:]
            if text.count("\n", 0, _SAMPLE_CHARS) > _SAMPLE_LINES
            else (),
            text=text[:_SAMPLE_CHARS],
        )
        if is_page:
            return cls(lines, [], prose=Prose(lines))
        for shape in _EXCLUSIVE:
            if shape.recognises(sample):
                is_structured = shape is not Matches
                return cls(lines, [shape()], is_structured=is_structured)
        if Mails.recognises(sample):
            return cls(lines, [Mails()], prose=Prose(lines))
        if Tables.recognises(sample):
            return cls(lines, [Tables(sample)], is_structured=True)
        if Transcript.recognises(sample) and not Blocks.recognises(sample):
            return cls(lines, [Transcript(lines)], prose=Prose(lines))
        if Logs.recognises(sample):
            return cls(lines, [Traces(), Logs()], is_log=True)
        if SettingsFile.recognises(sample):
            return cls(lines, [SettingsFile()], is_structured=True)
        if Blocks.recognises(sample):
            return cls(lines, [Blocks(sample)])
        if Symbols.recognises(sample):
            return cls(lines, [Symbols()], is_code=True)
        observers: list[Observer] = [Traces()]
        if Outlines.recognises(sample):
            observers.append(Outlines(lines))
        is_prose = len(observers) > 1 or Prose.recognises(sample)
        return cls(lines, observers, prose=Prose(lines) if is_prose else None)

    def read(self, line: str, number: int) -> None:
        """Read the next line; what is told already is not quoted."""
        is_told = False
        for observer in self.observers:
            is_told |= observer.read(line, number)
        self.lines.number = number
        if is_told:
            if self.prose is not None:
                self.prose.end()
        elif self.prose is not None:
            self.prose.read(line, number)
        elif self.is_log and line:
            level = next((it.signal for it in self.observers if isinstance(it, Logs)), "")
            self.lines.read(_message(line), number, line, level)
        elif text := line.strip():
            self.lines.read(text, number)

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield what was found."""
        if self.prose is not None:
            self.prose.end()
        for observer in self.observers:
            yield from observer.findings(say)
        # What may go wrong is what code is about: there only notes count.
        quoted = self.lines.findings(
            is_beside=self.is_structured or self.is_code,
            signals=_NOTES if self.is_code else _SIGNALS,
            is_spoken=self.prose is not None,
        )
        traces = next((it for it in self.observers if isinstance(it, Traces)), None)
        named = set[str]() if traces is None else traces.named
        for finding in quoted:
            if finding.text.strip() in named:
                continue
            yield replace(finding, text=shortened(finding.text)) if self.is_log else finding


def _message(line: str) -> str:
    """Return a line of a log without its time, by which every line differs."""
    time = TIME.search(line, 0, 80)
    return line.strip() if time is None else line[time.end() :].strip()


def _chosen(
    findings: list[Finding], text: str, room: int, cost: Callable[[str], int], lines: int
) -> tuple[Finding, ...]:
    """Return the findings that fit; the beginning of a text in which nothing stands out."""
    chosen = fitting(findings, room, cost, lines)
    if not chosen and (opening := one_line(text, 8 * room)):
        while opening and (size := cost(opening)) > room:
            opening = opening[: min(len(opening) - 1, len(opening) * room // size)].rstrip()
        chosen = [Finding(text=opening, weight=1.0)]
    return tuple(chosen)


def digest_of_bytes(data: bytes) -> Digest:
    """Return the kind and the size of what is not text."""
    told = Wording("en").say("binary", kind=kind_of(data), size=len(data))
    return Digest(findings=(Finding(text=told, weight=1.0),))


def _lines_of(text: str) -> Iterator[str]:
    """Yield the lines of a text without copying it as a whole."""
    begin = 0
    while (end := text.find("\n", begin)) >= 0:
        yield text[begin:end]
        begin = end + 1
    if begin < len(text):
        yield text[begin:]
