"""Digests: what matters in a long text, within a budget of tokens.

The whole text is read in one pass. Lines that differ only in numbers count once; readers of common
shapes (test runs, logs, stack traces, tables, JSON, diffs, listings …) say first what a person
would look for; the rest of the budget goes to the lines with the strongest signals, spread over
their kinds and over the text. A shape is guessed from the text alone, and what it does not explain
is still read as lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from recollect.language.characters import one_line
from recollect.language.digest.changes import Changes
from recollect.language.digest.encoded import encoded_kind, kind_of
from recollect.language.digest.findings import MAX_CHARS, Finding, fitting
from recollect.language.digest.json_values import JsonLines, findings_of, parsed
from recollect.language.digest.lines import Lines
from recollect.language.digest.listings import Listings, Matches
from recollect.language.digest.logs import Logs, shortened
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.outlines import Outlines, Symbols, is_html, without_tags
from recollect.language.digest.runs import Runs
from recollect.language.digest.sources import sources_of_text, sources_of_value
from recollect.language.digest.tables import Tables
from recollect.language.digest.traces import Traces
from recollect.language.digest.wording import Wording
from recollect.language.summary import tongue_of

_SAMPLE_LINES: Final = 200
_SAMPLE_CHARS: Final = 200_000
# Of these the first that recognises a text reads it alone; the others may read it together.
_EXCLUSIVE: Final[tuple[type[Observer], ...]] = (Changes, JsonLines, Matches, Listings)
_SHARED: Final[tuple[type[Observer], ...]] = (Logs, Outlines, Symbols)


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
        told = say.say("binary", kind=kind, size=size)
        return Digest(findings=(Finding(text=told, weight=1.0),))
    findings: list[Finding] = []
    if is_html(text):
        text, headings = without_tags(text)
        if headings:
            told = say.say("outline", headings=say.names(dict.fromkeys(headings), 14))
            findings.append(Finding(text=told, weight=12.0, kind="outline"))
    value = parsed(text)
    if value is not None:
        findings.extend(findings_of(value, say))
        return Digest(
            findings=_chosen(findings, text, room, cost, 1), sources=sources_of_value(value)
        )
    observers = _observers(text)
    is_log = any(isinstance(observer, Logs) for observer in observers)
    lines = Lines(query, shortened if is_log else str.strip)
    for number, line in enumerate(_lines_of(text), 1):
        told = [observer.read(line, number) for observer in observers]
        lines.read(line, number, is_told=any(told))
    for observer in observers:
        findings.extend(observer.findings(say))
    is_structured = any(isinstance(observer, (*_EXCLUSIVE, Tables, Runs)) for observer in observers)
    findings.extend(lines.findings(only_signals=is_structured))
    return Digest(
        findings=_chosen(findings, text, room, cost, lines.number), sources=sources_of_text(text)
    )


def _chosen(
    findings: list[Finding], text: str, room: int, cost: Callable[[str], int], lines: int
) -> tuple[Finding, ...]:
    """Return the findings that fit; the beginning of a text in which nothing stands out."""
    chosen = fitting(findings, room, cost, lines)
    if not chosen and (opening := one_line(text, MAX_CHARS)):
        while opening and (size := cost(opening)) > room:
            opening = opening[: min(len(opening) - 1, len(opening) * room // size)].rstrip()
        chosen = [Finding(text=opening, weight=1.0)]
    return tuple(chosen)


def digest_of_bytes(data: bytes) -> Digest:
    """Return the kind and the size of what is not text."""
    told = Wording("en").say("binary", kind=kind_of(data), size=len(data))
    return Digest(findings=(Finding(text=told, weight=1.0),))


def _observers(text: str) -> list[Observer]:
    sample = Sample(
        head=text[:_SAMPLE_CHARS].split("\n")[:_SAMPLE_LINES],
        tail=text[-_SAMPLE_CHARS:].split("\n")[-_SAMPLE_LINES:]
        if text.count("\n", 0, _SAMPLE_CHARS) > _SAMPLE_LINES
        else (),
        text=text[:_SAMPLE_CHARS],
    )
    found: list[Observer] = [Traces()]
    for shape in _EXCLUSIVE:
        if shape.recognises(sample):
            return [*found, shape()]
    if Tables.recognises(sample):
        return [*found, Tables(sample)]
    if Runs.recognises(sample):
        # The code that a failure quotes is not what the text is about.
        return [*found, Runs()]
    return [*found, *(shape() for shape in _SHARED if shape.recognises(sample))]


def _lines_of(text: str) -> Iterator[str]:
    """Yield the lines of a text without copying it as a whole."""
    begin = 0
    while (end := text.find("\n", begin)) >= 0:
        yield text[begin:end]
        begin = end + 1
    if begin < len(text):
        yield text[begin:]
