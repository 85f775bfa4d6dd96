"""Whether words of a message are its sender's own, not pasted, quoted or forwarded.

What may stand in every prompt is decided strictly: when in doubt, the words are not their own.
"""

from __future__ import annotations

import re
from typing import Final

from recollect.language.claims import moods
from recollect.language.extraction.utterances import readable, sentences
from recollect.language.lexicon import bilingual

_BLANK: Final = frozenset("\n\x00")
_LINE: Final = re.compile(r"[^\n]+")
# Text that follows on a line of its own is announced, whatever the words before it.
_ANNOUNCED: Final = re.compile(r"[:：][ \t]*\n")
_COLON: Final = re.compile(r"[:：](?!//)")


def are_own_words(message: str, start: int | None = None, end: int | None = None) -> bool:
    """Return whether a part of a message, by default all of it, is in its sender's own words."""
    first, last = start or 0, len(message) if end is None else end
    plain, limit = _read(message)
    return last <= limit and not any(
        read in _BLANK and not written.isspace()
        for read, written in zip(plain[first:last], message[first:last], strict=True)
    )


def _read(message: str) -> tuple[str, int]:
    """Return the message as rules read it, and where text of somebody else begins."""
    plain, lowered = readable(message), message.lower()
    mail, closing = bilingual("pasted", "mail"), bilingual("pasted", "closing")
    lines = [(line.start(), line[0].strip()) for line in _LINE.finditer(lowered)]
    if any(closing.fullmatch(words) for _, words in lines):
        return plain, 0
    limits = [len(message), *(start for start, words in lines if mail.match(words))]
    limits += [it.end() for it in _ANNOUNCED.finditer(lowered)]
    # A text may begin behind a colon within a line: "Summarise this: …".
    for sentence in sentences(plain):
        colon = _COLON.search(sentence.plain)
        if colon and moods.announces_material(sentence.plain[: colon.end()]):
            limits.append(sentence.start + colon.end())
    return plain, min(limits)
