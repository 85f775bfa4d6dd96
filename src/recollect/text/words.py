"""One lower-case word of Latin-like text: whether it is a stop word, and its stem."""

from functools import cache
from threading import Lock
from typing import Protocol, cast

from recollect.text.stopwords import ENGLISH

# Longer than what people search for; keys and encoded data are known by their beginning.
LONGEST_TERM = 64


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 (the library's own name)


# The library's stemmer serves one caller at a time.
_one_caller = Lock()


def stem(word: str) -> str:
    """The English Snowball stem; codes and other alphabets stay as they are, cut to a bound."""
    if not (word.isascii() and word.isalpha()) or len(word) > LONGEST_TERM:
        return word[:LONGEST_TERM]
    with _one_caller:
        return _stemmer().stemWord(word)


def is_stop_word(word: str) -> bool:
    """Whether the word only joins or asks; every negation in n't does."""
    return word in ENGLISH or word.endswith("n't")


@cache
def _stemmer() -> _Stemmer:
    import Stemmer

    # 0 switches its cache off: callers keep their own. The library comes without types.
    return cast(_Stemmer, Stemmer.Stemmer("english", 0))  # pyright: ignore[reportUnknownMemberType]
