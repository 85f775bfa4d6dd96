"""The sentences of a message that its author says, without pasted and quoted text.

What came out of memory, code, quoted mail and quoted speech is blanked, character for character,
so that every place in a sentence is a place in the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, NamedTuple

from recollect.language.characters import HAN, fold
from recollect.language.lexicon import lexicon
from recollect.language.memory_block import strip_memory

# Longer than anything said in one breath: a log, data, a text without punctuation.
LONGEST_SENTENCE: Final = 600
_QUOTED: Final = "\x00"
# A message says what it wants at its beginning or at its end; what is longer has material between.
_FIRST_CHARACTERS_READ: Final = 15_000
_LAST_CHARACTERS_READ: Final = 5_000
_CACHED_MESSAGES: Final = 8
_SAID: Final = re.compile(r"[^\W_]")

_MEMORY: Final = re.compile(
    r"<(memory|memory-context)>(?:(?!</?(?:memory|memory-context)>).)*</\1>", re.DOTALL
)
_FENCED_CODE: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
# Quoted mail and code.
_FOREIGN_LINE: Final = re.compile(
    r"^[ \t]*(?:>|//|\$ |#(?!\d)"
    r"|(?:from|to|cc|subject|date|sent|发件人|收件人|主题)[:：]"
    r"|(?:const|let|var) \w+ ?="
    r"|from [\w.]+ import|import [\w{*]|#include|elif\b"
    r"|def \w+\(|class \w+ ?[:({]|function ?\w*\("
    r"|return [^\n]*;|(?:public|private|static) [^\n]*[({;]"
    r"|for \w+ in [^\n]*:|while [^\n]*:"
    r").*$|^[^\n]*(?:=>|==|&&|\?\?|\(\);|[;{}][ \t]*$)[^\n]*$",
    re.MULTILINE,
)
# Speech or a passage; a single term in quotes is part of the sentence.
_QUOTE: Final = re.compile(
    r'"[^"\n]{1,400}"|“[^“”\n]{1,400}”|「[^「」\n]{1,400}」|『[^『』\n]{1,400}』'
)
_QUOTED_TERM: Final = re.compile(rf"[^\s{HAN}]+(?:\s[^\s{HAN}]+)?|[{HAN}]{{1,4}}")

_SENTENCE_END: Final = re.compile(r"[。！？!?\n]+[”’」』\")]*|\.(?=[\s\"”)]|$)")
_LOOK_BACK_CHARACTERS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence or clause: its place in the message, and its words as rules read them."""

    start: int
    end: int
    plain: str
    """In lower case and simplified Chinese, with speech blanked; as long as the original."""


def without_memory(text: str) -> str:
    """Blank what came out of memory; the length stays the same."""
    return _MEMORY.sub(_blank_memory, text) if "<memory" in text else text


# A message is read as an answer, as a statement, and as what the next one answers.
@lru_cache(maxsize=_CACHED_MESSAGES)
def readable(text: str) -> str:
    """Return the message as rules read it, with the same length."""
    text = without_memory(text)
    if "`" in text or "~~~" in text:
        text = _FENCED_CODE.sub(_blank, text)
    if len(text) > _FIRST_CHARACTERS_READ + _LAST_CHARACTERS_READ:
        between = len(text) - _FIRST_CHARACTERS_READ - _LAST_CHARACTERS_READ
        text = text[:_FIRST_CHARACTERS_READ] + "\n" * between + text[-_LAST_CHARACTERS_READ:]
    text = _FOREIGN_LINE.sub(_blank, _plain(text))
    return _QUOTE.sub(_blank_speech, text)


@lru_cache(maxsize=_CACHED_MESSAGES)
def sentences(plain: str) -> tuple[Sentence, ...]:
    """Return the sentences of a `readable` message, without those too long to be one."""
    found: list[Sentence] = []
    start = 0
    for end in _ends(plain):
        piece = plain[start:end]
        first, last = end - len(piece.lstrip()), start + len(piece.rstrip())
        if first < last <= first + LONGEST_SENTENCE and _SAID.search(plain, first, last):
            found.append(Sentence(start=first, end=last, plain=plain[first:last]))
        start = end
    return tuple(found)


def part_of(sentence: Sentence, start: int, end: int) -> Sentence:
    """Return a part of a sentence by its positions."""
    return Sentence(
        start=sentence.start + start, end=sentence.start + end, plain=sentence.plain[start:end]
    )


def _ends(plain: str) -> Iterator[int]:
    for match in _SENTENCE_END.finditer(plain):
        at = match.start()
        before = plain[max(0, at - _LOOK_BACK_CHARACTERS) : at].rpartition("\n")[2]
        if match[0] != "." or not lexicon("en", "clauses").regex("no_end").search(before):
            yield match.end()
    yield len(plain)


def _plain(text: str) -> str:
    """Return the text in lower case and simplified characters, character for character."""
    for change in (str.lower, fold):
        changed = change(text)
        if len(changed) != len(text):
            each = ((change(character), character) for character in text)
            changed = "".join(new if len(new) == 1 else old for new, old in each)
        text = changed
    return text.replace("’", "'")


def _blank(match: re.Match[str]) -> str:
    return "\n" * len(match[0])


def _blank_memory(match: re.Match[str]) -> str:
    return match[0] if strip_memory(match[0]) else _blank(match)


def _blank_speech(match: re.Match[str]) -> str:
    inside = match[0][1:-1]
    if _QUOTED_TERM.fullmatch(inside.strip()):
        return match[0]
    return match[0][0] + _QUOTED * len(inside) + match[0][-1]


# --- Prefaces of sentences: "Oops, sorry,", 不对， ------------------------------------------------
#
# It is no part of what they tell, but it may tell that something said before was wrong.


class Preface(NamedTuple):
    """The length of a preface, and whether it corrects something."""

    length: int
    corrects: bool


def preface(plain: str) -> Preface:
    """Return the preface of a sentence; all of it if nothing follows."""
    pattern = _pattern()
    length, corrects = 0, False
    while length < len(plain) and (found := pattern.match(plain, length)):
        length = found.end()
        corrects |= found["correcting"] is not None
    return Preface(length, corrects)


@cache
def _pattern() -> re.Pattern[str]:
    english, chinese = lexicon("en", "prefaces"), lexicon("zh", "prefaces")
    correcting = f"{english.pattern('correcting')}|{chinese.pattern('correcting')}"
    others = (words.pattern(name) for name in ("mere", "reported") for words in (english, chinese))
    return re.compile(f"(?P<correcting>{correcting})|{'|'.join(others)}")
