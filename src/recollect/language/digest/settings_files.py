"""Settings: YAML, TOML, INI and properties: their sections, and the values that differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from recollect.language.digest.findings import Finding
from recollect.language.digest.lines import Lines, signal_of
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.wording import Wording

_SECTION: Final = re.compile(r"^\[\[?([^\]=]{1,100})\]\]?\s*(?:[#;].*)?$")
_PAIR: Final = re.compile(
    r"^(?P<indent>\s*)(?P<mark>- )?(?P<key>[\w.\-/\"']{1,80}|[^\s=:#]{1,40}"
    r"|[A-Z][\w-]{1,30}(?: [\w()-]{1,30}){1,3}(?=:))\s*(?:=|:(?=\s|$))\s*"
    r"(?P<value>.*)$"
)
# Blocks in braces: `listen 80;` in `server {`.
_BLOCK: Final = re.compile(r"^\s*([\w.-]+(?: +[^{};\s][^{};]{0,79}?)?)(?<!\s)\s*\{$")
_DIRECTIVE: Final = re.compile(r"^\s*([\w.-]{1,60})\s+([^;{}=]{1,300});$")
_FLOW: Final = re.compile(r"\{([^{}]{1,400})\}")
_INNER: Final = re.compile(r"(?<![\w.-])([\w.-]+):\s*([^,{}\[\]]+)")
_COMMENT: Final = re.compile(r"^\s*[#;]")
_SHARE: Final = 0.75
_MAX_KEYS: Final = 2_000
_MAX_VALUES: Final = 200
# Seen at least so often, a key has usual values.
_OFTEN: Final = 5
_RARE_SHARE: Final = 0.2
_NAMES: Final = ("name", "名称", "id", "host", "title")
_NUMBERED: Final = re.compile(r"(?:[._ -]|(?<!\d))\d+$")


class SettingsFile(Observer):
    """Reads keys with values."""

    def __init__(self) -> None:
        self._sections: Counter[str] = Counter()
        self._values: dict[str, Counter[str]] = {}
        # The line, the name of its part, and how it is written.
        self._first: dict[tuple[str, str], tuple[int, str, str]] = {}
        self._names: dict[str, None] = {}
        self._kinds: Counter[str] = Counter()
        self._lines = Lines("")
        self._section = self._name = ""
        # How far the parts of a section are indented in YAML.
        self._indent = 0

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether most lines are settings, sections or comments."""
        lines = sample.lines
        pairs = sum(
            (_PAIR.match(line) is not None or _DIRECTIVE.match(line) is not None)
            and len(line) < 200
            for line in lines
        )
        others = sum(
            _COMMENT.match(line) is not None
            or _SECTION.match(line) is not None
            or _BLOCK.match(line) is not None
            or line.strip() in ("---", "-", "{", "}", "[", "]")
            or line.lstrip().startswith("- ")
            for line in lines
        )
        frames = sum(line.lstrip().startswith("at ") for line in lines)
        return (
            len(lines) >= 8
            and frames < 2
            and pairs >= 0.4 * len(lines)
            and pairs + others >= (_SHARE * len(lines))
        )

    def read(self, line: str, number: int) -> bool:
        """Read the next line."""
        text = line.strip()
        if not text:
            return True
        if text == "---":
            self._name = ""
            return True
        if self._read_head(text):
            return True
        if found := _DIRECTIVE.match(text):
            self._name = found[2] if found[1].endswith("_name") else self._name
            self._pair(found[1], found[2], number, line)
            return True
        if _COMMENT.match(text):
            self._lines.read(text, number)
            return True
        is_flow = text.startswith(("- {", "{"))
        if not is_flow and (found := _PAIR.match(line)):
            self._read_pair(found, number, line)
            return True
        for inner in _FLOW.findall(text):
            pairs = dict(_INNER.findall(inner))
            if "name" in pairs and "value" in pairs:
                self._pair(pairs["name"], pairs["value"].strip(), number, line)
        self._lines.read(text, number)
        return True

    def _read_pair(self, found: re.Match[str], number: int, line: str) -> None:
        key, value = found["key"].strip("\"'"), found["value"].strip()
        indent = len(found["indent"])
        if not value:
            # In YAML, what stands below a part of the file has its name.
            if not indent:
                self._section = key
            elif self._section and (self._indent in (0, indent)):
                self._indent, self._name = indent, key
                self._sections[self._section] += 1
            return
        if not indent and key.count(".") > 1:
            # Properties: the end of the name says what it is, the rest of what.
            self._name, _, key = key.rpartition(".")
        if value.startswith("{"):
            for inner in _FLOW.findall(value):
                for pair in _INNER.finditer(inner):
                    self._pair(f"{key}.{pair[1]}", pair[2].strip(), number, line)
            self._lines.read(line.strip(), number)
        else:
            self._pair(key, value, number, line)

    def _read_head(self, text: str) -> bool:
        """Read the beginning of a section or a block; return whether it is one."""
        if found := _SECTION.match(text):
            self._section = self._name = found[1].strip()
            self._sections[_NUMBERED.sub("", self._section)] += 1
        elif found := _BLOCK.match(text):
            self._sections[found[1].split()[0]] += 1
            self._name = found[1] if " " in found[1] else ""
        return found is not None

    def _pair(self, key: str, value: str, number: int, line: str) -> None:
        if key == "kind":
            self._kinds[value] += 1
        if key.rpartition(".")[2] in _NAMES and not self._name:
            self._name = value
        if key == "name" and len(self._names) < 200:
            self._names.setdefault(value.strip("\"'"), None)
        values = self._values.get(key)
        if values is None:
            if len(self._values) >= _MAX_KEYS:
                return
            values = self._values[key] = Counter()
        if value in values or len(values) < _MAX_VALUES:
            values[value] += 1
            where = self._name or self._section
            self._first.setdefault((key, value), (number, where, line.strip()))

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield sections and kinds, values that differ from the usual ones, and single settings."""
        if self._kinds:
            counts = say.counts(self._kinds.most_common(), 8)
            yield Finding(text=f"kind: {counts}", weight=13.0, kind="kinds")
        if self._sections:
            counts = say.counts(self._sections.most_common(), 12)
            yield Finding(text=say.say("sections", counts=counts), weight=13.0, kind="sections")
        if len(self._names) > 1:
            text = say.say("named", names=say.names(self._names, 12))
            yield Finding(text=text, weight=9.0, kind="names")
        for key, values in self._values.items():
            yield from self._of_key(key, values)
        yield from self._lines.findings(is_spoken=False)

    def _of_key(self, key: str, values: Counter[str]) -> Iterator[Finding]:
        total = sum(values.values())
        if total < _OFTEN:
            for value in values:
                yield _setting(*self._first[key, value], 3.0)
            return
        rare = [value for value, count in values.items() if count <= max(1, 0.02 * total)]
        if len(rare) <= max(2, _RARE_SHARE * len(values)) or (
            len(values) > 1 and len(rare) <= 2 and total - len(rare) >= 0.7 * total
        ):
            for value in rare:
                yield _setting(*self._first[key, value], 7.0)
        usual, count = values.most_common(1)[0]
        if len(values) == 1:
            yield Finding(text=f"{key}: {usual}", weight=1.5, count=count, kind="usual")
            return
        # Of many different values, those unlike the others: in size, in form, in words.
        odd = [value for value in values if value not in rare or len(rare) > 2]
        for value in _unlike(odd, values):
            yield _setting(*self._first[key, value], 6.5)
        if len(values) <= 4:
            shown = ", ".join(f"{value} {times}" for value, times in values.most_common())
            yield Finding(text=f"{key}: {shown}", weight=3.0, kind="values")


def _setting(number: int, name: str, written: str, weight: float) -> Finding:
    plain = name.strip("\"'")
    text = written.removeprefix("- ").strip("{}")
    if plain and plain not in text:
        text = f"{plain}: {text}"
    bonus = {"failure": 2.0, "warning": 2.0, "note": 3.0}.get(signal_of(text), 0.0)
    return Finding(text=text, weight=weight + bonus, line=number, kind="setting")


def _unlike(values: list[str], counted: Counter[str]) -> list[str]:
    """Return the few values that differ from the others of their key in form or in size."""
    if len(values) < _OFTEN:
        return []
    forms: Counter[str] = Counter()
    for value in values:
        forms[_form(value)] += counted[value]
    total = sum(forms.values())
    odd = [value for value in values if forms[_form(value)] <= max(1, 0.05 * total)]
    if len(odd) > 3:
        odd = []
    sizes = {value: size for value in values if (size := _leading(value)) is not None}
    if len(sizes) >= _OFTEN:
        ordered = sorted(sizes.values())
        middle = ordered[len(ordered) // 2]
        odd += [value for value, size in sizes.items() if middle > 0 and size >= 5 * middle][:2]
    return list(dict.fromkeys(odd))


def _form(value: str) -> str:
    scheme, mark, _ = value.partition("://")
    return scheme if mark else re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", value))


def _leading(value: str) -> float | None:
    found = re.match(r"[\"']?(\d+(?:\.\d+)?)", value)
    return float(found[1]) if found else None
