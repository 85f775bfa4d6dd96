"""Test runs and builds: how many passed and failed, which and why, and how the run ended."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from recollect.language.digest.findings import Finding
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.wording import Wording

_TOTALS: Final = re.compile(
    r"^=+ .*\b\d+ (?:passed|failed|errors?|skipped|deselected)\b.* =+$"
    r"|^(?:Ran \d+ tests? in |FAILED \((?:failures|errors)=|OK(?: \(.*\))?$)"
    r"|^\s*(?:Tests?|Test Suites|Test Files|Snapshots|Assertions)[: ]\s+.*"
    r"\d+ (?:passed|failed|total|skipped)"
    r"|^\s*\d+ (?:passing|failing|pending)\b"
    r"|^test result: "
    r"|Tests run: \d+, Failures: \d+"
    r"|^\d+ tests? completed|^\d+% tests passed|^\s*\d+ examples?, \d+ failures?"
    r"|\bBUILD (?:FAILURE|SUCCESS|FAILED|SUCCESSFUL)\b"
    r"|^Found \d+ (?:errors?|warnings?)|✖ \d+ problems?"
    r"|^\d+ (?:errors?|warnings?)(?: and \d+ warnings?)? generated"
    r"|^error: (?:could not compile|aborting due to)|^make(?:\[\d+\])?: \*\*\* "
    r"|^(?:Total time|Finished in|Duration|Done in|Time):? +[\d.]+"
    r"|(?:passed|failed|skipped)[,;|] +\d+ (?:passed|failed|skipped)"
    r"|(?:通过|失败|跳过)\s*[:：]?\s*\d+.*(?:通过|失败|跳过)|构建(?:失败|成功)|编译(?:失败|成功)",
)
_FAILURE: Final = re.compile(
    r"^(?:FAILED|ERROR) (?P<pytest>\S+::\S+.*|\S+\.py\b.*)"
    r"|^(?:FAIL|ERROR): (?P<unittest>\S+ \(.*\))"
    r"|^\s*(?:✕|✗|×|✘) (?P<mark>.+)"
    r"|^\s*● (?P<jest>.+ › .+)"
    r"|^\s*FAIL +(?P<file>\S+)"
    r"|^\s*--- FAIL: (?P<go>\S+)"
    r"|^test (?P<rust>\S+) \.\.\. FAILED"
    r"|^\[ERROR\] +(?P<maven>\S+.*(?::\d+|»|expected).*)"
    r"|^> Task (?P<gradle>\S+) FAILED"
    r"|^(?P<compiler>\S+?[:(]\d+(?:[:,]\d+)?\)?: (?:fatal error|error)\b.*)"
    r"|^(?P<rustc>error(?:\[E\d+\])?: .+)"
    r"|^(?P<npm>npm (?:ERR!|error) .+)"
    r"|^\s*\d+:\d+ +error +(?P<eslint>.+)"
    r"|^用例失败[:：] ?(?P<chinese>.+)"
)
# The line that tells why a test failed.
_ASSERTION: Final = re.compile(
    r"^E  +(?P<pytest>\S.*)"
    r"|^\s*(?P<error>(?:Assertion)?Error: .+)"
    r"|^\s*(?P<expected>(?:Expected|Received|expected|actual|left|right)(?: value)?[:：] *\S.*)"
    r"|^\s+(?P<go>\w+_test\.go:\d+: .+)"
    r"|^assertion .*failed: (?P<rust>.+)"
    r"|^\s+(?P<place>--> \S+:\d+:\d+)"
)
_EXIT: Final = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: code| status)?|return(?:ed)? code|退出码)[:=]? *(-?\d{1,3})\b",
    re.IGNORECASE,
)
_FILE: Final = re.compile(r"[\w./\\-]+\.\w{1,5}(?=[:( ]|$)")
_MAX_FAILURES: Final = 2_000


class Runs(Observer):
    """Reads what test runners, compilers and build tools print."""

    def __init__(self) -> None:
        self._totals: dict[str, tuple[str, int]] = {}
        self._failures: dict[str, int] = {}
        self._reasons: dict[str, int] = {}
        self._exit: tuple[str, int] | None = None
        self._files: Counter[str] = Counter()
        self._reason_line = 0

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether totals or failures of a run stand at the beginning or the end."""
        lines = sample.lines
        return any(_TOTALS.search(line) for line in lines) or sum(
            _FAILURE.match(line) is not None for line in lines
        ) >= max(2, len(lines) // 50)

    def read(self, line: str, number: int) -> bool:
        """Read the next line."""
        if _TOTALS.search(line):
            told = line.strip(" =\t\r")
            # The last of each form is the total.
            self._totals[re.sub(r"[\d.]+", "#", told)[:24]] = (told, number)
            return True
        if found := _FAILURE.match(line):
            told = next(name for name in found.groups() if name)
            if told not in self._failures and len(self._failures) < _MAX_FAILURES:
                self._failures[told] = number
                if file := _FILE.match(told):
                    self._files[file[0]] += 1
            return True
        if found := _ASSERTION.match(line):
            told = next(name for name in found.groups() if name)
            # Of several lines in a row the first tells the reason, the others explain it.
            if number != self._reason_line + 1 and len(self._reasons) < _MAX_FAILURES:
                self._reasons.setdefault(told, number)
            self._reason_line = number
            return True
        if "xit" in line or "return" in line or "退出码" in line:
            found = _EXIT.search(line)
            if found is not None:
                self._exit = (found[1], number)
        return False

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield totals, the exit status, and failures with their reasons."""
        totals = list(self._totals.values())
        for place, (told, _) in enumerate(reversed(totals)):
            yield Finding(text=told, weight=max(6.0, 12.0 - 1.5 * place), kind=f"total{place}")
        if self._exit is not None:
            yield Finding(text=say.say("exit", status=self._exit[0]), weight=8.0, kind="exit")
        if len(self._files) > 1 or any(count > 3 for count in self._files.values()):
            counts = say.counts(self._files.most_common(), 8)
            yield Finding(text=say.say("failing", counts=counts), weight=10.0, kind="files")
        failures = list(self._failures.items())
        for place, (told, line) in enumerate(failures):
            is_end = place in (0, len(failures) - 1)
            yield Finding(
                text=f"{told} (L{line})",
                weight=9.0 if is_end else 7.0 - min(3.0, 0.1 * place),
                line=line,
                kind="failure",
            )
        reasons = list(self._reasons.items())
        for place, (told, line) in enumerate(reasons):
            is_end = place in (0, len(reasons) - 1)
            yield Finding(
                text=told,
                weight=8.0 if is_end else 6.0 - min(3.0, 0.1 * place),
                line=line,
                kind="reason",
            )
