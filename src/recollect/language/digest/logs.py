"""Logs: levels and status codes with their counts, and the time they span."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from recollect.language.digest.findings import Finding
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.wording import Wording

TIME: Final = re.compile(
    r"\d{4}[-/年]\d{1,2}[-/月]\d{1,2}日?[T ]?\d{1,2}:\d\d:\d\d|"
    r"\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d|"
    r"(?<![\d:])\d\d:\d\d:\d\d(?![\d:])"
)
_LEVELS: Final = {
    "TRACE": "TRACE",
    "DEBUG": "DEBUG",
    "INFO": "INFO",
    "NOTICE": "INFO",
    "WARN": "WARN",
    "WARNING": "WARN",
    "ERROR": "ERROR",
    "ERR": "ERROR",
    "SEVERE": "ERROR",
    "FATAL": "FATAL",
    "CRITICAL": "FATAL",
    "PANIC": "FATAL",
    "调试": "DEBUG",
    "信息": "INFO",
    "警告": "WARN",
    "错误": "ERROR",
    "严重": "FATAL",
}
_LEVEL: Final = re.compile(
    r"\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|SEVERE|FATAL|CRITICAL|PANIC)\b"
    r"|[\[【](调试|信息|警告|错误|严重)[\]】]"
    r"|\blevel=\"?(trace|debug|info|notice|warn(?:ing)?|err(?:or)?|fatal|critical|panic)\b"
    r"|\[(trace|debug|info|notice|warn(?:ing)?|err(?:or)?|fatal|critical)\]"
)
_REQUEST: Final = re.compile(
    r'"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) ([^\s"]++)[^"]*+" (\d{3})\b'
)
_HEAD_CHARS: Final = 120
_CLOCK: Final = re.compile(r"\d{1,2}:\d\d:\d\d")
_AFTER_TIME: Final = re.compile(r"(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?[\]\s|-]*")
_ORDER: Final = ("FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE")
_SERIOUS: Final = ("FATAL", "ERROR")


class Logs(Observer):
    """Reads lines that have a time or a level."""

    def __init__(self) -> None:
        self._lines = 0
        self._levels: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()
        self._failing: Counter[str] = Counter()
        self._first = ""
        self._last = ""
        self._serious: list[tuple[int, str]] = []

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether half of the lines have a time or a level near their beginning."""
        lines = sample.lines
        marked = sum(
            TIME.search(line, 0, _HEAD_CHARS) is not None
            or _LEVEL.search(line, 0, _HEAD_CHARS) is not None
            for line in lines
        )
        return len(lines) >= 5 and marked >= len(lines) / 2

    def read(self, line: str, number: int) -> bool:
        """Read the next line."""
        self._lines += 1
        if time := TIME.search(line, 0, _HEAD_CHARS):
            self._first = self._first or time[0]
            self._last = time[0]
        if level := _LEVEL.search(line, 0, _HEAD_CHARS):
            name = _LEVELS[next(group for group in level.groups() if group).upper()]
            self._levels[name] += 1
            if name in _SERIOUS:
                self._note(number, line)
        if '" ' in line and (request := _REQUEST.search(line)):
            self._statuses[request[2]] += 1
            if request[2] >= "400":
                self._failing[f"{request[2]} {request[1].partition('?')[0]}"] += 1
            return True
        return False

    def _note(self, number: int, line: str) -> None:
        if len(self._serious) < 2:
            self._serious.append((number, line))
        else:
            self._serious[1] = (number, line)

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield the counts, the span, and the first and last error."""
        parts = [say.say("log", lines=self._lines)]
        if self._first:
            parts.append(say.say("span", first=self._first, last=self._last))
        levels = [(name, self._levels[name]) for name in _ORDER if self._levels[name]]
        if levels:
            parts.append(say.say("levels", counts=say.counts(levels, 6)))
        yield Finding(text="; ".join(parts), weight=12.0, kind="log")
        if self._statuses:
            counts = say.counts(sorted(self._statuses.items()), 10)
            yield Finding(text=say.say("statuses", counts=counts), weight=10.0, kind="statuses")
            for path, count in self._failing.most_common(6):
                yield Finding(text=path, weight=6.0, count=count, kind="failing")
        for number, line in self._serious:
            yield Finding(
                text=f"{shortened(line)} (L{number})", weight=8.0, line=number, kind="serious"
            )


def shortened(line: str) -> str:
    """Return a line of a log with the time of day alone: the span tells the days."""
    time = TIME.search(line, 0, _HEAD_CHARS)
    clock = _CLOCK.search(time[0]) if time else None
    if time is None or clock is None:
        return line.strip()
    rest = line[time.end() :]
    behind = _AFTER_TIME.match(rest)
    told = rest[behind.end() :] if behind else rest
    return f"{line[: time.start()].strip(' [')} {clock[0]} {told}".strip()
