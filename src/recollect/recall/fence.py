"""Recalled text is data: nothing in it may look like a tag, a role or a heading to a model.

Readable text stays as it is; only what could pass for structure is marked, as a reader of XML
(`&lt;`) or Markdown (a backslash) expects. Any sign that is drawn like a bracket counts as one, and
any word after it as the name of a tag: which tags and tokens a model knows is not ours to know.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from recollect.language.folding import fold
from recollect.recall.note_words import WORDS

SECTIONS: Final = (
    "user_preferences",
    "project_context",
    "recent_episodes",
    "relevant_procedures",
    "relevant_documents",
)

# One item is one line; this shows where the text had others.
_LINE_BREAK: Final = "↵"
_BETWEEN_LINES: Final = f" {_LINE_BREAK} "
_LINE_BREAKS: Final = re.compile("[\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029" + _LINE_BREAK + "]")
_CONTROLS: Final = frozenset({"Cc", "Cf", "Cs"})

# What is drawn as nothing though it is not a format character: joiners, fillers, and variation
# selectors other than the two that choose between a text and an emoji.
_DRAWN_AS_NOTHING: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0d\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)

# What Unicode takes for `<`. It begins a tag unless a number, `=` or `-` follows.
_LESS: Final = "<\u226e\ufe64\uff1c"
_TAG_START: Final = re.compile(rf"(?<![{_LESS}])[{_LESS}]++(?![=-]|\s*+\d)")
_ESCAPED: Final = {ord(it): "&lt;\u0338" if it == "\u226e" else "&lt;" for it in _LESS}
# Other opening brackets but round ones and quotation marks, and what is drawn like `<`. They are
# ordinary signs of Chinese, and begin a tag only before a name.
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
# Signs may stand between a bracket and the name of a tag: gaps, a slash, the bar of a token.
_OPENING: Final = re.compile(
    rf"(?<![\\{_OPENERS}])[{_OPENERS}]++(?=[^\w{_OPENERS}{_CLOSERS}]*+(?P<name>.{{0,40}}))"
)
_UNMARKED: Final = re.compile(rf"(?<!\\)[{_OPENERS}]")
_LETTER: Final = re.compile(r"[^\W\d\u2e80-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]")
# Words of chat templates that are written in square brackets.
_TEMPLATE_WORD: Final = re.compile(
    r"(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)"
    rf"\s*[{_CLOSERS}]",
    re.IGNORECASE,
)

# How a line begins that could pass for another speaker, a heading, a fence or an item of the block.
_DECORATION: Final = r"(?:[^\w\\]|_)*"
_ROLES: Final = (
    "system|developer|assistant|user|human|ai|bot|tool|function|instructions?|prompt"
    "|系统|开发者|助手|助理|用户|人类|工具|指令|提示词?"
)
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
    """The text as one line of data."""
    lines = (_visible(line).strip() for line in _LINE_BREAKS.split(text))
    joined = _BETWEEN_LINES.join(line for line in lines if line)
    joined = _TAG_START.sub(lambda tag: tag[0].translate(_ESCAPED), joined)
    if _NOTES.search(fold(joined)):
        # Notes of the text's own: no bracket in it is left that could begin them.
        joined = _UNMARKED.sub(r"\\\g<0>", joined)
    marked = _OPENING.sub(_marked_opening, joined)
    return _BETWEEN_LINES.join(map(_marked_line, marked.split(_BETWEEN_LINES)))


def _visible(line: str) -> str:
    """The line without characters that a model reads and a person does not see."""
    if line.isascii() and line.isprintable():
        return line
    category = unicodedata.category
    shown = (it for it in line if it == "\t" or category(it) not in _CONTROLS)
    return _DRAWN_AS_NOTHING.sub("", "".join(shown))


def _marked_opening(opening: re.Match[str]) -> str:
    """Opening brackets, escaped if they could begin a tag or a word of a chat template."""
    brackets = opening[0]
    name = fold(opening["name"])
    if any(it in _LIKE_LESS for it in brackets):
        is_tag = _LETTER.match(name) or _ROLE.match(name)
    else:
        is_tag = _TEMPLATE_WORD.match(name) and any(it in _SQUARE for it in brackets)
    return f"\\{brackets}" if is_tag else brackets


def _marked_line(line: str) -> str:
    """A line with a backslash before what could pass for structure."""
    return f"\\{line}" if _STRUCTURE.match(fold(line)) else line


def _notes_pattern() -> re.Pattern[str]:
    """What only the notes of an item say: an origin in brackets or among others, a confidence."""
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
    """A pattern of the phrases, whatever joins their words; `{}` in one is anything."""
    anything = r"[^,;、]{1,80}?"
    words = (re.findall(r"\{\}|\w+", fold(phrase)) for phrase in phrases)
    return "|".join(
        r"[\W_]{0,9}".join(anything if word == "{}" else word for word in phrase)
        for phrase in words
    )


_NOTES: Final = _notes_pattern()
