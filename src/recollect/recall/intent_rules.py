"""Building blocks for intent rules, and the rules that hold in every language.

A text comes here in lower case, with single spaces and one space before it, so every English word
begins with a space. A search for alternatives is several times faster if each of them begins with a
plain character, therefore `each` writes them out instead of nesting them. Every repetition is
bounded or delimited by spaces, so the time stays linear in the text.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Final

Find = Callable[[str], re.Match[str] | None]

# How much of a text counts as early: a Chinese character says over twice as much as a letter.
_EARLY_ENGLISH_CHARS: Final = 200
_EARLY_CHINESE_CHARS: Final = 80


def any_of(*ways: str) -> str:
    """Return a group of alternatives."""
    return f"(?:{'|'.join(ways)})"


def one_of(words: str) -> str:
    """Return a group of words, given separated by spaces."""
    return any_of(*words.split())


def each(words: str, rest: str = "") -> str:
    """Return every word followed by the rest, written out as alternatives."""
    return "|".join(f"{word}{rest}" for word in words.split())


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern when it is first needed; compiling all would slow down every import."""
    return re.compile(text)


def anywhere(*ways: str) -> Find:
    """Match one of the patterns at any place."""
    text = any_of(*ways)
    return lambda said: _pattern(text).search(said)


def early_english(*ways: str) -> Find:
    """Match whole words near the beginning: the topic of a message is named early."""
    text = rf" {any_of(*ways)}\b"
    return lambda said: _pattern(text).search(said, 0, _EARLY_ENGLISH_CHARS)


def early_chinese(*ways: str) -> Find:
    """Match one of the patterns near the beginning of a Chinese message."""
    text = any_of(*ways)
    return lambda said: _pattern(text).search(said, 0, _EARLY_CHINESE_CHARS)


def at_the_beginning(opening: str, *ways: str) -> Find:
    """Match an opening, followed by one of the patterns."""
    text = opening + any_of(*ways)
    return lambda said: _pattern(text).match(said)


def as_a_whole(opening: str, *ways: str, longest: int) -> Find:
    """Match a short message that is an opening and one of the patterns, and nothing else."""
    text = f"{opening}{any_of(*ways)}[ ?？!！.,，。~]*"
    return lambda said: _pattern(text).fullmatch(said) if len(said) <= longest else None


def both(sign: Find, other: Find) -> Find:
    """Match two signs that are weak alone; the match of the first is returned."""

    def found(said: str) -> re.Match[str] | None:
        match = sign(said)
        return match if match and other(said) else None

    return found


def only_with(names: str, find: Find) -> Find:
    """Run a costly search only if one of the names occurs."""
    needed = tuple(names.split())

    def found(said: str) -> re.Match[str] | None:
        for name in needed:
            if name in said:
                return find(said)
        return None

    return found


# Error output is never a figure of speech.
MACHINE_SPEECH: Final = anywhere(
    "[ \"']"
    + any_of(
        r"traceback \(most recent",
        r"file \"[^\"]{1,80}\", line \d",
        r"at [\w.$<>]{1,80}\([\w.]{1,60}:\d",
        "segmentation fault",
        "uncaught (?:in|[a-z]{0,30}error|[a-z]{0,30}exception)",
        each("panic: fatal:", " "),
        "undefined (?:is not|reference)",
        "cannot (?:read propert|import name)",
        "could not (?:find a version|resolve host|connect to server)",
        "object is not [a-z]{1,20}able",
        "no (?:module named|such file)",
        "command not found",
        each("connection permission access", " (?:refused|denied)"),
        "unexpected token",
        "invalid syntax",
        "0x0{2}",
    )
)
ERROR_MESSAGE: Final = only_with(
    "error: exception:", anywhere(r"(?<![a-z])[a-z.]{0,40}(?:error|exception): \w")
)
ERROR_NAME: Final = only_with(
    "error exception",
    anywhere(r"(?<![a-z])(?!terror)[a-z][a-z.]{0,40}?(?:error|exception)(?![a-z])"),
)

ROLE: Final = one_of(
    "agent bot review test cod plann writ architect design front back devops ops qa research"
    " coordinat supervis orchestrat analy"
)
