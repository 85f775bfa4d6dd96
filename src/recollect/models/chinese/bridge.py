"""Chinese text word by word in English, so that a model that reads only English gets its gist."""

from __future__ import annotations

import importlib.util
import re
import threading
from collections.abc import Callable, Iterator
from typing import Final

from recollect.models.chinese.common_words import COMMON_WORDS
from recollect.models.chinese.dates import spell_dates
from recollect.models.chinese.glosses import Glosses
from recollect.models.faults import missing_library
from recollect.text.folding import fold
from recollect.text.scripts import HAN

_CHINESE: Final = re.compile(f"[{HAN}]+")
_SPACES: Final = re.compile(r"\s+")
_LONGEST_WORD: Final = 8
_LONGEST_NAME: Final = 4
_PERSON: Final = "nr"  # the segmenter's tag for names of people


def can_segment() -> bool:
    """Whether the segmenter is installed."""
    return importlib.util.find_spec("rjieba") is not None


class GlossBridge:
    """Turns Chinese into glosses and leaves everything else as it is. Loads when first needed."""

    def __init__(self, load: Callable[[], Glosses]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._words: _Words | None = None

    def __call__(self, text: str) -> str:
        if not _CHINESE.search(text):
            return text
        words = self._loaded()
        spelled = spell_dates(fold(text))
        glossed = _CHINESE.sub(lambda run: f" {words.glossed(run[0])} ", spelled)
        return _SPACES.sub(" ", glossed).strip()

    def _loaded(self) -> _Words:
        with self._lock:
            if self._words is None:
                self._words = _Words(self._load())
            return self._words


class _Words:
    """A segmenter and the glosses of its words."""

    def __init__(self, glosses: Glosses) -> None:
        self._glosses = glosses.words | COMMON_WORDS
        self._surnames = glosses.surnames
        self._readings = glosses.readings
        self._tagged = _segmenter()

    def glossed(self, run: str) -> str:
        words = (self._gloss(word, tag) for word, tag in _joined(self._tagged(run)))
        return " ".join(filter(None, words))

    def _gloss(self, word: str, tag: str) -> str:
        surname = self._surname(word) if tag == _PERSON else ""
        if not surname and word in self._glosses:
            return self._glosses[word]
        if surname:
            return f"{self._surnames[surname]} {self._given(word.removeprefix(surname))}".strip()
        return " ".join(filter(None, self._parts(word)))

    def _given(self, name: str) -> str:
        """A given name as English texts spell it: what it means (伟 big) is not said by anybody."""
        return "".join(self._readings.get(character, "") for character in name).capitalize()

    def _surname(self, name: str) -> str:
        """The surname a person's name begins with, if it is one.

        The segmenter also takes unknown words for names (连接池, connection pool): those begin
        with a word, names hardly ever do.
        """
        is_known = len(name) > 1 and name in self._glosses
        if is_known or len(name) > _LONGEST_NAME:
            return ""
        if name[:2] in self._surnames:
            return name[:2]
        begins_with_word = len(name) > 1 and name[:2] in self._glosses
        return name[:1] if name[:1] in self._surnames and not begins_with_word else ""

    def _parts(self, word: str) -> Iterator[str]:
        """The glosses of the longest known parts of a word that is not known itself."""
        start = 0
        while start < len(word):
            ends = range(min(len(word), start + _LONGEST_WORD), start, -1)
            end = next((end for end in ends if word[start:end] in self._glosses), start + 1)
            yield self._glosses.get(word[start:end], "")
            start = end


def _joined(tagged: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Words that mean something else together than one by one (什么 时候, 电 费) as one."""
    rest = iter(tagged)
    word, tag = next(rest, ("", ""))
    for following, its_tag in rest:
        if word + following in COMMON_WORDS:
            word += following
        else:
            yield word, tag
            word, tag = following, its_tag
    yield word, tag


def _segmenter() -> Callable[[str], list[tuple[str, str]]]:
    """Cuts a text into words with their tags.

    It is the one that the library makes when it is imported: one more takes as long again.
    """
    try:
        from rjieba import tag
    except ImportError:
        raise missing_library("rjieba", "local") from None
    return tag
