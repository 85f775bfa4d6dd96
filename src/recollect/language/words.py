"""Words in Latin script, in lower case: their stems, and which are stop words."""

from functools import cache
from threading import Lock
from typing import Protocol, cast

from recollect.language.lexicon import lexicon

# Nobody searches for longer words; keys and encoded data are identified by their beginning.
LONGEST_TERM = 64


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 (the library's own name)


# The library's stemmer is not thread-safe.
_one_caller = Lock()


def stem(word: str) -> str:
    """Return the English Snowball stem; codes and other alphabets stay as they are, cut short."""
    if not (word.isascii() and word.isalpha()) or len(word) > LONGEST_TERM:
        return word[:LONGEST_TERM]
    with _one_caller:
        return _stemmer().stemWord(word)


def is_stop_word(word: str) -> bool:
    """Return whether the word only joins or asks; negations in n't are stop words."""
    return word in stop_words() or word.endswith("n't")


@cache
def stop_words() -> frozenset[str]:
    """Return the English words that say how something is asked or joined."""
    return lexicon("en", "stop_words").all_words() - first_person()


@cache
def first_person() -> frozenset[str]:
    """Return the English words that stand for the speaker."""
    return lexicon("en", "stop_words").words("first_person")


@cache
def stop_characters() -> frozenset[str]:
    """Return the Chinese characters that say how something is asked or joined."""
    return lexicon("zh", "stop_words").all_letters()


@cache
def _stemmer() -> _Stemmer:
    import Stemmer

    # 0 switches its cache off: callers keep their own. The library comes without types.
    return cast(_Stemmer, Stemmer.Stemmer("english", 0))  # pyright: ignore[reportUnknownMemberType]
