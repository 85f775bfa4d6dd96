"""Stack traces of Python, Java, JavaScript, Go and Rust: the error, its cause and its place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from recollect.language.digest.findings import Finding
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.wording import Wording

_WEIGHT: Final = 9.0
_CAUSE_WEIGHT: Final = 12.0
_MAX_TRACES: Final = 200
_MAX_MESSAGE: Final = 150
_CLASS: Final = re.compile(r"(?:[\w$]+\.)+[\w$]+")
_DOTNET_FRAME: Final = re.compile(
    r"\s+at ([\w.`<>+\[\]]+\([^()]*(?:\([^()]*\)[^()]*)*\))(?: in (.+):line (\d+))?\s*$"
)
_DOTNET_ERROR: Final = re.compile(
    r"(?:Unhandled exception\. |.*? ---> )?((?:\w+\.)+\w+Exception: .*)"
)

_PYTHON_FRAME: Final = re.compile(r'\s*File "([^"]+)", line (\d+)(?:, in (\S+))?')
_JVM_FRAME: Final = re.compile(r"\s+at ([\w.$<>/]+)\(([^)]*)\)")
_JS_FRAME: Final = re.compile(
    r"\s+at (?:async )?(?:(.+?) \()?((?:file://|node:)?[^\s()]+:\d+:\d+)\)?$"
)
_GO_FRAME: Final = re.compile(r"\t(\S+\.go:\d+)")
_RUST_FRAME: Final = re.compile(r"\s+at (\.?/?\S+\.rs:\d+(?::\d+)?)")
# The first line of a trace in a language that puts the error first.
_ERROR: Final = re.compile(
    r"(?:Exception in thread \"[^\"]*\" |Uncaught |Unhandled \w+ )?"
    r"((?:[\w$]{1,100}\.){0,20}[A-Z][\w$]{0,200}?(?:Exception|Error|Throwable|Failure|Panic)\b"
    r"(?:: ?.*)?)$"
)
_RUST_PANIC: Final = re.compile(r"thread '[^']*' panicked at (.*)")
# Frames of runtimes and libraries: the innermost of one's own tells more.
FOREIGN: Final = re.compile(
    r"site-packages|dist-packages|/lib/python\d|<frozen |<string>|importlib|node_modules|node:|"
    r"/usr/local/go/|/go/pkg/mod/|/rustc/|\.cargo/registry|"
    r"^(?:System|Microsoft|java|javax|jakarta|jdk|sun|com\.sun|kotlin|scala|reactor|oracle|okhttp3?|feign|rx|"
    r"org\.(?:springframework|apache|junit|hibernate|postgresql|eclipse|jboss|mockito|slf4j|"
    r"mariadb|h2|glassfish|mybatis)|net\.bytebuddy|ch\.qos|"
    r"io\.(?:netty|undertow|micrometer|grpc|vertx|lettuce|projectreactor)|"
    r"com\.(?:google|zaxxer|fasterxml|mysql|amazonaws|microsoft|alibaba\.druid))\."
)
_BETWEEN: Final = (
    "During handling of the above exception",
    "The above exception was the direct cause",
)


class Traces(Observer):
    """Finds stack traces wherever they stand."""

    def __init__(self) -> None:
        self._found: Counter[tuple[str, str, bool]] = Counter()
        self._lines: dict[tuple[str, str, bool], int] = {}
        self._last: tuple[str, str, bool] | None = None
        # Causes that have a cause themselves.
        self._passed_on: set[tuple[str, str, bool]] = set()
        self._error = ""
        self._at = 0
        self._frames: list[str] = []
        self._language = ""
        self._is_cause = False
        self._previous = ""
        # The innermost frame of one's own code in a chain of causes.
        self._own = ""
        # Lines that name an error, which are told with its place.
        self.named: set[str] = set()

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return True: a trace may stand in any text."""
        return True

    def read(self, line: str, number: int) -> bool:
        """Read the next line."""
        was_inside = bool(self._language)
        if self._language == "between":
            self._language = ""
        if self._language == "python":
            self._read_python(line, number)
        elif self._language:
            self._read_frames(line, number)
        else:
            self._begin(line, number)
        self._previous = line
        return bool(self._language) or (
            was_inside and self._last is not None and line in self._last[0]
        )

    def _begin(self, line: str, number: int) -> None:
        if line.startswith(_BETWEEN):
            self._language = "between"
            return
        if "Traceback (most recent call last)" in line:
            self._start("python", "", number)
        elif line.startswith("panic: "):
            self._start("go", line.strip(), number)
        elif "panicked at" in line and (found := _RUST_PANIC.search(line)):
            self._start("rust", f"panicked at {found[1]}", number)
        elif line.startswith("   at ") and (error := _DOTNET_ERROR.match(self._previous)):
            self.named.add(self._previous.strip())
            self._start("dotnet", error[1], number - 1)
            self._read_frames(line, number)
        elif line.lstrip().startswith("at ") and (_JVM_FRAME.match(line) or _JS_FRAME.match(line)):
            # The error stands in the line before its first frame.
            self._begin_frames(line, number)

    def _begin_frames(self, line: str, number: int) -> None:
        error = _ERROR.match(self._previous.strip())
        if error is not None or "Error" in self._previous or "Exception" in self._previous:
            language = "jvm" if _JVM_FRAME.match(line) and ".java" in line else "js"
            told = error[1] if error is not None else self._previous.strip()
            if len(self.named) < _MAX_TRACES:
                self.named.add(self._previous.strip())
            self._start(language, told, number - 1)
            self._read_frames(line, number)

    def _start(self, language: str, error: str, number: int, *, is_cause: bool = False) -> None:
        self._language, self._error, self._at = language, error, number
        self._frames, self._is_cause = [], is_cause

    def _read_python(self, line: str, number: int) -> None:
        stripped = line.lstrip(" |+-")
        if frame := _PYTHON_FRAME.match(stripped):
            place = f"{frame[1]}:{frame[2]}"
            self._frames.append(f"{place} in {frame[3]}" if frame[3] else place)
        elif self._frames and stripped and (not line[:1].isspace() or line.startswith("  | ")):
            if ":" in stripped or stripped.split()[0].isidentifier():
                self._error = stripped.strip()
                self._end(innermost_last=True)
            else:
                self._language = ""
        elif number - self._at > 500:
            self._language = ""

    def _read_frames(self, line: str, number: int) -> None:
        if line.startswith("Caused by: ") or line.lstrip().startswith("Caused by: "):
            self._end()
            if self._last is not None and self._last[2]:
                self._passed_on.add(self._last)
            self._start("jvm", line.strip().removeprefix("Caused by: "), number, is_cause=True)
        elif found := self._frame(line):
            self._frames.append(found)
        elif not self._frames and number <= self._at + 3 and self._language == "jvm":
            # A message may go on before the first frame.
            self._error += f" {line.strip()}"
        elif self._language == "rust" and number == self._at + 1:
            self._error += f" {line.strip()}"
        elif self._language in ("go", "rust") and (
            number - self._at < 4 or "goroutine" in line or line[:1].isspace() or "(" in line
        ):
            if number - self._at > 300:
                self._end()
        elif not line.lstrip().startswith(("...", "at ")):
            self._end()
            self._begin(line, number)

    def _frame(self, line: str) -> str:
        if self._language == "dotnet" and (frame := _DOTNET_FRAME.match(line)):
            return f"{frame[2]}:{frame[3]} in {frame[1]}" if frame[2] else frame[1]
        if self._language == "jvm" and (frame := _JVM_FRAME.match(line)):
            return f"{frame[1]}({frame[2]})"
        if self._language == "js" and (frame := _JS_FRAME.match(line)):
            return f"{frame[2]} in {frame[1]}" if frame[1] else frame[2]
        if self._language == "go" and (frame := _GO_FRAME.match(line)):
            return frame[1]
        if self._language == "rust" and (frame := _RUST_FRAME.match(line)):
            return frame[1]
        return ""

    def _end(self, *, innermost_last: bool = False) -> None:
        frames = self._frames[::-1] if innermost_last else self._frames
        own = next((frame for frame in frames if not FOREIGN.search(frame)), "")
        if self._error and (frames or self._is_cause or self._language in ("go", "rust")):
            self._own = own or (self._own if self._is_cause else "")
            key = (self._error, self._own or (frames[0] if frames else ""), self._is_cause)
            if key in self._found or len(self._found) < _MAX_TRACES:
                self._found[key] += 1
                self._lines.setdefault(key, self._at)
                self._last = key
        self._language = ""

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield each error with its frame, and root causes."""
        if self._language and self._error:
            self._end(innermost_last=self._language == "python")
        for key, count in self._found.items():
            error, frame, is_cause = key
            frame = _short_place(frame)
            error = _short_error(error)
            text = say.say("trace", error=error, frame=frame) if frame else error
            weight = _WEIGHT + min(2.0, 0.2 * count)
            if key in self._passed_on:
                weight = _WEIGHT - 4
            elif is_cause:
                text = say.say("cause", error=text)
                weight = _CAUSE_WEIGHT
            yield Finding(
                text=f"{text} (L{self._lines[key]})",
                weight=weight,
                line=self._lines[key],
                count=count,
                kind="trace",
            )


def _short_error(error: str) -> str:
    """Return an error without the package of its class."""
    name, mark, message = error.partition(": ")
    if not _CLASS.fullmatch(name):
        name, mark, message = "", "", error
    told = message if len(message) <= _MAX_MESSAGE else message[: _MAX_MESSAGE - 1] + "…"
    return f"{name.rpartition('.')[2]}{mark}{told}"


def _short_place(frame: str) -> str:
    """Return a frame with the last two parts of its path or its name."""
    head, mark, place = frame.partition("(")
    if mark:
        return f"{'.'.join(head.split('.')[-2:])}({place}"
    path, mark, name = frame.partition(" in ")
    return "/".join(path.split("/")[-2:]) + mark + name
