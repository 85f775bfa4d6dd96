"""Persons in statements: "I" retold as a name, the names of a user, and topics about people.

Names are known from the id of the scope, from what the user says ("my name is …", 我叫…), or are
set; `recall.user_names` keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from recollect.domain.context import Tongue
from recollect.domain.write import Topic
from recollect.language.characters import HAN
from recollect.language.claims.moods import plain
from recollect.language.lexicon import bilingual, lexicon

# --- Statements in the first person, retold in the third ------------------------------------------

# "Rui's my partner": before another possessive it cannot be a possessive itself.
_SHORT_IS: Final = re.compile(r"(?<=\w)'s(?= (?:my|mine)\b)", re.IGNORECASE)
# What an assistant tells its user, as the user would say it: only forms that have one meaning.
_TO_FIRST_PERSON: Final = (
    (re.compile(r"\byour\b", re.IGNORECASE), "my"),
    (re.compile(r"\byou(?='(?:ve|ll|d)\b)", re.IGNORECASE), "I"),
    (re.compile(r"\byou(?:'re| are)\b", re.IGNORECASE), "I'm"),
    (re.compile(r"^you were\b", re.IGNORECASE), "I was"),
    (re.compile(r"^you\b", re.IGNORECASE), "I"),
    (re.compile("[您你](?!们)"), "我"),
)
_OTHER_PERSONS: Final = re.compile(r"\b(?:you|yours|yourself)\b|你", re.IGNORECASE)


def named(text: str, language: Tongue, name: str) -> str:
    """Replace the first "I" (我) by the name and later ones by "they" (自己); the verb agrees."""
    if language == "en":
        text = _SHORT_IS.sub(" is", text.replace("’", "'"))
    found = _first_person(language)
    count = iter(range(len(text)))
    return found.sub(lambda it: _named(it, language, name, is_again=next(count) > 0), text)


def addressed(text: str, language: Tongue, name: str) -> str:
    """Replace "you" by the name, as `named` does with "I"; if in doubt, nothing."""
    plain = text.replace("’", "'")
    if _first_person(language).search(plain):
        return text
    for pattern, word in _TO_FIRST_PERSON:
        plain = pattern.sub(word, plain)
    return text if _OTHER_PERSONS.search(plain) else named(plain, language, name)


def _named(match: re.Match[str], language: Tongue, name: str, *, is_again: bool) -> str:
    words = lexicon(language, "first_person")
    if language == "zh":
        owned = "的" if words.regex("relatives").match(match.string, match.end()) else ""
        return ("自己" if is_again else name) + owned
    who, own = ("they", "their") if is_again else (name, f"{name}'s")
    if match["my"]:
        return own
    if match["me"]:
        return "them" if is_again else name
    if match["mine"]:
        return "theirs" if is_again else own
    if match["myself"]:
        return "themselves"
    if match["short"]:
        return f"{who} {words.table('short_forms')[match['short'].lower()][is_again]}"
    return f"{who} {match['adverbs']}{_agreeing(match['verb'], is_again)}" if match["verb"] else who


def _agreeing(verb: str, plural: bool) -> str:
    """Return the verb form that follows a name, or "they"."""
    words, low = lexicon("en", "first_person"), verb.lower()
    if low in words.table("verbs"):
        return words.table("verbs")[low][plural]
    is_past = low.endswith("ed") and not low.endswith("eed")
    if plural or is_past or low in words.words("unchanged_verbs") or low.endswith("'t"):
        return verb
    if low.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    if low.endswith("y") and low[-2:-1] not in set("aeiou"):
        return verb[:-1] + "ies"
    return verb + "s"


@cache
def _first_person(language: Tongue) -> re.Pattern[str]:
    pattern = lexicon(language, "first_person").pattern("first_person")
    return re.compile(rf"\b{pattern}\b" if language == "en" else pattern, re.IGNORECASE)


# --- The names of a user --------------------------------------------------------------------------

_HAN: Final = re.compile(f"[{HAN}]")
_NAME: Final = r"[^\W\d_a-z][^\W\d_]*(?:[ -][^\W\d_a-z][^\W\d_]*){0,2}"
_INTRODUCED: Final = re.compile(
    r"\b(?:[Mm]y|[Uu]ser['\u2019]s) (?:(?:first|full|last|real) )?name(?:['\u2019]s| is| was)"
    rf" (?:now )?(?P<name>{_NAME})"
    rf"|\b(?:[Cc]all me|I['\u2019]m called|I am called|[Uu]ser is called) (?P<called>{_NAME})"
)
# Not "I told him to come", 我叫他来.
_CHINESE_NAME: Final = (
    rf"\s?(?![他她它你您我大人])(?P<name>[{HAN}]{{2,4}}?|[A-Za-z][A-Za-z' -]{{1,30}}?)"
)
_CHINESE_INTRODUCED: Final = re.compile(
    rf"(?:(?:我|用户)(?:的(?:全名|名字|姓名))?(?:叫做?|是叫)|(?:我|用户)的(?:全名|名字|姓名)是"
    rf"|(?:^|[，,。；;！! ])(?:可以|就|请|以后)?叫我){_CHINESE_NAME}"
    r"(?=$|[，,。；;！!~ ]|吧|就行|就好|了)"
)


def _spelled(name: str) -> re.Pattern[str]:
    """Return a pattern for a name that stands by itself, which Chinese writing does not show."""
    spelled = re.escape(name) + r"(?P<owned>['\u2019]s\b)?"
    edged = spelled if _HAN.search(name) else rf"(?<![\w-]){spelled}(?![\w-])"
    return re.compile(edged, re.IGNORECASE)


def is_named(text: str, names: Iterable[str]) -> bool:
    """Return whether a text has one of the names; a common word only where written as one."""
    found = (match[0][0] for name in names for match in _spelled(name).finditer(text))
    return any(first.isupper() or _HAN.match(first) for first in found)


_BEFORE_I: Final = re.compile(r"\b[\w']+(?= I\b)")


def with_user(text: str, names: Iterable[str]) -> str:
    """Return a statement with "User" (用户) where it says one of the names of the user."""
    return _renamed(text, names, chinese="用户", english="User", owned="User's")


def asked_by_user(text: str, names: Iterable[str]) -> str:
    """Return a question as the user would ask it: "where do I live?" for "where does Ann live?"."""
    asked = _renamed(text, names, chinese="我", english="I", owned="my")
    if asked == text:
        return text
    verbs = lexicon("en", "first_person").table("verbs")
    mine = {others[0]: verb for verb, others in verbs.items()}
    return _BEFORE_I.sub(lambda verb: mine.get(verb[0].lower(), verb[0]), asked)


def _renamed(text: str, names: Iterable[str], *, chinese: str, english: str, owned: str) -> str:
    is_chinese = _HAN.search(text) is not None
    for name in sorted(names, key=len, reverse=True):
        if is_named(text, [name]):
            text = _spelled(name).sub(
                lambda found: chinese if is_chinese else owned if found["owned"] else english, text
            )
    return text


def names_of_id(user: str | None) -> tuple[str, ...]:
    """Return the names in a user id: `ann`, `ann.lee`, `ann@example.org`, 王芳."""
    no_names = lexicon("en", "subjects").words("no_names")
    parts = re.split(r"[\W_]+", (user or "").partition("@")[0].strip())
    parts = [part for part in parts if part]
    if not parts or any(not part.isalpha() or part.lower() in no_names for part in parts):
        return ()
    if all(_HAN.search(part) for part in parts):
        return tuple(parts)
    if any(len(part) < 2 for part in parts):
        return ()
    full = " ".join(part.capitalize() for part in parts)
    return tuple(dict.fromkeys((full, parts[0].capitalize())))


def introduced_names(text: str) -> tuple[str, ...]:
    """Return the names by which users introduce themselves: "My name is Ann Lee", 我叫王芳."""
    found = [match["name"] or match["called"] for match in _INTRODUCED.finditer(text)]
    found += [match["name"].strip() for match in _CHINESE_INTRODUCED.finditer(text)]
    return tuple(dict.fromkeys(it for name in found for it in (name, name.split(" ")[0])))


# --- Topics of statements about people that stay true for long ------------------------------------

_ORDER: Final[tuple[Topic, ...]] = ("health", "identity", "relationship")


def lasting_topic(text: str) -> Topic | None:
    """Return the lasting topic of a statement about a person; None if there is none."""
    said = plain(text)
    return next((it for it in _ORDER if bilingual("lasting_topics", it).search(said)), None)
