"""Listings of files and matches of a search: how many there are, and where."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from recollect.language.digest.findings import Finding
from recollect.language.digest.lines import Lines
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.wording import Wording

# A path, the number of a line and its text.
_MATCH: Final = re.compile(
    r"^((?:[A-Za-z]:)?[\w@+.~/\\-]{1,300}?\.\w{1,10}|[\w@+.~/\\-]{1,300}?(?=:))[:-](\d{1,9})[:-](.*)"
)
# What a compiler says about a line.
_COMPILER: Final = re.compile(r":\d+: (?:fatal )?(?:error|warning|note|\w\d{3,4})\b")
_HEAD: Final = re.compile(r"^[\w@+.~/\\-]{1,300}\.\w{1,10}\s*$")
_BELOW: Final = re.compile(r"^\d{1,9}[:-]")
_LONG: Final = re.compile(
    r"^([-dlcbps])[-rwxsStT]{9}[.+@]?\s+\d+\s+\S+\s+\S+\s+([\d,.]+[KMGT]?)\s+(.+)$"
)
_FOUND: Final = re.compile(
    r"^\s*\d+\s+[\d.]+[KMGT]?\s+([-dlcbps])[-rwxsStT]{9}\s+\d+\s+\S+\s+\S+\s+([\d,.]+[KMGT]?)\s+(.+)$"
)
_USED: Final = re.compile(r"^([\d.]+[KMGT]?)\t(\S.*)$")
_TREE: Final = re.compile(r"^((?:[│|]   |[│|]\xa0\xa0 |    )*)(?:[├└`|][─-]{2} )")
_TREE_SIZE: Final = re.compile(r"^\[(?:[-drwx]{10}\s+)?\s*([\d.]+[KMGT]?)\]\s+")
_TREE_TOTAL: Final = re.compile(r"^\s*(\d+) director(?:y|ies)(?:, (\d+) files?)?$")
_PATH: Final = re.compile(r"^(?:[A-Z]:\\|\.{0,2}/)?[\w@+.~() -]+(?:[/\\][\w@+.~() -]+)*[/\\]?$")
_SHARE: Final = 0.8
_SHOWN: Final = 8
_LARGEST: Final = 4
_SIZES: Final = {"K": 1_000, "M": 1_000_000, "G": 1_000_000_000, "T": 1_000_000_000_000}
_TIME_BEFORE_NAME: Final = re.compile(r"^(?:\S+ +){2,3}(?=\S+$|\S.* -> )")
_MAX_FOLDERS: Final = 50_000


class Matches(Observer):
    """Reads lines of a search: file, line and text."""

    def __init__(self) -> None:
        self._files: Counter[str] = Counter()
        self._hits = 0
        # Above the lines that follow, if the name is not in each of them.
        self._file = ""

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether most lines name a file and a line, or a line below the name of a file."""
        lines = sample.lines
        if len(lines) < 3:
            return False
        below = sum(_BELOW.match(line) is not None for line in lines)
        heads = sum(_HEAD.match(line) is not None for line in lines)
        matched = [line for line in lines if _match(line)]
        compiled = sum(_COMPILER.search(line) is not None for line in matched)
        return (len(matched) >= 0.6 * len(lines) and compiled < 0.3 * len(matched)) or (
            heads >= 2 and below >= heads and below + heads >= 0.9 * len(lines)
        )

    def read(self, line: str, number: int) -> bool:
        """Read the next line."""
        found = _match(line)
        file = found[1] if found else self._file
        if found is None and _HEAD.match(line):
            self._file = line.strip()
            return True
        if found or (self._file and _BELOW.match(line)):
            self._hits += 1
            if file in self._files or len(self._files) < _MAX_FOLDERS:
                self._files[file] += 1
        return False

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield how many matches there are in which folders and files."""
        text = say.say("hits", hits=self._hits, files=len(self._files))
        yield Finding(text=text, weight=14.0, kind="hits")
        folders: Counter[str] = Counter()
        for file, count in self._files.items():
            parts = file.removeprefix("./").split("/")
            folders["/".join(parts[:2]) if len(parts) > 2 else parts[0]] += count
        if 1 < len(folders) < len(self._files):
            counts = say.counts(folders.most_common(), 5)
            yield Finding(text=say.say("by_folder", counts=counts), weight=8.0, kind="folders")
        counts = say.counts(_short_names(self._files.most_common(_SHOWN)), _SHOWN)
        yield Finding(text=say.say("by_file", counts=counts), weight=14.0, kind="files")


class Listings(Observer):
    """Reads names of files, as `ls`, `find`, `du` and `tree` print them."""

    def __init__(self) -> None:
        self._files = 0
        self._folders: Counter[str] = Counter()
        self._top: dict[str, None] = {}
        self._types: Counter[str] = Counter()
        self._sizes: list[tuple[float, str, str]] = []
        self._empty: list[str] = []
        self._folder = ""
        self._names_of_folders: set[str] = set()
        self._total: re.Match[str] | None = None
        # The folders above the current line of a tree, and its last name, which may be a folder.
        self._branch: list[str] = []
        self._pending: tuple[int, str] | None = None
        self._names = Lines("")

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether most lines are names of files."""
        lines = sample.lines
        if len(lines) < 4:
            return False
        if sum(_TREE.match(line) is not None for line in lines) >= _SHARE * len(lines):
            return True
        named = sum(_is_name(line) for line in lines)
        is_path = sum(
            "/" in line or _long(line) is not None or _USED.match(line) is not None
            for line in lines
        )
        return named >= _SHARE * len(lines) and (is_path >= 0.3 * len(lines) or _has_heads(lines))

    def read(self, line: str, number: int) -> bool:
        """Read the next line."""
        text = line.rstrip()
        if not text or text.startswith("total "):
            return True
        if found := _TREE_TOTAL.match(text):
            self._total = found
        elif found := _TREE.match(text):
            self._read_tree(text[found.end() :], len(found[1]) // 4, number)
        elif text.endswith(":") and ("/" in text or text == ".:"):
            self._folder = text[:-1]
            self._add_folder(self._folder, is_listed=True)
        elif found := _long(text):
            name = _TIME_BEFORE_NAME.sub("", found[3])
            if name not in (".", "..") and found[1] != "l":
                self._add(name, found[2], number, is_folder=found[1] == "d")
        elif found := _USED.match(text):
            self._add(found[2], found[1], number)
        else:
            self._add(text.strip(), "", number, is_folder=text.endswith("/"))
        return True

    def _read_tree(self, name: str, depth: int, number: int) -> None:
        """Read a line of a tree; what has lines below it is a folder."""
        self._settle_tree(depth, number)
        self._pending = (depth, name)

    def _settle_tree(self, depth: int, number: int) -> None:
        if self._pending is None:
            return
        at, name = self._pending
        sized = _TREE_SIZE.match(name)
        plain = name[sized.end() :] if sized else name
        self._folder = "/".join(self._branch[:at])
        is_folder = depth > at or plain.endswith("/")
        self._add(plain, sized[1] if sized else "", number - 1, is_folder=is_folder)
        if is_folder:
            self._branch[at:] = [plain.rstrip("/")]
        self._pending = None

    def _add(self, name: str, size: str, number: int, *, is_folder: bool = False) -> None:
        path = f"{self._folder}/{name}" if self._folder else name
        if is_folder:
            self._add_folder(path.rstrip("/"))
            return
        self._files += 1
        folder, _, leaf = path.rpartition("/")
        if folder and folder not in self._names_of_folders:
            self._add_folder(folder)
        parts = [part for part in folder.split("/") if part not in ("", ".")]
        place = "/".join(parts[:2]) or "."
        if place in self._folders or len(self._folders) < 5_000:
            self._folders[place] += 1
        _, dot, ending = leaf.rpartition(".")
        kind = f".{ending}" if dot else "-"
        if kind in self._types or len(self._types) < 1_000:
            self._types[kind] += 1
        self._names.read(leaf, number, path)
        if size:
            amount = _size(size)
            if amount:
                heapq.heappush(self._sizes, (amount, path, size))
                if len(self._sizes) > _LARGEST:
                    heapq.heappop(self._sizes)
            elif len(self._empty) < 20 and not leaf.startswith(("__init__", ".")):
                self._empty.append(path)

    def _add_folder(self, path: str, *, is_listed: bool = False) -> None:
        if path in ("", ".") and not is_listed:
            return
        if len(self._names_of_folders) < _MAX_FOLDERS:
            self._names_of_folders.add(path)
        if len(self._top) < 50 and path != ".":
            self._top[path.removeprefix("./").split("/")[0]] = None

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield the counts by folder and type, the largest files, and unusual names."""
        self._settle_tree(0, 0)
        files, folders = self._files, len(self._names_of_folders)
        if self._total is not None:
            files, folders = int(self._total[2] or files), int(self._total[1])
        text = say.say("listing", files=files, folders=folders)
        yield Finding(text=text, weight=14.0, kind="listing")
        if 1 < len(self._top) <= 12:
            text = say.say("top", names=say.names(self._top, 12))
            yield Finding(text=text, weight=8.0, kind="top")
        counts = say.counts(self._folders.most_common(), 6)
        yield Finding(text=say.say("by_folder", counts=counts), weight=8.0, kind="by_folder")
        counts = say.counts(self._types.most_common(), 6)
        yield Finding(text=say.say("by_type", counts=counts), weight=10.0, kind="by_type")
        if self._sizes:
            for place, (_, path, size) in enumerate(sorted(self._sizes)[::-1]):
                told = f"{path} {size}"
                text = told if place else say.say("largest", counts=told)
                yield Finding(text=text, weight=11.0 - 2.5 * place, kind="")
        if self._empty:
            text = say.say("empty_files", names=say.names(self._empty, 3))
            yield Finding(text=text, weight=8.0, kind="empty")
        # Names are unusual by their words, or by a signal such as "final" or "unsigned".
        for finding in self._names.findings():
            if finding.count <= 2:
                yield finding


def _short_names(counted: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return files without the folders that most of them have in common."""
    return [(name.rpartition("/")[2] or name, count) for name, count in counted]


def _is_name(line: str) -> bool:
    text = line.rstrip()
    if _long(text) or text.startswith("total ") or (text.endswith(":") and "/" in text):
        return True
    used = _USED.match(text)
    name = used[2] if used else text.strip()
    return bool(_PATH.match(name)) and name.count(" ") <= 2 and len(name) < 300


def _long(line: str) -> re.Match[str] | None:
    return _LONG.match(line) or _FOUND.match(line)


def _has_heads(lines: list[str]) -> bool:
    return sum(line.endswith(":") and ("/" in line or line == ".:") for line in lines) >= 2


def _size(text: str) -> float:
    unit = _SIZES.get(text[-1:], 1)
    digits = text.rstrip("KMGT").replace(",", "")
    return float(digits) * unit if digits.replace(".", "", 1).isdigit() else 0.0


def _match(line: str) -> re.Match[str] | None:
    found = _MATCH.match(line)
    return found if found is not None and ("/" in found[1] or "." in found[1]) else None
