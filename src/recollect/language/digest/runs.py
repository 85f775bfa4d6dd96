"""Test runs and builds: how many passed and failed, which, where and why, and how the run ended."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from recollect.language.digest.findings import Finding
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.traces import FOREIGN
from recollect.language.digest.wording import Wording

_TOTALS: Final = re.compile(
    r"^=+ (?=.* =+$).*\b\d+ (?:passed|failed|errors?|skipped|deselected)\b"
    r"|^(?:Ran \d+ tests? in |FAILED \((?:failures|errors)=|OK(?: \(.*\))?$)"
    r"|^\s*(?:Tests?|Test Suites|Test Files|Snapshots|Assertions)[: ]\s.*"
    r"\d (?:passed|failed|total|skipped)"
    r"|^\s*\d+ (?:passing|failing|pending)\b"
    r"|^test result: "
    r"|Tests run: \d+, Failures: \d+|^Tests: \d+, Assertions: \d+"
    r"|^\d+ tests? completed|^\d+% tests passed|^\s*\d+ examples?, \d+ failures?"
    r"|\bBUILD (?:FAILURE|SUCCESS|FAILED|SUCCESSFUL)\b|^Build (?:FAILED|succeeded)"
    r"|^Found \d+ (?:errors?|warnings?)|✖ \d+ problems?|^\d+ errors?$"
    r"|^# (?:tests|pass|fail|skipped) \d+$"
    r"|^\d+ (?:errors?|warnings?)(?: and \d+ warnings?)? generated|generated \d+ warnings?"
    r"|^\s*\d+ (?:(?:Error|Warning)\(s\)|个(?:错误|警告))"
    r"|^error: (?:could not compile|aborting due to)|^g?make(?:\[\d+\])?: \*\*\* .*Error"
    r"|^\s*(?:Total (?:Test )?[Tt]ime|Finished in|Duration|Done in|Time|Time Elapsed|已用时间)\b"
    r"[^\d]{0,12}[\d:.]+"
    r"|(?:passed|failed|skipped)[,;|] +\d+ (?:passed|failed|skipped)"
    r"|(?:通过|失败|跳过)\s*(?:[:：]\s*)?\d.*(?:通过|失败|跳过)|^\s*(?:构建|编译|生成)(?:失败|成功)",
)
# What names a test that failed; the lines behind it tell why.
_HEAD: Final = re.compile(
    r"^_{3,} (?:ERROR at (?:setup|teardown) of )?(?P<pytest>\S.*?) _{3,}$"
    r"|^(?:FAIL|ERROR): (?P<unittest>\S+(?: \(.*\))?)$"
    r"|^\s*● (?P<jest>.+ › .+)"
    r"|^\s*--- FAIL: (?P<go>\S+)"
    r"|^---- (?P<rust>\S+) stdout ----"
    r"|^\[  FAILED  \] (?P<gtest>\w\S+)"
    r"|^.{0,100}Test +#\d+: (?P<ctest>\S+) \.* *\*\*\*(?!Not Run)(?P<status>.+?)(?<! ) +[\d.]+ sec"
    r"|^not ok \d+ -? ?(?P<tap>.+)"
    r"|^\s*\d+\) (?P<mocha>\S.+)"
    r"|^\[ERROR\] +(?P<maven>\S+:\d+ .+)"
    r"|^用例失败[:：] ?(?P<chinese>.+)"
    r"|^\s*FAIL\s+(?P<nested>\S.*? > .+)"
    r"|^\s*FAIL\s+(?P<suite>[\w@./\\-]+\.\w{1,5})(?: \[.*\])?$"
    r"|^(?P<described>\S.*? [>›] .+?) (?:FAILED|失败)$"
    r"|^\[ERROR\] +(?P<surefire>[\w$]+(?:\.[\w$]+)+) -- Time elapsed: .{0,60}!$"
)
_FAILED: Final = re.compile(
    r"^(?:FAILED|ERROR) (?P<pytest>\S+?)(?: - (?P<reason>.+))?$"
    r"|^(?P<verbose>(?=\S+::\S)\S.*?) (?:FAILED|ERROR)\b"
    r"|^\s*(?:✕|✗|×|✘) (?P<mark>.+?)(?: \([\d.]+ ?m?s\))?$"
    r"|^test (?P<rust>\S+) \.\.\. FAILED"
    r"|^> Task (?P<gradle>\S+) FAILED"
)
_ERROR: Final = re.compile(
    r"^(?:\d+>)?(?P<place>\S.*?[:(]\d+(?:[:,]\d+)?\)?): (?:fatal )?error:? ?(?P<told>.+)"
    r"|^(?P<rustc>error(?:\[E\d+\])?: .+)"
    r"|^(?P<npm>npm (?:ERR!|error) .+)"
    r"|^\s*\d+:\d+ +error +(?P<eslint>.+)"
)
_WARNING: Final = re.compile(r"(?:^|[:\s)])warning(?::| (?=[A-Z]+\d+)|\[)", re.IGNORECASE)
_CODE: Final = re.compile(r"\[(-W[\w-]+)|warning:? ([A-Z]+\d+)|\[([\w-]+/[\w-]+)\]")
# What a build tool puts before what it reports.
_PREFIX: Final = re.compile(r"^(?:\[[A-Z]{4,7}\]|#\d+ [\d.]+) +")
_PREFIXED: Final = frozenset("[#")
_PASS: Final = re.compile(
    r"\.\.\. ok$|\sPASSED(?:\s+\[ *\d+%\])?$|^\s*[✓√] |Passed +[\d.]+ sec$|^ok \d+|^\s*--- PASS"
)
_PER_CLASS: Final = re.compile(r"Time elapsed: .{0,100} (?:- )?in ")
_PASSED: Final = re.compile(
    r"\.\.\. (?:ok|skipped\b.*)$|\s(?:PASSED|SKIPPED\b.*|XFAIL)(?:\s+\[ *\d+%\])?$"
    r"|^\s*[✓√○] |Passed +[\d.]+ sec$|^ok \d+|^\s*(?:Start|PASS) +\S|^\s*--- PASS"
    r"|^=== (?:RUN|CONT|PAUSE) |^rspec \./"
)
_STATUS: Final = re.compile(r"\*\*\*(Not Run[^*]*?(?<! )|Skipped) +[\d.]+ sec")
# The line that tells why a test failed.
_REASON: Final = re.compile(
    r"^E  +(?P<pytest>\S.*)"
    r"|^\s*(?P<error>(?:[\w$]+\.)*\w*(?:Error|Exception|Failure)\b: .+)"
    r"|^\s*(?P<expected>(?:Expected|expected)\b.*[:：].*)"
    r"|^\s*(?P<removed>- {2,}\S.*)"
    r"|^\s+(?P<go>\w+_test\.go:\d+: .+)"
    r"|^(?P<panic>panic: .+)"
    r"|^\s*(?:→|error:) (?P<arrow>.+)"
    r"|^\s*Failure/Error: (?P<rspec>.+)"
    r"|^(?P<phpunit>Failed asserting .+)"
    r"|^(?P<rust>assertion .*failed.*|called `.*)"
    r"|^\s*(?P<left>left: .+)"
    r"|^\s*(?P<missing>Unable to find .+|Cannot .+|(?=\S).*(?:does not match|did not match) .+)"
)
_GO_SAID: Final = re.compile(r"^\s+(\w+_test\.go:\d+: .+)")
_MORE: Final = re.compile(
    r"^\s*(?:(?:Received|actual|Actual|right|got|Which is)\b:? *.*|[+-] {2,}\S.*)$"
)
_PLACE: Final = re.compile(
    r"^(?P<pytest>[\w./\\-]+\.\w+:\d+): (?:\w+|in \w+)$"
    r"|panicked at (?P<rust>\S+?:\d+)"
    r"|^\s*File \"(?P<python>[^\"]+)\", line (?P<line>\d+)"
    r"|^\s+at .*?\(?(?<![\w./@-])(?P<js>[\w./@-]+:\d+):\d+\)?$"
    r"|^(?P<gtest>\S+:\d+): Failure"
    r"|^\s+#\d+ .* (?P<frame>\S+:\d+)(?::\d+)?$"
    r"|^\s+# (?P<ruby>\S+?:\d+)(?::in .*)?$"
    r"|^(?P<php>/?[\w./\\-]+\.php:\d+)$"
    r"|^\t(?P<goframe>\S+\.go:\d+)"
    r"|^\s*location: '(?P<tap>[^']{1,300}?:\d+)(?::\d+)?'$"
    r"|^\s*❯ (?P<vitest>\S+:\d+):\d+$"
)
_EXIT: Final = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: code| status)?|return(?:ed)? code|退出码)[:=]? *(-?\d{1,3})\b",
    re.IGNORECASE,
)
_FILE: Final = re.compile(r"[\w./\\-]+\.\w{1,5}(?=[:( ]|$)")
_LAST_NAME: Final = re.compile(
    r"(?<![\w\u4e00-\u9fff-])[\w\u4e00-\u9fff-]+(?:\[.{0,300}\])?(?= \(|$)"
)
_ASSERT: Final = re.compile(r"^AssertionError: (?=assert|[\w-])")
_MAX_FAILURES: Final = 1_000
_MAX_REASONS: Final = 2
_LONGEST_REASON: Final = 110
_TOLD_FAILURES: Final = 40


@dataclass(slots=True)
class _Failure:
    name: str
    line: int
    reasons: list[str] = field(default_factory=list[str])
    place: str = ""

    @property
    def told(self) -> str:
        reason = "; ".join(self.reasons)
        text = f"{_base(self.name)}: {reason}" if reason else _base(self.name)
        return f"{text} ({_base(self.place)})" if self.place else text


class Runs(Observer):
    """Reads what test runners, compilers and build tools print."""

    def __init__(self) -> None:
        self._totals: dict[str, tuple[str, int]] = {}
        self._failures: dict[str, _Failure] = {}
        self._current: _Failure | None = None
        self._errors: dict[str, tuple[str, int, int]] = {}
        self._warnings = 0
        self._codes: Counter[str] = Counter()
        self._first_of: dict[str, tuple[str, int]] = {}
        self._not_run: Counter[str] = Counter()
        self._exit = ""
        self._passes = 0
        # What a test of Go said before it failed.
        self._said = ""
        # Whether the reason follows in the next line, or at the end of a trace.
        self._announced = self._is_trace = False
        self._files: Counter[str] = Counter()

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether totals or failures of a run stand at the beginning or the end."""
        lines = sample.lines
        failed = sum(
            _FAILED.match(line) is not None
            or _ERROR.match(line) is not None
            or _PASS.search(line) is not None
            for line in lines
        )
        return any(_TOTALS.search(line) for line in lines) or failed >= max(3, len(lines) // 40)

    def read(self, line: str, number: int) -> bool:
        """Read the next line."""
        if _PASSED.search(line):
            self._passes += _PASS.search(line) is not None
            return True
        if found := _HEAD.match(line):
            status = found["status"]
            told = next(name for name in found.groups() if name)
            self._current = self._failure(told, number)
            self._announced = self._is_trace = False
            if status:
                self._reason(status)
            if found["go"] and self._said:
                self._reason(self._said)
            self._said = ""
            return True
        if _TOTALS.search(_PREFIX.sub("", line) if line[:1] in _PREFIXED else line):
            self._current = None
            if _PER_CLASS.search(line):
                return True
            told = " ".join(line.strip(" =\t\r").split())
            # The last of each form is the total.
            self._totals[re.sub(r"[\d.:]+", "#", told)[:24]] = (told, number)
            return True
        if found := _FAILED.match(line):
            told = next(name for name in found.groups() if name)
            failure = self._failure(told, number)
            if found["reason"] and not failure.reasons:
                failure.reasons.append(_short(found["reason"]))
            self._current = failure if found["mark"] else self._current
            return True
        if line.startswith(" ") and (found := _GO_SAID.match(line)):
            self._said = found[1]
        if self._current is not None:
            return self._explain(line)
        return self._read_build(line, number)

    def _failure(self, name: str, number: int) -> _Failure:
        last = _LAST_NAME.search(name.strip())
        key = last[0] if last else name
        if key not in self._failures:
            failure = _Failure(name.strip(), number)
            if len(self._failures) >= _MAX_FAILURES:
                return failure
            self._failures[key] = failure
        known = self._failures[key]
        if file := _FILE.match(name):
            if not _FILE.match(known.name):
                known.name = name.strip()
            self._files[file[0]] += known.line == number
        return known

    def _reason(self, told: str) -> None:
        if self._current is not None and len(self._current.reasons) < _MAX_REASONS:
            short = _short(told)
            if not short.startswith("+ ") and short not in self._current.reasons:
                self._current.reasons.append(short)

    def _explain(self, line: str) -> bool:
        """Read a line of a failure; return whether it tells why or where."""
        assert self._current is not None
        if self._announced and line.strip():
            # What was expected or received stands below.
            self._announced = False
            self._current.reasons[-1] += f" {_short(line)}"
            return True
        if self._is_trace and line[:1].strip() and not line.startswith("Traceback"):
            self._is_trace = False
            self._reason(line)
            return True
        self._is_trace |= line.startswith("Traceback (most recent call last)")
        if found := _PLACE.search(line):
            place = f"{found['python']}:{found['line']}" if found["python"] else ""
            place = place or next(name for name in found.groups() if name)
            if not FOREIGN.search(place) and (found["python"] or not self._current.place):
                self._current.place = place
            return True
        if found := _REASON.match(line):
            self._reason(next(name for name in found.groups() if name))
            self._announced = bool(self._current.reasons) and line.rstrip().endswith(":")
            return True
        if self._current.reasons and _MORE.match(line):
            self._reason(line)
            self._announced = self._current.reasons[-1].endswith(":")
            return True
        return False

    def _read_build(self, line: str, number: int) -> bool:
        if ("rror" in line or "ERR" in line) and (found := _ERROR.match(line)):
            place = found["place"] or ""
            told = found["told"] or next(name for name in found.groups() if name)
            where = re.sub(r"[(:](\d+)(?:[,:]\d+)?\)?$", r":\1", place)
            text = f"{_base(where, 2)}: {told}" if place else told
            _, first, count = self._errors.get(text, (text, number, 0))
            if count or len(self._errors) < _MAX_FAILURES:
                self._errors[text] = (re.sub(r" \[[^\[\]]+proj\]$", "", text), first, count + 1)
            return True
        if "arning" in line and _WARNING.search(line):
            self._warnings += 1
            found = _CODE.search(line)
            code = next(name for name in found.groups() if name) if found else ""
            if code in self._codes or len(self._codes) < 200:
                self._codes[code] += 1
                self._first_of.setdefault(code, (line.strip(), number))
            return True
        if "***" in line and (found := _STATUS.search(line)):
            self._not_run[found[1]] += 1
            return True
        if "xit" in line or "return" in line or "退出码" in line:
            found = _EXIT.search(line)
            if found is not None:
                self._exit = found[1]
        return False

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield totals, the exit status, and failures with their reasons."""
        totals = list(self._totals.values())
        if not totals and self._passes:
            text = say.say("ran", passed=self._passes, failed=len(self._failures))
            yield Finding(text=text, weight=13.0, kind="ran")
        for place, (told, _) in enumerate(reversed(totals)):
            yield Finding(text=told, weight=max(7.0, 13.0 - 1.0 * place), kind=f"total{place}")
        if self._exit:
            yield Finding(text=say.say("exit", status=self._exit), weight=8.0, kind="exit")
        if self._errors and not any("rror" in told or "错误" in told for told, _ in totals):
            yield Finding(
                text=say.say("errors", count=len(self._errors)), weight=8.0, kind="errors"
            )
        if len(self._files) > 1 and len(self._failures) > 8:
            counts = say.counts(self._files.most_common(), 6)
            yield Finding(text=say.say("failing", counts=counts), weight=10.0, kind="files")
        for status, count in self._not_run.items():
            yield Finding(text=f"{status}: {count}", weight=8.0, kind="status")
        yield from self._failed()
        yield from self._warned(say)

    def _failed(self) -> Iterator[Finding]:
        by_reason: dict[str, _Failure] = {}
        for failure in self._failures.values():
            reason = "; ".join(failure.reasons) or failure.name
            same = by_reason.setdefault(reason, failure)
            if same is not failure and len(same.name) < _LONGEST_REASON:
                same.name += f", {_base(failure.name).rpartition('::')[2]}"
        # A file of tests that tells no reason itself contains those that do.
        failures = [
            failure
            for failure in by_reason.values()
            if failure.reasons or len(by_reason) == 1 or not _FILE.fullmatch(failure.name)
        ]
        for place, failure in enumerate(failures[:_TOLD_FAILURES]):
            is_end = place in (0, len(failures) - 1)
            yield Finding(
                text=failure.told,
                weight=12.0 if is_end else 11.0 - min(6.0, 0.3 * place),
                line=failure.line,
                kind="",
            )
        # Of errors of one kind the first is told; the rarer a kind, the sooner.
        kinds: dict[str, list[tuple[str, int]]] = {}
        for told, line, _ in self._errors.values():
            same = re.sub(r"['\"“‘`][^'\"”’`]{0,200}['\"”’`]|\d+", "", told.partition(": ")[2])
            kinds.setdefault(same, []).append((told, line))
        errors = sorted(kinds.values(), key=lambda found: (len(found) > 2, found[0][1]))
        for place, found in enumerate(errors[:_TOLD_FAILURES]):
            told, line = found[0]
            if len(found) == 2:
                yield Finding(text=f"{found[1][0]} (L{found[1][1]})", weight=8.0, line=found[1][1])
            is_end = place in (0, len(errors) - 1)
            yield Finding(
                text=f"{told} (L{line})",
                weight=11.0 if is_end else 9.0 - min(5.0, 0.2 * place),
                line=line,
                count=1 if len(found) == 2 else len(found),
            )

    def _warned(self, say: Wording) -> Iterator[Finding]:
        if not self._warnings:
            return
        named = [(code, count) for code, count in self._codes.most_common() if code]
        counts = f" ({say.counts(named, 4)})" if named else ""
        text = say.say("warnings", count=self._warnings) + counts
        yield Finding(text=text, weight=8.0, kind="warnings")
        for code, (told, line) in self._first_of.items():
            if self._codes[code] <= 0.1 * self._warnings:
                yield Finding(text=told, weight=6.0, line=line, kind="warning")


def _short(text: str) -> str:
    told = _ASSERT.sub("", " ".join(text.split()))
    return told if len(told) <= _LONGEST_REASON else told[: _LONGEST_REASON - 1] + "…"


def _base(name: str, parts: int = 1) -> str:
    """Return a name with so many parts of the path of its file."""
    if parts > 1:
        return "/".join(re.split(r"[/\\]", name)[-parts:])
    return re.sub(r"^(?:[A-Za-z]:)?[^\s:()\[›]*[/\\](?=[^/\\\s])", "", name)
