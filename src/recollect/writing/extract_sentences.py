"""The sentences of a message that its author says in the first place.

What came out of memory, code, quoted mail and quoted speech is blanked, character for character,
so that every place in a sentence is a place in the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from recollect.recall.fence import strip_memory
from recollect.text.folding import fold
from recollect.text.scripts import HAN
from recollect.text.signal_patterns import lines

# Longer than anything said in one breath: a log, data, a text without punctuation.
LONGEST_SENTENCE: Final = 600
_QUOTED: Final = "\x00"
# A message says what it wants at its beginning or at its end; what is longer has material between.
_READ_FIRST: Final = 15_000
_READ_LAST: Final = 5_000
_READ_AGAIN: Final = 8
_LETTER: Final = re.compile(r"[^\W\d_]")

_MEMORY: Final = re.compile(
    r"<(memory|memory-context)>(?:(?!</?(?:memory|memory-context)>).)*</\1>", re.DOTALL
)
_FENCED_CODE: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_FOREIGN_LINE: Final = re.compile(
    r"^[ \t]*"
    + lines(
        r"""
        >|//|\$\ |\#(?!\d)
        (?:from|to|cc|subject|date|sent|发件人|收件人|主题)[:：]
        (?:const|let|var)\ \w+\ ?=
        from\ [\w.]+\ import|import\ [\w{*]|\#include|elif\b
        def\ \w+\(|class\ \w+\ ?[:({]|function\ ?\w*\(
        return\ [^\n]*;|(?:public|private|static)\ [^\n]*[({;]
        for\ \w+\ in\ [^\n]*:|while\ [^\n]*:
        """
    )
    + r".*$|^[^\n]*(?:=>|==|&&|\?\?|\(\);|[;{}][ \t]*$)[^\n]*$",
    re.MULTILINE,
)
# Speech or a passage; a single term in quotes is part of the sentence.
_QUOTE: Final = re.compile(
    r'"[^"\n]{1,400}"|“[^“”\n]{1,400}”|「[^「」\n]{1,400}」|『[^『』\n]{1,400}』'
)
_QUOTED_TERM: Final = re.compile(rf"[^\s{HAN}]+(?:\s[^\s{HAN}]+)?|[{HAN}]{{1,4}}")

_SENTENCE_END: Final = re.compile(r"[。！？!?\n]+[”’」』\")]*|\.(?=[\s\"”)]|$)")
_NO_END: Final = re.compile(
    r"(?:\b(?:dr|mr|mrs|ms|prof|vs|etc|approx|no|st|e\.g|i\.e)|^\s*\d{1,2})$"
)
_LOOK_BACK: Final = 8

# "Ann and I are" has one subject.
_SUBJECT: Final = (
    r"(?!i (?:are|were)\b)(?:i|i'm|i've|i'd|i'll|we|we're|we've|we'll|let's)\b(?! too\b)"
)
_NEW_START: Final = (
    rf"(?:{_SUBJECT}|(?:please|keep|use|stop|don't)\b"
    r"|(?:my|our) (?:[\w'-]+ ){1,3}(?:is|are|was|were|has|have|had|will|can|works?|lives?)\b"
    r"(?! too\b))"
)
_CLAUSE_END: Final = re.compile(
    r"\s*[;；–—]\s*"
    rf"|\s(?:and|but)\s+(?={_SUBJECT})"
    rf"|,\s*(?:and |but |so |also )?(?={_NEW_START})"
    r"|[，,]\s*(?:但是?|而且|并且|另外|还有|所以|同时)?"
    r"(?=我(?!们?也)|我们|咱|以后|今后|请|那就|别再?|不要|记得|要用|(?:更|最|比较|特别)?(?:喜欢|讨厌|偏好))"
)
_SAYS_SOMETHING: Final = re.compile(
    rf"[{HAN}]|\b(?:i|i'm|i've|i'd|i'll|my|we|we're|we've|our|you|your|it|it's|they|he|she|is|are|was|were"
    r"|has|have|had|do|does|did|can|will|must|should|let's|\w+ed|\w{3,}s)\b"
)
_ONLY_NAMES: Final = re.compile(r"(?:both )?(?:my|our) [\w'-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """A message as extraction sees it: who said what, when."""

    id: str
    role: str
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence or clause: its place in the message, and its words as rules read them."""

    start: int
    end: int
    plain: str
    """In lower case and simplified Chinese, with speech blanked; as long as the original."""


def without_memory(text: str) -> str:
    """The message with what came out of memory blanked, of the same length."""
    return _MEMORY.sub(_blank_memory, text) if "<memory" in text else text


# A message is read as an answer, as a statement, and as what the next one answers.
@lru_cache(maxsize=_READ_AGAIN)
def readable(text: str) -> str:
    """The message as rules read it, of the same length."""
    text = without_memory(text)
    if "`" in text or "~~~" in text:
        text = _FENCED_CODE.sub(_blank, text)
    if len(text) > _READ_FIRST + _READ_LAST:
        between = len(text) - _READ_FIRST - _READ_LAST
        text = text[:_READ_FIRST] + "\n" * between + text[-_READ_LAST:]
    text = _FOREIGN_LINE.sub(_blank, _plain(text))
    return _QUOTE.sub(_blank_speech, text)


@lru_cache(maxsize=_READ_AGAIN)
def sentences(plain: str) -> tuple[Sentence, ...]:
    """The sentences of a message that `readable` gave, without those too long to be one."""
    found: list[Sentence] = []
    start = 0
    for end in _ends(plain):
        first, last = _trimmed(plain, start, end)
        if first < last <= first + LONGEST_SENTENCE and _LETTER.search(plain, first, last):
            found.append(Sentence(start=first, end=last, plain=plain[first:last]))
        start = end
    return tuple(found)


def clauses(sentence: Sentence) -> list[Sentence]:
    """The parts of a sentence that speak for themselves."""
    found: list[Sentence] = []
    start = 0
    for cut in _CLAUSE_END.finditer(sentence.plain):
        # "Julia and I met", "my wife and I": no clause ends where none has said anything yet.
        before = sentence.plain[start : cut.start()]
        if _SAYS_SOMETHING.search(before) and not _ONLY_NAMES.fullmatch(before):
            found.append(part_of(sentence, start, cut.start()))
            start = cut.end()
    found.append(part_of(sentence, start, len(sentence.plain)))
    return found


def part_of(sentence: Sentence, start: int, end: int) -> Sentence:
    """A part of a sentence, by places in it."""
    return Sentence(
        start=sentence.start + start, end=sentence.start + end, plain=sentence.plain[start:end]
    )


def _ends(plain: str) -> Iterator[int]:
    for match in _SENTENCE_END.finditer(plain):
        at = match.start()
        if match[0] == "." and _NO_END.search(_line_before(plain, at)):
            continue
        yield match.end()
    yield len(plain)


def _line_before(plain: str, at: int) -> str:
    return plain[max(0, at - _LOOK_BACK) : at].rpartition("\n")[2]


def _trimmed(plain: str, start: int, end: int) -> tuple[int, int]:
    piece = plain[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())


def _plain(text: str) -> str:
    """Lower case and simplified, character for character."""
    for change in (str.lower, fold):
        changed = change(text)
        text = (
            changed if len(changed) == len(text) else "".join(_one(change(it), it) for it in text)
        )
    return text.replace("’", "'") if not text.isascii() else text


def _one(changed: str, character: str) -> str:
    return changed if len(changed) == 1 else character


def _blank(match: re.Match[str]) -> str:
    return "\n" * len(match[0])


def _blank_memory(match: re.Match[str]) -> str:
    return match[0] if strip_memory(match[0]) else _blank(match)


def _blank_speech(match: re.Match[str]) -> str:
    inside = match[0][1:-1]
    if _QUOTED_TERM.fullmatch(inside.strip()):
        return match[0]
    return match[0][0] + _QUOTED * len(inside) + match[0][-1]
