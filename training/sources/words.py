"""Words with their translation: Chinese Open Wordnet, pairs of JSON files, words in use.

What new word rows begin as (`glosses`), and short translations to train with.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, cast

_SYNSET = re.compile(r"^(\d{8}-[nvarsp]):$")
HAN_RUN = re.compile("[\u4e00-\u9fff]+")
_ENGLISH_WORD = re.compile("[a-z]{2,}")
# English words that go with every Chinese one.
_FUNCTION_WORDS = frozenset(
    {"the", "to", "of", "and", "is", "in", "it", "you", "that", "for", "on", "with", "as", "are"}
    | {"be", "this", "was", "at", "have", "not", "from", "or", "by", "will", "can"}
)


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


def wordnet_glosses(words: Mapping[str, list[list[str]]]) -> dict[str, str]:
    """Return word → gloss; what is listed with its ending (聪明的) also without it."""
    found = {word: best_gloss(it) for word, it in words.items() if is_word(word)}
    bare = {
        word[:-1]: gloss for word, gloss in found.items() if len(word) > 2 and word[-1] in "的地"
    }
    return bare | found


def synonyms(words: Mapping[str, list[list[str]]]) -> Iterator[tuple[str, str]]:
    """Yield Chinese words that share a synset."""
    together: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for word, meanings in words.items():
        for meaning in meanings:
            together[tuple(meaning)].append(word)
    for group in together.values():
        yield from pairwise(group)


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


def aligned_words(pairs: Iterable[tuple[list[str], list[str]]], least: int = 4) -> dict[str, str]:
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
        if chinese_count[word] < least or not HAN_RUN.fullmatch(word):
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
    return HAN_RUN.fullmatch(text) is not None


def content_words(english: str) -> list[str]:
    return [it for it in _ENGLISH_WORD.findall(english.lower()) if it not in _FUNCTION_WORDS]
