"""Escaping of recalled text, so that none of it looks like a tag, role or heading to a model.

Readable text stays as it is; only what could pass for structure is escaped, as XML (`&lt;`) or
Markdown (a backslash) does it. Every character that looks like a bracket counts as one, and any
word after it as the name of a tag, because the tags and tokens that models know differ.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from typing import Final

from recollect.language.characters import fold
from recollect.language.lexicon import read_data
from recollect.recall.note_words import WORDS

SECTIONS: Final = (
    "user_preferences",
    "project_context",
    "recent_episodes",
    "relevant_procedures",
    "relevant_documents",
)


def _role_words() -> str:
    """Return a pattern for what speakers are called, in every language that the list has."""
    lines = tomllib.loads(read_data("roles.toml")).values()
    folded = {fold(word.replace("_", " ")) for line in lines for word in line.split()}
    return "|".join(map(re.escape, sorted(folded, key=lambda word: (-len(word), word))))


# Every item is a single line; this marks the original line breaks.
_LINE_BREAK: Final = "↵"
_LINE_SEPARATOR: Final = f" {_LINE_BREAK} "
_LINE_BREAKS: Final = re.compile("[\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029" + _LINE_BREAK + "]")
_CONTROLS: Final = frozenset({"Cc", "Cf", "Cs"})

# Invisible characters that are not in a format category: joiners, fillers, and variation
# selectors other than the two that choose between text and emoji style.
_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0d\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)

# Unicode variants of `<`. They begin a tag unless a number, `=` or `-` follows.
_LESS: Final = "<\u226e\ufe64\uff1c"
_TAG_START: Final = re.compile(rf"(?<![{_LESS}])[{_LESS}]++(?![=-]|\s*+\d)")
_ESCAPED: Final = {ord(sign): "&lt;\u0338" if sign == "\u226e" else "&lt;" for sign in _LESS}
# Other opening brackets and quotation marks, and characters that look like `<`. They are ordinary
# punctuation in Chinese and begin a tag only before a name.
_LIKE_LESS: Final = (
    "«‹˂˱ᐸᚲ≪≺⋖⋘⪡⫷\U0001d236༺༼᚛⁅⌈⌊\u2329❬❮❰❲❴⟅⟦⟨⟪⟬⦃⦇⦉⦋⦍⦏⦑⦓⦕⦗⧘⧚⧼⸦⹕⹗⹛〈《【〔〖〘〚︗︷︹︻︽︿﹇﹛﹝"
)
_SQUARE: Final = "[{\uff3b\uff5b"
_ROUND: Final = "(⁽₍❨❪⟮⦅⸨⹙﴿︵﹙（｟"
_OPENERS: Final = re.escape(_LIKE_LESS + _SQUARE + _ROUND)
_CLOSERS: Final = re.escape(
    ">≯﹥＞»›˃˲ᐳ≫≻⋗⋙⪢⫸)]}༻༽᚜⁆⁾₎⌉⌋\u232a❩❫❭❯❱❳❵⟆⟧⟩⟫⟭⟯⦄⦆⦈⦊⦌⦎⦐⦒⦔⦖⦘⧙⧛⧽⸧⸩⹖⹘⹚⹜〉》】〕〗〙〛﴾"
    "︘︶︸︺︼︾﹀﹈﹚﹜﹞）］｝｠"
)
# Between a bracket and the name of a tag there may be spaces, a slash, or the bar of a token.
_OPENING: Final = re.compile(
    rf"(?<![\\{_OPENERS}])[{_OPENERS}]++(?=[^\w{_OPENERS}{_CLOSERS}]*+(?P<name>.{{0,40}}))"
)
_UNMARKED: Final = re.compile(rf"(?<!\\)[{_OPENERS}]")
_LETTER: Final = re.compile(r"[^\W\d\u2e80-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]")
# Chat template keywords that are written in square brackets.
_TEMPLATE_WORD: Final = re.compile(
    r"(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)"
    rf"\s*[{_CLOSERS}]",
    re.IGNORECASE,
)

# Line beginnings that could pass for another speaker, a heading, a fence or an item of the block.
_DECORATION: Final = r"(?:[^\w\\]|_)*"
_ROLES: Final = _role_words()
_ROLE: Final = re.compile(_ROLES, re.IGNORECASE)
_ROLE_NOUNS: Final = (
    r"\s*(?:prompts?|messages?|instructions?|override|note|notice|update|command"
    "|提示词?|消息|指令|说明|通知|命令)"
)
_STRUCTURE: Final = re.compile(
    rf"{_DECORATION}(?:{_ROLES})(?:{_ROLE_NOUNS})?[\s*_\"'`”’]{{0,4}}[:{_CLOSERS}]"
    r"|\s*#{1,6}(?:\s|$)"
    rf"|\s*#{{1,6}}\s*(?:{_ROLES})"
    r"|\s*(?:`{3}|~{3}|-{3}|={3}|\*{3}|_{3})"
    r"|\s*\[[^\]]{1,100}\](?!\()",
    re.IGNORECASE,
)


def fenced(text: str) -> str:
    """Return the text as one escaped line."""
    lines = (_visible(line).strip() for line in _LINE_BREAKS.split(text))
    joined = _LINE_SEPARATOR.join(line for line in lines if line)
    joined = _TAG_START.sub(lambda tag: tag[0].translate(_ESCAPED), joined)
    if _NOTES.search(fold(joined)):
        # The text imitates the notes of an item: escape every bracket that could begin them.
        joined = _UNMARKED.sub(r"\\\g<0>", joined)
    marked = _OPENING.sub(_escape_opening, joined)
    return _LINE_SEPARATOR.join(map(_escape_line, marked.split(_LINE_SEPARATOR)))


def _visible(line: str) -> str:
    """Return the line without characters that a model reads but a person cannot see."""
    if line.isascii() and line.isprintable():
        return line
    category = unicodedata.category
    shown = (char for char in line if char == "\t" or category(char) not in _CONTROLS)
    return _INVISIBLE.sub("", "".join(shown))


def _escape_opening(opening: re.Match[str]) -> str:
    """Return the brackets, escaped if they could begin a tag or a chat template keyword."""
    brackets = opening[0]
    name = fold(opening["name"])
    if any(bracket in _LIKE_LESS for bracket in brackets):
        is_tag = _LETTER.match(name) or _ROLE.match(name)
    else:
        is_tag = _TEMPLATE_WORD.match(name) and any(bracket in _SQUARE for bracket in brackets)
    return f"\\{brackets}" if is_tag else brackets


def _escape_line(line: str) -> str:
    """Return the line, with a backslash in front if it could pass for structure."""
    return f"\\{line}" if _STRUCTURE.match(fold(line)) else line


def _notes_pattern() -> re.Pattern[str]:
    """Return a pattern for what only an item's notes contain: an origin or a confidence."""
    origins = (
        origin
        for words in WORDS.values()
        for origin in (words.stated, words.saved, words.inferred, words.turn, words.shared)
    )
    confidences = (words.confidence.partition("{")[0] for words in WORDS.values())
    gap = rf"[\s{_LINE_BREAK}]*+"
    return re.compile(
        rf"[{_OPENERS},;、]{gap}(?:{_any_spelling(origins)}){gap}[{_CLOSERS},;、]"
        rf"|(?:{_any_spelling(confidences)})[\W_]{{0,9}}\d",
        re.IGNORECASE,
    )


def _any_spelling(phrases: Iterable[str]) -> str:
    """Return a pattern for the phrases with any separators; `{}` matches anything."""
    anything = r"[^,;、]{1,80}?"
    words = (re.findall(r"\{\}|\w+", fold(phrase)) for phrase in phrases)
    return "|".join(
        r"[\W_]{0,9}".join(anything if word == "{}" else word for word in phrase)
        for phrase in words
    )


_NOTES: Final = _notes_pattern()
