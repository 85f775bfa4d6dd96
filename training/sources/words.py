"""Words with their translation: Chinese Open Wordnet, CLDR, OpenStreetMap's presets, Unihan.

What new word rows begin as (`glosses`), and short translations to train with.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from training.sources.rows import HAN

_SYNSET = re.compile(r"^(\d{8}-[nvarsp]):$")
_ONLY_HAN = re.compile("[\u4e00-\u9fff]+")


def english_synsets(files: Iterable[str]) -> dict[str, list[str]]:
    """Return the words of each synset of Open English WordNet, by its ILI."""
    members: dict[str, list[str]] = {}
    for text in files:
        ili, words, inside = "", list[str](), False
        for line in [*text.splitlines(), "00000000-n:"]:
            if _SYNSET.match(line):
                if ili:
                    members[ili] = words
                ili, words, inside = "", [], False
            elif line.startswith("  ili: "):
                ili = line[7:].strip()
            elif line.startswith("  members:"):
                inside = True
            elif inside and line.startswith("  - "):
                words.append(line[4:].strip().strip("'\""))
            else:
                inside = False
    return members


def wordnet(
    chinese: str, mapping: str, english: Mapping[str, list[str]]
) -> dict[str, list[list[str]]]:
    """Return each Chinese word with the English words of its synsets."""
    ili_of = {
        offset.strip(): ili
        for ili, _, offset in (line.partition("\t") for line in mapping.splitlines())
    }
    found: dict[str, list[list[str]]] = defaultdict(list)
    for line in chinese.splitlines():
        offset, _, rest = line.partition("\t")
        relation, _, word = rest.partition("\t")
        ili = ili_of.get(offset) or ili_of.get(offset.replace("-a", "-s"), "")
        if relation == "cmn:lemma" and ili in english:
            found[word.replace("+", "").strip()].append(english[ili])
    return dict(found)


def best_gloss(meanings: list[list[str]]) -> str:
    """Return the English word that most of a word's synsets share, of those the shortest."""
    counted = Counter(word for words in meanings for word in dict.fromkeys(words))
    first = [word for words in meanings for word in words]
    return min(counted, key=lambda word: (-counted[word], len(word.split()), first.index(word)))


def synonyms(words: Mapping[str, list[list[str]]]) -> Iterator[tuple[str, str]]:
    """Yield Chinese words that share a synset."""
    together: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for word, meanings in words.items():
        for meaning in meanings:
            together[tuple(meaning)].append(word)
    for group in together.values():
        yield from zip(group, group[1:], strict=False)


def same_leaves(chinese: Any, english: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts at the same place of two JSON documents of one shape."""
    if isinstance(chinese, dict) and isinstance(english, dict):
        mine, other = cast(dict[str, Any], chinese), cast(dict[str, Any], english)
        for key in mine:
            if key in other:
                yield from same_leaves(mine[key], other[key])
    elif isinstance(chinese, str) and isinstance(english, str):
        yield chinese, english
    elif isinstance(chinese, list) and isinstance(english, list):
        mine, other = cast(list[Any], chinese), cast(list[Any], english)
        if len(mine) == len(other) == 1:
            yield from same_leaves(mine[0], other[0])


def definitions(unihan: str) -> Iterator[tuple[str, str]]:
    """Yield character and first meaning from Unihan's kDefinition lines."""
    for line in unihan.splitlines():
        code, _, rest = line.partition("\t")
        field, _, meaning = rest.partition("\t")
        if field == "kDefinition" and code.startswith("U+"):
            gloss = re.split("[;,(]", meaning)[0].strip()
            if gloss:
                yield chr(int(code[2:], 16)), gloss


def aligned_words(
    pairs: Iterable[tuple[list[str], list[str]]], least: int = 4
) -> dict[str, str]:
    """Return for each Chinese word the English word that goes with it (Dice over sentences)."""
    together: dict[str, Counter[str]] = defaultdict(Counter)
    chinese_count, english_count = Counter[str](), Counter[str]()
    for chinese, english in pairs:
        ours, theirs = set(chinese), set(english)
        chinese_count.update(ours)
        english_count.update(theirs)
        for word in ours:
            together[word].update(theirs)
    found: dict[str, str] = {}
    for word, counts in together.items():
        if chinese_count[word] < least or not _ONLY_HAN.fullmatch(word):
            continue
        scores = {
            it: 2 * count / (chinese_count[word] + english_count[it])
            for it, count in counts.items()
            if count >= least - 1
        }
        if scores and max(scores.values()) >= 0.2:
            found[word] = max(scores, key=lambda it: (scores[it], it))
    return found


def is_word(text: str) -> bool:
    return bool(_ONLY_HAN.fullmatch(text)) and bool(HAN.search(text))
