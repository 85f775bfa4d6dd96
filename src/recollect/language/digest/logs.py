"""Logs: levels with their counts, the time they span, requests by status, the first errors."""

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
    "CRITICAL": "CRITICAL",
    "PANIC": "FATAL",
    "CRIT": "CRITICAL",
    "ALERT": "CRITICAL",
    "EMERG": "FATAL",
    "V": "TRACE",
    "D": "DEBUG",
    "I": "INFO",
    "W": "WARN",
    "E": "ERROR",
    "F": "FATAL",
    "调试": "调试",
    "信息": "信息",
    "警告": "警告",
    "错误": "错误",
    "严重": "严重",
}
_LEVEL: Final = re.compile(
    r"\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|SEVERE|FATAL|CRITICAL|PANIC)\b"
    r"|(?<!\S)[\[【]?(调试|信息|警告|错误|严重)[\]】]?(?!\S)"
    r"|\blevel=\"?(trace|debug|info|notice|warn(?:ing)?|err(?:or)?|fatal|critical|panic)\b"
    r"|\[(?:\w+:)?(trace|debug|info|notice|warn(?:ing)?|err(?:or)?|fatal|critical|crit|alert|emerg)\]"
    r"|[\[【](调试|信息|警告|错误|严重)[\]】]"
    # One letter: before a date as in Kubernetes, behind a number as in Android, or with a comma.
    r"|^([IWEF])(?=\d{4} )|(?<=\d )([VDIWEF])(?= [^\s:]+ *: )|^([IWEF])(?=, \[)"
)
_HEAD_CHARS: Final = 120
_CLOCK: Final = re.compile(r"\d{1,2}:\d\d:\d\d")
_AFTER_TIME: Final = re.compile(r"(?:[.,]\d+)?(?:Z| ?[+-]\d\d:?\d\d)?[\]\s|-]*")
# A thread or a process by number.
_THREAD: Final = re.compile(r"\[[\w.:-]*\d\](?=[:\s]) ?")
_ORDER: Final = (
    *("FATAL", "CRITICAL", "严重", "ERROR", "错误", "WARN", "警告"),
    *("INFO", "信息", "DEBUG", "调试", "TRACE"),
)
_WARNED: Final = ("WARN", "警告")
_SERIOUS: Final = ("FATAL", "CRITICAL", "ERROR", "严重", "错误")


class Logs(Observer):
    """Reads lines that have a time or a level."""

    def __init__(self) -> None:
        self._lines = 0
        self._levels: Counter[str] = Counter()
        self._first = ""
        self._last = ""
        self._serious: list[tuple[int, str]] = []
        self._newest = ""
        # What the level of the line that was read last signals.
        self.signal = ""

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
        if not self._first or number % 16 == 0:
            self._note_time(line)
        level = _LEVEL.search(line, 0, _HEAD_CHARS)
        self.signal = ""
        if level is not None:
            name = _LEVELS[next(group for group in level.groups() if group).upper()]
            self._levels[name] += 1
            if name in _SERIOUS:
                self._note(number, line)
                self.signal = "failure"
            elif name in _WARNED:
                self.signal = "warning"
        self._newest = line
        return False

    def _note_time(self, line: str) -> None:
        if time := TIME.search(line, 0, _HEAD_CHARS):
            self._first = self._first or time[0]
            self._last = time[0]

    def _note(self, number: int, line: str) -> None:
        if len(self._serious) < 2:
            self._serious.append((number, line))
        else:
            self._serious[1] = (number, line)

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield the counts, the span, and the first and last error."""
        parts = [say.say("log", lines=self._lines)]
        self._note_time(self._newest)
        if self._first:
            parts.append(say.say("span", first=self._first, last=_end(self._first, self._last)))
        levels = [(name, self._levels[name]) for name in _ORDER if self._levels[name]]
        if levels:
            parts.append(say.counts(levels, 6))
        yield Finding(text="; ".join(parts), weight=13.0, kind="log")
        for number, line in self._serious:
            yield Finding(
                text=f"{shortened(line)} (L{number})", weight=7.0, line=number, kind="serious"
            )


def _end(first: str, last: str) -> str:
    """Return the later time without the day that both have in common."""
    clock = _CLOCK.search(last)
    if clock is None or first[: clock.start()] != last[: clock.start()]:
        return last
    return clock[0]


def shortened(line: str) -> str:
    """Return a line of a log with the time of day alone: the span tells the days."""
    time = TIME.search(line, 0, _HEAD_CHARS)
    clock = _CLOCK.search(time[0]) if time else None
    if time is None or clock is None:
        return line.strip()
    rest = line[time.end() :]
    behind = _AFTER_TIME.match(rest)
    rest = rest[behind.end() :] if behind else rest
    told = f"{line[: time.start()].strip(' [')} {clock[0]} {_THREAD.sub('', rest, count=2)}"
    return re.sub(r"\s{2,}", " ", told).strip()


# --- Requests that a web server notes -------------------------------------------------------------

REQUEST: Final = re.compile(
    r"^(?P<client>\S+) .{0,60}?\[(?P<time>[^\]]{5,40})\] "
    r'"(?P<method>[A-Z]{3,8}) (?P<path>[^\s"]++)[^"]*+" (?P<status>\d{3}) (?P<bytes>\d+|-)'
)
_SECONDS: Final = re.compile(r"(?:\brt=|request_time[=:]|\s)(\d+\.\d+)\s*$")
_FAILING: Final = "400"
_SHOWN_PATHS: Final = 6
# Many more than the usual: of paths those that one client asks for, of sizes the largest.
_MANY: Final = 0.05


class Requests(Observer):
    """Reads the access log of a web server."""

    def __init__(self) -> None:
        self._lines = 0
        self._statuses: Counter[str] = Counter()
        self._failing: dict[str, Counter[str]] = {}
        self._clients: dict[str, Counter[str]] = {}
        self._first = self._last = ""
        self._largest: tuple[int, int, str] = (0, 0, "")
        self._slowest: dict[str, tuple[float, str]] = {}
        self._sum = 0

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether most lines are requests."""
        lines = sample.lines
        matched = sum(REQUEST.match(line) is not None for line in lines)
        return len(lines) >= 5 and matched >= 0.8 * len(lines)

    def read(self, line: str, number: int) -> bool:
        """Read the next request."""
        found = REQUEST.match(line)
        if found is None:
            return False
        self._lines += 1
        client, time, _, path, status, size = found.groups()
        self._first = self._first or time.partition(" ")[0]
        self._last = time.partition(" ")[0]
        self._statuses[status] += 1
        amount = int(size) if size != "-" else 0
        self._sum += amount
        if amount > self._largest[0]:
            self._largest = (amount, number, f"{found['method']} {path} ({client})")
        if status >= _FAILING:
            plain = path if len(path) <= 80 else path.partition("?")[0]
            paths = self._failing.setdefault(status, Counter())
            if plain in paths or len(paths) < 1_000:
                paths[f"{found['method']} {plain}"] += 1
            clients = self._clients.setdefault(status, Counter())
            if client in clients or len(clients) < 1_000:
                clients[client] += 1
            if seconds := _SECONDS.search(line):
                slowest = self._slowest.get(status, (0.0, ""))
                self._slowest[status] = max(slowest, (float(seconds[1]), seconds[1]))
        return True

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield the statuses, what failed and for whom, and the largest answer."""
        parts = [
            say.say("log", lines=self._lines),
            say.say("span", first=self._first, last=_end(self._first, self._last)),
        ]
        yield Finding(text="; ".join(parts), weight=13.0, kind="log")
        counts = say.counts(sorted(self._statuses.items()), 10)
        yield Finding(text=say.say("statuses", counts=counts), weight=12.0, kind="statuses")
        for status, paths in self._failing.items():
            told = say.counts(paths.most_common(), _SHOWN_PATHS)
            client, most = self._clients[status].most_common(1)[0]
            of_client = f" ({client} × {most})" if most > 2 else ""
            if most > 1 and most == self._statuses[status]:
                of_client = f" ({client})"
            seconds = self._slowest.get(status)
            slow = f", {seconds[1]} s" if seconds and seconds[0] >= 1 else ""
            text = f"{status}: {told}{of_client}{slow}"
            yield Finding(text=text, weight=9.0, kind="failing")
        amount, number, told = self._largest
        if amount > 20 * self._sum / max(1, self._lines):
            text = say.say("largest_answer", size=str(amount), what=told)
            yield Finding(text=text, weight=8.0, line=number, kind="largest")
