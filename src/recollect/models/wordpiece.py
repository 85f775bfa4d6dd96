"""BERT's WordPiece for tokenizer files of the default model's form.

The library for tokenizer files of every form asks for 33 MB of packages that talk to a model hub.
The default model needs one form: BERT's normalizer and punctuation, a split at runs of listed
characters, and WordPiece. Files of other forms are read by the library.
"""

from __future__ import annotations

import json
import re
import string
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, Final

import numpy as np

# The tokens of a word are looked up once: words repeat, and these are most of any text.
_KEPT_WORDS: Final = 16_384
_ASCII_PUNCTUATION: Final = frozenset(string.punctuation)
_KEPT_CONTROLS: Final = frozenset("\t\n\r")
_DROPPED: Final = frozenset("\x00\ufffd")
_CONTROLS: Final = frozenset({"Cc", "Cf", "Co"})
_NORMALIZER: Final = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": False,
    "strip_accents": None,
    "lowercase": True,
}


@dataclass(frozen=True, slots=True)
class Encoded:
    """The tokens of one or two texts, and which of the two each belongs to."""

    ids: list[int]
    type_ids: list[int]


def wordpiece_of(data: bytes) -> WordPiece | None:
    """Return the tokenizer of a file, or None for a file of another form."""
    try:
        told: dict[str, Any] = json.loads(data)
    except ValueError:
        # The library says what is wrong with it.
        return None
    split = _han_split(told.get("pre_tokenizer"))
    model: dict[str, Any] = told.get("model") or {}
    after: dict[str, Any] = told.get("post_processor") or {}
    is_ours = (
        told.get("normalizer") == _NORMALIZER
        and split is not None
        and model.get("type") == "WordPiece"
        and after.get("type") == "TemplateProcessing"
        and all(_is_plain(it) for it in told.get("added_tokens", ()))
    )
    if split is None or not is_ours:
        return None
    return WordPiece(model, split, {it["content"]: it["id"] for it in told["added_tokens"]})


def _han_split(told: dict[str, Any] | None) -> str | None:
    """Return the pattern of the runs that are isolated after BERT's punctuation."""
    match told:
        case {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "BertPreTokenizer"},
                {
                    "type": "Split",
                    "pattern": {"Regex": str(pattern)},
                    "behavior": "Isolated",
                    "invert": False,
                },
            ],
        }:
            found = re.fullmatch(r"\[([^\[\]\\^]+)\]\{1,\d+\}", pattern)
            return pattern if found else None
        case _:
            return None


def _is_plain(token: dict[str, Any]) -> bool:
    return not any(token[it] for it in ("single_word", "lstrip", "rstrip", "normalized"))


class _Vocabulary:
    """The numbers of many words in a tenth of the memory of a dictionary.

    Words are known by the 64-bit hash of their bytes: that one of a hundred thousand has that of
    another word is less likely than a wrong bit in memory.
    """

    def __init__(self, words: Mapping[str, int]) -> None:
        hashes = np.fromiter(map(_hash, words), np.int64, len(words))
        numbers = np.fromiter(words.values(), np.int32, len(words))
        order = hashes.argsort()
        self._hashes = array("q", hashes[order].tobytes())
        self._numbers = array("i", numbers[order].tobytes())
        self.longest = max(map(len, words))

    def get(self, word: str) -> int | None:
        wanted = _hash(word)
        place = bisect_left(self._hashes, wanted)
        is_known = place < len(self._hashes) and self._hashes[place] == wanted
        return self._numbers[place] if is_known else None


def _hash(word: str) -> int:
    # Not that of the text itself, which "my" and a Chinese character have in common.
    return hash(word.encode("utf-8", "surrogatepass"))


class WordPiece:
    """Cuts texts into the tokens of a vocabulary, each word into its longest known parts."""

    def __init__(self, model: dict[str, Any], split: str, added: dict[str, int]) -> None:
        self._vocabulary = _Vocabulary(model["vocab"])
        self._unknown: int = model["vocab"][model["unk_token"]]
        self._prefix: str = model["continuing_subword_prefix"]
        self._most_characters: int = model["max_input_chars_per_word"]
        self._added = added
        self._first, self._last = added["[CLS]"], added["[SEP]"]
        self._longest: int | None = None
        self._added_tokens = re.compile("|".join(map(re.escape, added)))
        self._runs = re.compile(f"({split})")
        self._pieces_of = lru_cache(_KEPT_WORDS)(self._cut)

    def no_padding(self) -> None:
        """Do nothing: texts are padded in batches, elsewhere."""

    def enable_truncation(self, max_length: int) -> None:
        """Cut what is longer; of two texts the longer one."""
        self._longest = max_length

    def encode(
        self, text: str, pair: str | None = None, *, add_special_tokens: bool = True
    ) -> Encoded:
        """Return the tokens of a text, or of two."""
        first = self._tokens(text)
        second = None if pair is None else self._tokens(pair)
        if self._longest is not None:
            marks = (2 if second is None else 3) if add_special_tokens else 0
            first, second = _truncated(first, second, self._longest - marks)
        if not add_special_tokens:
            both = [*first, *(second or ())]
            return Encoded(both, [0] * len(first) + [1] * (len(both) - len(first)))
        ids = [self._first, *first, self._last]
        types = [0] * len(ids)
        if second is not None:
            ids += [*second, self._last]
            types += [1] * (len(second) + 1)
        return Encoded(ids, types)

    def _tokens(self, text: str) -> list[int]:
        tokens: list[int] = []
        at = 0
        for found in self._added_tokens.finditer(text):
            tokens += self._plain_tokens(text[at : found.start()])
            tokens.append(self._added[found[0]])
            at = found.end()
        return tokens + self._plain_tokens(text[at:])

    def _plain_tokens(self, text: str) -> list[int]:
        # Every second part is a run of listed characters, a word by itself.
        parts = self._runs.split(text.translate(_NORMAL))
        words = chain.from_iterable(
            [part] if at % 2 else part.split(" ") for at, part in enumerate(parts)
        )
        return [*chain.from_iterable(map(self._pieces_of, filter(None, words)))]

    def _cut(self, word: str) -> tuple[int, ...]:
        if len(word) > self._most_characters:
            return (self._unknown,)
        vocabulary, pieces, at, prefix = self._vocabulary, list[int](), 0, ""
        while at < len(word):
            for end in range(min(len(word), at + vocabulary.longest), at, -1):
                known = vocabulary.get(prefix + word[at:end])
                if known is not None:
                    break
            else:
                return (self._unknown,)
            pieces.append(known)
            at, prefix = end, self._prefix
        return tuple(pieces)


def _truncated(
    first: list[int], second: list[int] | None, most: int
) -> tuple[list[int], list[int] | None]:
    if second is None:
        return first[:most], None
    if len(first) + len(second) <= most:
        return first, second
    shorter, longer = sorted((len(first), len(second)))
    longer = longer if shorter > most else max(shorter, most - shorter)
    if shorter + longer > most:
        shorter = most // 2
        longer = shorter + most % 2
    if len(first) > len(second):
        return first[:longer], second[:shorter]
    return first[:shorter], second[:longer]


class _Normal(dict[int, str]):
    """Each character without accents and capitals, punctuation apart, as it is first seen."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character in _KEPT_CONTROLS:
            normal = " "
        elif character in _DROPPED or unicodedata.category(character) in _CONTROLS:
            normal = ""
        elif character.isspace():
            normal = " "
        else:
            parts = unicodedata.normalize("NFD", character)
            kept = (it for it in parts if unicodedata.category(it) != "Mn")
            normal = "".join(f" {it} " if _is_mark(it) else it.lower() for it in kept)
        self[code] = normal
        return normal


_NORMAL: Final = _Normal()


def _is_mark(character: str) -> bool:
    return character in _ASCII_PUNCTUATION or unicodedata.category(character)[0] == "P"
