"""Turn text into search terms, the same way for what is stored and for what is asked.

Latin-like text gives stems, with compounds whole and in parts. Text without spaces between words
(Chinese, Japanese, Korean …) gives its characters and their neighbouring pairs, so that a word of
any length is found without a dictionary.

Stop words are dropped, unless the text has nothing else: "what is it" is then searched for, and
found in texts that say no more than that. Both sides follow the same rule, so they agree.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from itertools import chain
from operator import add
from typing import Generic, TypeVar

from recollect.language.characters import SPACELESS, VOWEL_SIGNS, fold
from recollect.language.quantities import number_forms, plain_number
from recollect.language.words import LONGEST_TERM, first_person, is_stop_word, stem, stop_characters

T = TypeVar("T")
V = TypeVar("V")

# --- The forms of one token of Latin-like text: a word, a name in code, an address, a path --------
# A compound is given whole and in parts: getUserName as getusername, get, user, name. The whole
# form of a name leaves its joints out, so that user_id, user-id and userId are one term; the whole
# form of a path or an address keeps them. All forms are lower case and not yet stemmed.

# What may stand between the words of one token, from the loosest joint to the tightest.
_PATH_JOINT = r"://|::|[/\\:@?=&#~+]"
_NAME_JOINT = r"__|[-_']"
JOINT = rf"(?:{_PATH_JOINT}|\.|{_NAME_JOINT})"

_path_joint = re.compile(_PATH_JOINT)
_name_joint = re.compile(_NAME_JOINT)
_short_ending = re.compile(r"'(?:s|re|ve|ll|d|m)$", re.IGNORECASE)
_hump = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_ordinal = re.compile(r"(\d+)(?:st|nd|rd|th)", re.IGNORECASE)
_letters_beside_digits = re.compile(r"([^\W\d]+)(\d+)|(\d+)([^\W\d]+)")


def forms(token: str) -> list[str]:
    """Return the token whole, then its parts down to words and numbers."""
    if token.islower() and token.isalpha() and token.isascii() and len(token) <= LONGEST_TERM:
        # A plain word, as nearly all are.
        return [token]
    if token.endswith(("+", "#")):
        return [token.casefold()]
    if number := number_forms(token):
        return number
    steps = _path_joint.split(token)
    if len(steps) > 1:
        return [token.casefold(), *_parts_of(map(forms, steps))]
    names = [_name_forms(name) for name in token.split(".")]
    if len(names) > 1:
        return ["".join(name[0] for name in names), *_parts_of(names)]
    return names[0]


def _parts_of(compounds: Iterable[list[str]]) -> Iterator[str]:
    """Yield all forms below a whole, except single letters (x-ray, u.s.a)."""
    return (form for forms in compounds for form in forms if len(form) > 1 or form.isdecimal())


def _name_forms(name: str) -> list[str]:
    if name.lower().endswith("n't"):
        return [name.casefold()]
    pieces = _name_joint.split(_short_ending.sub("", name))
    parts = list(chain.from_iterable(map(_humps, pieces)))
    return parts if len(parts) == 1 else ["".join(parts), *_parts_of([parts])]


def _humps(piece: str) -> list[str]:
    """Return the humps of a camel-case name, with a number apart from the letters beside it."""
    if len(piece) > LONGEST_TERM:
        return [piece[:LONGEST_TERM].casefold()]
    return list(chain.from_iterable(map(_letters_and_digits, _hump.split(piece))))


def _letters_and_digits(hump: str) -> list[str]:
    """Split gpt4 or 30min into letters and number; a code that mixes them more stays whole."""
    if hump.isdecimal():
        return [plain_number(hump)]
    if ordinal := _ordinal.fullmatch(hump):
        return [plain_number(ordinal[1])]
    if pair := _letters_beside_digits.fullmatch(hump):
        return [plain_number(x) if x.isdecimal() else x.casefold() for x in pair.groups() if x]
    return [hump.casefold()]


# --- Turn text into search terms, the same way for what is stored and for what is asked -----------
# Latin-like text gives stems, with compounds whole and in parts. Text without spaces between words
# (Chinese, Japanese, Korean …) gives its characters and their neighbouring pairs, so that a word of
# any length is found without a dictionary.
#
# Stop words are dropped, unless the text has nothing else: "what is it" is then searched for, and
# found in texts that say no more than that. Both sides follow the same rule, so they agree.

ANALYZER_VERSION = "4"
"""Raised whenever terms change, so that stored units are indexed again."""

_LETTER = rf"[^\W_{SPACELESS}]"
# Of tokens, pairs of characters and terms each.
_MOST_HELD = 1 << 14
# Groups are repeated atomically, not possessively: before 3.11.5 Python goes on behind what the
# last, failed repetition had read.
_WORD = rf"{_LETTER}+(?>(?:[{VOWEL_SIGNS}]+{_LETTER}*)*)"


def _joined(word: str) -> str:
    """Match a word, or a name or address that joins several."""
    return rf"{word}(?>(?:{JOINT}{word}){{0,31}})"


_AMOUNT = r"\d{1,3}(?:,\d{3}){1,8}(?:\.\d+)?(?!\d)"
_LANGUAGE_NAME = r"[A-Za-z](?:\+\+|\#)"


@cache
def _any_token() -> re.Pattern[str]:
    """Return the pattern of tokens, compiled with the first text that is not ASCII."""
    word = rf"{_LANGUAGE_NAME}|{_AMOUNT}|{_joined(_WORD)}"
    return re.compile(rf"([{SPACELESS}]+)|({word})(?=([{SPACELESS}]?))")


# The same where all is ASCII, as most English is, in two thirds of the time.
_ASCII_TOKEN = re.compile(rf"{_LANGUAGE_NAME}|{_AMOUNT}|{_joined('[A-Za-z0-9]+')}")


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, with repetitions, which ranking counts."""
    return _terms.of(text)


def text_keys(text: str) -> list[int]:
    """Return the keys of the terms of a text, see `term_key`."""
    return _keys.of(text)


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
    return _new_keys([term])[0]


def term_key(term: str) -> int:
    """Return a term as the unsigned 64-bit number the index stores, the same in every process."""
    return term_keys([term])[0]


def term_keys(terms: Iterable[str]) -> list[int]:
    """Return the keys of several terms, in their order."""
    return list(_key_of_term.of([*terms]))


def _new_keys(terms: Iterable[str]) -> list[int]:
    return [
        int.from_bytes(blake2b(it.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
        for it in terms
    ]


class _Lately(dict[str, V]):
    """What was made of the words that were met lately: nearly all of everyday text repeats."""

    def __init__(self, make: Callable[[Iterable[str]], Sequence[V]]) -> None:
        super().__init__()
        self._make = make

    def of(self, words: Sequence[str]) -> Iterator[V]:
        """Return what is made of each; of the new ones it is made together."""
        new = {word for word in words if word not in self and len(word) <= LONGEST_TERM}
        if new:
            if len(self) + len(new) > _MOST_HELD:
                self.clear()
            self.update(zip(new, self._make(new), strict=True))
        return map(self.__getitem__, words)

    def __missing__(self, word: str) -> V:
        # It is long, or another thread has just cleared this.
        return self._make([word])[0]


class _Scanner(Generic[T]):
    """Reads texts as terms, or as what is made of each term, which is never empty or zero."""

    def __init__(self, make: Callable[[Iterable[str]], Sequence[T]], nothing: T) -> None:
        self._make = make
        self._nothing = nothing
        # Tokens, and pieces of runs without spaces: first those that a text is searched by.
        self._tables = (
            (_Lately(self._of_tokens), _Lately(self._of_pieces)),
            (_Lately(self._of_all_tokens), _Lately(make)),
        )

    def of(self, text: str) -> list[T]:
        folded = fold(text)
        telling, everything = self._tables
        return self._scan(folded, *telling) or self._scan(folded, *everything)

    def _scan(self, folded: str, tokens: _Lately[Sequence[T]], pieces: _Lately[T]) -> list[T]:
        if folded.isascii():
            return list(chain.from_iterable(tokens.of(_ASCII_TOKEN.findall(folded))))
        made: list[T] = []
        for run, token, following in _any_token().findall(folded):
            if run:
                # Pairs carry most of the meaning; single characters let a one-character word (猫)
                # be found inside a sentence and raise the ranking of longer ones.
                made += filter(None, pieces.of([*run, *map(add, run, run[1:])]))
                continue
            made += chain.from_iterable(tokens.of([token]))
            if following and (len(token) == 1 or token.isdecimal()):
                # A number or letter belongs to the character it counts or names: 4月, 3个, B站.
                made += self._make([forms(token)[0] + following])
        return made

    def _of_tokens(self, tokens: Iterable[str]) -> list[Sequence[T]]:
        return [
            self._make([stem(form) for form in forms(token) if not is_stop_word(form)])
            for token in tokens
        ]

    def _of_all_tokens(self, tokens: Iterable[str]) -> list[Sequence[T]]:
        return [self._make([stem(form) for form in forms(token)]) for token in tokens]

    def _of_pieces(self, pieces: Iterable[str]) -> list[T]:
        is_stop = stop_characters().issuperset
        made = zip(pieces, self._make(pieces), strict=True)
        return [self._nothing if is_stop(piece) else it for piece, it in made]


_key_of_term = _Lately(_new_keys)
_terms = _Scanner[str](list, "")
_keys = _Scanner(_new_keys, 0)
