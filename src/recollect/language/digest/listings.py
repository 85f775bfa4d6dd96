"""Listings of files and matches of a search: how many there are, and where."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from recollect.language.digest.findings import Finding
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.wording import Wording

# A path, the number of a line and its text.
_MATCH: Final = re.compile(r"^([\w@+.~/\\-]{1,300}?)[:-](\d{1,9})[:-](.*)")
_LONG: Final = re.compile(
    r"^([-dlcbps])[-rwxsStT]{9}[.+@]?\s+\d+\s+\S+\s+\S+\s+([\d,.]+[KMGT]?)\s+(.+)$"
)
_TREE: Final = re.compile(r"^[│├└─\s|`-]+(?=\S)")
_PATH: Final = re.compile(r"^(?:[A-Z]:\\|\.{0,2}/)?[\w@+.~() -]+(?:[/\\][\w@+.~() -]+)*[/\\]?$")
_SHARE: Final = 0.8
_SHOWN: Final = 8
_SIZES: Final = {"K": 1_000, "M": 1_000_000, "G": 1_000_000_000, "T": 1_000_000_000_000}
_TIME_BEFORE_NAME: Final = re.compile(r"^(?:\S+ +){2,3}(?=\S+$|\S.* -> )")


class Matches(Observer):
    """Reads lines of a search: file, line and text."""

    def __init__(self) -> None:
        self._files: Counter[str] = Counter()
        self._hits = 0

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether most lines name a file and a line."""
        lines = sample.lines
        return len(lines) > 2 and sum(_match(line) is not None for line in lines) >= (
            0.6 * len(lines)
        )

    def read(self, line: str, number: int) -> bool:
        """Read the next line."""
        if found := _match(line):
            self._hits += 1
            self._files[found[1]] += 1
        return False

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield how many matches there are in which files."""
        text = say.say("hits", hits=self._hits, files=len(self._files))
        yield Finding(text=text, weight=14.0, kind="hits")
        counts = say.counts(self._files.most_common(), _SHOWN)
        yield Finding(text=say.say("by_file", counts=counts), weight=9.0, kind="files")


class Listings(Observer):
    """Reads names of files, as `ls`, `find` and `tree` print them."""

    def __init__(self) -> None:
        self._files = 0
        self._folders: Counter[str] = Counter()
        self._types: Counter[str] = Counter()
        self._sizes: list[tuple[float, str]] = []
        self._folder = ""
        self._names_of_folders: set[str] = set()

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether most lines are names of files."""
        lines = sample.lines
        if len(lines) < 4:
            return False
        named = sum(_is_name(line) for line in lines)
        is_path = sum(
            "/" in line or _LONG.match(line) is not None or _TREE.match(line) is not None
            for line in lines
        )
        return named >= _SHARE * len(lines) and (is_path >= 0.3 * len(lines) or _has_heads(lines))

    def read(self, line: str, number: int) -> bool:
        """Read the next line."""
        text = line.rstrip()
        if not text or text.startswith("total "):
            return True
        if text.endswith(":") and ("/" in text or text == ".:"):
            self._folder = text[:-1]
            self._names_of_folders.add(self._folder)
            return True
        if found := _LONG.match(text):
            name = _TIME_BEFORE_NAME.sub("", found[3])
            if name not in (".", ".."):
                self._add(name, is_folder=found[1] == "d", size=_size(found[2]))
            return True
        name = _TREE.sub("", text).strip()
        self._add(name, is_folder=name.endswith("/"))
        return True

    def _add(self, name: str, *, is_folder: bool, size: float = 0) -> None:
        path = f"{self._folder}/{name}" if self._folder else name
        if is_folder:
            self._names_of_folders.add(path.rstrip("/"))
            return
        self._files += 1
        folder, _, leaf = path.rpartition("/")
        parts = [part for part in folder.split("/") if part not in ("", ".")]
        if len(self._folders) < 5_000:
            self._folders["/".join(parts[:2]) or "."] += 1
        _, dot, ending = leaf.rpartition(".")
        if len(self._types) < 1_000:
            self._types[f".{ending}" if dot else "-"] += 1
        if len(self._names_of_folders) < 50_000 and folder:
            self._names_of_folders.add(folder)
        if size:
            self._sizes = sorted([*self._sizes, (size, path)], reverse=True)[:5]

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield the counts by folder and type, and the largest files."""
        text = say.say("listing", files=self._files, folders=len(self._names_of_folders))
        yield Finding(text=text, weight=14.0, kind="listing")
        for name, counted, weight in (
            ("by_folder", self._folders, 9.0),
            ("by_type", self._types, 8.0),
        ):
            counts = say.counts(counted.most_common(), _SHOWN)
            yield Finding(text=say.say(name, counts=counts), weight=weight, kind=name)
        if self._sizes:
            counts = say.counts([(path, int(size)) for size, path in self._sizes], 5)
            yield Finding(text=say.say("largest", counts=counts), weight=8.5, kind="largest")


def _is_name(line: str) -> bool:
    text = line.rstrip()
    if _LONG.match(text) or text.startswith("total ") or (text.endswith(":") and "/" in text):
        return True
    name = _TREE.sub("", text).strip()
    return bool(_PATH.match(name)) and name.count(" ") <= 2 and len(name) < 300


def _has_heads(lines: list[str]) -> bool:
    return sum(line.endswith(":") and ("/" in line or line == ".:") for line in lines) >= 2


def _size(text: str) -> float:
    unit = _SIZES.get(text[-1:], 1)
    digits = text.rstrip("KMGT").replace(",", "")
    return float(digits) * unit if digits.replace(".", "", 1).isdigit() else 0.0


def _match(line: str) -> re.Match[str] | None:
    found = _MATCH.match(line)
    return found if found is not None and ("/" in found[1] or "." in found[1]) else None
