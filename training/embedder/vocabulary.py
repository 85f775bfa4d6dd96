"""The student's tokenizer: MiniLM's, with Chinese characters and frequent Chinese words added.

Chinese is cut longest match first by WordPiece itself: every added word is listed twice, as the
beginning of a run and as its continuation (`##`), with one id. The tokenizer file therefore says
all there is to say, and any program that reads `tokenizer.json` reads Chinese as we do.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from recollect.language.characters import fold

WORDS = 26_000
# A run is cut into pieces of so many characters, so that the longest match stays linear.
LONGEST_RUN = 24
_HAN_RUN = re.compile("[\u4e00-\u9fff]+")
_LONGEST_WORD = 6
# Words that a dictionary does not know are often mistakes of the segmenter.
_UNGLOSSED = 0.25
_SHARE_OF_DICTIONARY = 0.4
_SEEN_OFTEN = 3
_WORDS_OF_A_CHARACTER = 5


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A tokenizer file, and how the rows of its new tokens begin."""

    tokenizer: dict[str, Any]
    beginnings: dict[int, list[int]]
    """New token → the old tokens whose mean it starts as (none: a random row)."""
    characters: dict[int, list[int]]
    """New word → the tokens of its characters."""
    size: int


def build(
    base: dict[str, Any],
    texts: Iterable[str],
    frequencies: Mapping[str, int],
    glosses: Mapping[str, str],
    segment: Any,
    encode_gloss: Any,
    words: int = WORDS,
) -> Vocabulary:
    """Return MiniLM's tokenizer `base` with the characters and the best words of the texts."""
    counted, characters = Counter[str](), Counter[str]()
    for run in _runs(texts):
        characters.update(run)
        counted.update(segment(run))
    chosen = best_words(counted, frequencies, glosses, words)
    single = _characters(chosen, characters, glosses)
    return _extended(base, [*single, *chosen], glosses, encode_gloss)


def best_words(
    counted: Mapping[str, int],
    frequencies: Mapping[str, int],
    glosses: Mapping[str, str],
    limit: int,
) -> list[str]:
    """Return the words that save most tokens, judged by our texts and by a dictionary's counts."""
    known, seen = sum(frequencies.values()) or 1, sum(counted.values()) or 1
    scores: dict[str, float] = {}
    for word in frequencies.keys() | counted.keys():
        if not 2 <= len(word) <= _LONGEST_WORD or not _HAN_RUN.fullmatch(word):
            continue
        score = _SHARE_OF_DICTIONARY * frequencies.get(word, 0) / known
        score += (1 - _SHARE_OF_DICTIONARY) * counted.get(word, 0) / seen
        scores[word] = score if word in glosses else _UNGLOSSED * score
    return sorted(scores, key=lambda word: (-scores[word], word))[:limit]


def _characters(
    words: Iterable[str], seen: Mapping[str, int], glosses: Mapping[str, str]
) -> list[str]:
    found = {character for word in words for character in word}
    found |= {fold(character) for character in _gb2312()}
    found |= {character for character, count in seen.items() if count >= _SEEN_OFTEN}
    found |= {word for word in glosses if len(word) == 1 and word in seen}
    return sorted(one for one in found if len(one) == 1 and _HAN_RUN.fullmatch(one))


def _gb2312() -> Iterator[str]:
    for high in range(0xB0, 0xF8):
        for low in range(0xA1, 0xFF):
            try:
                yield bytes([high, low]).decode("gb2312")
            except UnicodeDecodeError:
                continue


def _extended(
    base: dict[str, Any], added: list[str], glosses: Mapping[str, str], encode_gloss: Any
) -> Vocabulary:
    tokenizer = json.loads(json.dumps(base))
    old: dict[str, int] = tokenizer["model"]["vocab"]
    # MiniLM's own few Chinese characters were never trained: nothing reads their rows any more.
    vocabulary = {
        (f"[unused-{row}]" if _HAN_RUN.search(token) else token): row for token, row in old.items()
    }
    ids = {token: len(old) + position for position, token in enumerate(added)}
    vocabulary |= ids
    vocabulary |= {f"##{token}": row for token, row in ids.items()}
    tokenizer["model"]["vocab"] = vocabulary
    tokenizer["normalizer"]["handle_chinese_chars"] = False
    known = _as_ranges(token for token in added if len(token) == 1)
    runs = {"Regex": f"[{known}]{{1,{LONGEST_RUN}}}"}
    tokenizer["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "BertPreTokenizer"},
            {"type": "Split", "pattern": runs, "behavior": "Isolated", "invert": False},
        ],
    }
    tokenizer["padding"] = tokenizer["truncation"] = None
    meanings = _meanings(added, glosses)
    return Vocabulary(
        tokenizer=tokenizer,
        beginnings={
            row: encode_gloss(meanings[token]) if meanings[token] else []
            for token, row in ids.items()
        },
        characters={
            row: [ids[character] for character in token]
            for token, row in ids.items()
            if len(token) > 1
        },
        size=len(old) + len(added),
    )


def _meanings(added: list[str], glosses: Mapping[str, str]) -> dict[str, str]:
    """Return what each new token means: its gloss, or what it is put together from.

    A character without a gloss means what the first words that have it mean, and a word without one
    what its characters mean; a rare character may be left without a meaning.
    """
    inside: dict[str, list[str]] = defaultdict(list)
    for word in added:
        if len(word) > 1 and glosses.get(word):
            for character in dict.fromkeys(word):
                inside[character].append(glosses[word])
    found = {
        token: glosses.get(token) or " ".join(inside[token][:_WORDS_OF_A_CHARACTER])
        for token in added
        if len(token) == 1
    }
    for word in (token for token in added if len(token) > 1):
        parts = " ".join(found.get(character, "") for character in word)
        found[word] = glosses.get(word) or " ".join(parts.split())
    return found


def _as_ranges(characters: Iterable[str]) -> str:
    """Return sorted characters as the inside of a regular expression's class."""
    ranges: list[list[int]] = []
    for code in sorted(map(ord, characters)):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(
        chr(first) if first == last else f"{chr(first)}-{chr(last)}" for first, last in ranges
    )


def _runs(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from _HAN_RUN.findall(text)
