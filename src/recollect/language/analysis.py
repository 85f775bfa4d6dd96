"""Turn text into search terms, the same way for what is stored and for what is asked.

Latin-like text gives stems, with compounds whole and in parts. Text without spaces between words
(Chinese, Japanese, Korean …) gives its characters and their neighbouring pairs, so that a word of
any length is found without a dictionary.

Stop words are dropped, unless the text has nothing else: "what is it" is then searched for, and
found in texts that say no more than that. Both sides follow the same rule, so they agree.
"""

import re
from collections.abc import Collection, Iterable
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import product
from operator import add

from recollect.language import identifiers
from recollect.language.folding import fold
from recollect.language.scripts import SPACELESS, VOWEL_SIGNS
from recollect.language.words import LONGEST_TERM, first_person, is_stop_word, stem, stop_characters

ANALYZER_VERSION = "4"
"""Raised whenever terms change, so that stored units are indexed again."""

_LETTER = rf"[^\W_{SPACELESS}]"
# Groups are repeated atomically, not possessively: before 3.11.5 Python goes on behind what the
# last, failed repetition had read.
_WORD = rf"{_LETTER}+(?>(?:[{VOWEL_SIGNS}]+{_LETTER}*)*)"


def _joined(word: str) -> str:
    """Match a word, or a name or address that joins several."""
    return rf"{word}(?>(?:{identifiers.JOINT}{word}){{0,31}})"


_AMOUNT = r"\d{1,3}(?:,\d{3}){1,8}(?:\.\d+)?(?!\d)"
_LANGUAGE_NAME = r"[A-Za-z](?:\+\+|\#)"
_TOKEN = re.compile(
    rf"([{SPACELESS}]+)|({_LANGUAGE_NAME}|{_AMOUNT}|{_joined(_WORD)})(?=([{SPACELESS}]?))"
)
# The same where all is ASCII, as most English is, in two thirds of the time.
_ASCII_TOKEN = re.compile(rf"{_LANGUAGE_NAME}|{_AMOUNT}|{_joined('[A-Za-z0-9]+')}")


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, with repetitions, which ranking counts."""
    folded = fold(text)
    return _scan(folded, keep_stop_words=False) or _scan(folded, keep_stop_words=True)


def query_terms(text: str) -> list[str]:
    """Return the terms of a question, each once, in the order they are first seen."""
    return list(dict.fromkeys(terms(text)))


def slight_terms(terms: Collection[str]) -> list[str]:
    """Return those of a question's terms that only say who asks: "I", "my".

    In a memory nearly everything is about that person.
    """
    asking = [term for term in terms if term in first_person()]
    return asking if len(asking) < len(terms) else []


def new_term_key(term: str) -> int:
    """Return the key of a term that will hardly occur again, such as an id; see `term_key`."""
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


@lru_cache(maxsize=1 << 14)
def term_key(term: str) -> int:
    """Return a term as the unsigned 64-bit number the index stores, the same in every process."""
    return new_term_key(term)


def term_keys(terms: Iterable[str]) -> list[int]:
    """Return the keys of several terms, in their order."""
    return list(map(term_key, terms))


def _scan(folded: str, *, keep_stop_words: bool) -> list[str]:
    found: list[str] = []
    if folded.isascii():
        for token in _ASCII_TOKEN.findall(folded):
            # Asked here as well: a call for each word would take as long as looking it up.
            short = len(token) <= LONGEST_TERM
            found += (_cached_token_terms if short else _token_terms)(token, keep_stop_words)
        return found
    for run, token, following in _TOKEN.findall(folded):
        if run:
            found += _run_terms(run, keep_stop_words=keep_stop_words)
            continue
        found += _terms_of(token, keep_stop_words)
        if following and (len(token) == 1 or token.isdecimal()):
            # A number or letter belongs to the character it counts or names: 4月, 3个, B站.
            found.append(identifiers.forms(token)[0] + following)
    return found


def _run_terms(run: str, *, keep_stop_words: bool) -> list[str]:
    """Return every character of a run without spaces, and every pair of neighbours.

    Pairs carry most of the meaning; single characters let a one-character word (猫) be found inside
    a sentence and raise the ranking of longer ones.
    """
    pairs = map(add, run, run[1:])
    if keep_stop_words:
        return [*run, *pairs]
    characters, stop_pairs = stop_characters(), _stop_pairs()
    found = [character for character in run if character not in characters]
    found += [pair for pair in pairs if pair not in stop_pairs]
    return found


@cache
def _stop_pairs() -> frozenset[str]:
    return frozenset(map("".join, product(stop_characters(), repeat=2)))


def _terms_of(token: str, keep_stop_words: bool) -> tuple[str, ...]:
    analyse = _cached_token_terms if len(token) <= LONGEST_TERM else _token_terms
    return analyse(token, keep_stop_words)


def _token_terms(token: str, keep_stop_words: bool) -> tuple[str, ...]:
    return tuple(
        stem(form) for form in identifiers.forms(token) if keep_stop_words or not is_stop_word(form)
    )


# Words repeat: nearly every token of everyday text is answered from here.
_cached_token_terms = lru_cache(maxsize=1 << 13)(_token_terms)
