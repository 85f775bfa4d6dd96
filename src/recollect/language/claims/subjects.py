"""The subject of a statement.

In the scope of a user "Ann …", "User …", "I …" and 我 are one subject, if Ann is one of the user's
names; "My sister …" is somebody else. Names are known from the id of the scope, from what the user
says ("my name is …", 我叫…), or are set; `recall.user_names` keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from recollect.domain.write import Topic
from recollect.language.characters import HAN, fold
from recollect.language.claims.moods import plain
from recollect.language.lexicon import LANGUAGES, bilingual, lexicon

# --------------------------------------------------------------------------------------------------
# Statements in the first person, retold in the third: "I" becomes a name and the verb agrees.

# --- Chinese -------------------------------------------------------------------------------------


def named_in_chinese(text: str, name: str) -> str:
    """Replace the first 我 by the name and later ones by 自己."""
    words = lexicon("zh", "first_person")
    pieces: list[str] = []
    last = 0
    for match in words.regex("first_person").finditer(text):
        pieces.append(text[last : match.start()])
        owned = "的" if words.regex("relatives").match(text, match.end()) else ""
        pieces.append((name if last == 0 else "自己") + owned)
        last = match.end()
    return "".join((*pieces, text[last:]))


# --- English -------------------------------------------------------------------------------------

# "Rui's my partner": before another possessive it cannot be a possessive itself.
_SHORT_IS: Final = re.compile(r"(?<=\w)'s(?= (?:my|mine)\b)", re.IGNORECASE)


def named_in_english(text: str, name: str) -> str:
    """Replace the first "I" by the name and later ones by "they"."""
    text = _SHORT_IS.sub(" is", text.replace("’", "'"))
    short_forms = lexicon("en", "first_person").table("short_forms")
    known = False

    def replaced(match: re.Match[str]) -> str:
        nonlocal known
        again, known = known, True
        who = "they" if again else name
        if match["my"]:
            return "their" if again else f"{name}'s"
        if match["me"]:
            return "them" if again else name
        if match["mine"]:
            return "theirs" if again else f"{name}'s"
        if match["myself"]:
            return "themselves"
        if match["short"]:
            return f"{who} {short_forms[match['short'].lower()][again]}"
        if match["verb"]:
            return f"{who} {match['adverbs']}{_agreeing(match['verb'], again)}"
        return who

    return _english_first_person().sub(replaced, text)


# What an assistant tells its user, as the user would say it: only forms that have one meaning.
_TO_FIRST_PERSON: Final = (
    (re.compile(r"\byour\b", re.IGNORECASE), "my"),
    (re.compile(r"\byou(?='(?:ve|ll|d)\b)", re.IGNORECASE), "I"),
    (re.compile(r"\byou(?:'re| are)\b", re.IGNORECASE), "I'm"),
    (re.compile(r"^you were\b", re.IGNORECASE), "I was"),
    (re.compile(r"^you\b", re.IGNORECASE), "I"),
)
_OTHER_PERSONS: Final = re.compile(r"\b(?:you|yours|yourself)\b", re.IGNORECASE)


def addressed_in_english(text: str, name: str) -> str:
    """Replace "you" by the name, as `named_in_english` does with "I"; if in doubt, nothing."""
    plain = text.replace("’", "'")
    if _english_first_person().search(plain):
        return text
    for pattern, word in _TO_FIRST_PERSON:
        plain = pattern.sub(word, plain)
    return text if _OTHER_PERSONS.search(plain) else named_in_english(plain, name)


def addressed_in_chinese(text: str, name: str) -> str:
    """Replace 你 by the name, as `named_in_chinese` does with 我; if in doubt, nothing."""
    if "我" in text or "你们" in text:
        return text
    return named_in_chinese(text.replace("您", "我").replace("你", "我"), name)


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
def _english_first_person() -> re.Pattern[str]:
    pattern = lexicon("en", "first_person").pattern("first_person")
    return re.compile(rf"\b{pattern}\b", re.IGNORECASE)


# --- The subject of a statement -------------------------------------------------------------------

USER: Final = "user"
_IN_ENGLISH: Final = "User"
_IN_CHINESE: Final = "用户"

_HAN: Final = re.compile(f"[{HAN}]")
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_CHINESE_STOP: Final = re.compile(r"[，,。；;！!？?\s]")
_MAX_WORDS: Final = 4
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The person or thing a statement is about: somebody, or something `of` theirs.

    `who` is `USER`, another's name in lower case, or empty where the form does not tell. `of` is a
    word such as "sister" (the same in every language) or "blood type".
    """

    who: str = ""
    of: str = ""

    @property
    def is_user(self) -> bool:
        """Whether it is the user in person, not something of theirs."""
        return self.who == USER and not self.of


class Names:
    """The names of a user."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.all = frozenset(filter(None, (_key(name) for name in names)))
        latin = [name for name in self.all if not _HAN.search(name)]
        chinese = [name for name in self.all if _HAN.search(name)]
        self._latin = _any_of(latin, r"(?<![\w-])(?:{})(?![\w-])")
        self._chinese = _any_of(chinese, "(?:{})")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Names) and self.all == other.all

    def __hash__(self) -> int:
        return hash(self.all)

    def replaced(self, text: str) -> str:
        """Return the text with the user's names replaced by "User" or 用户."""
        name = _IN_CHINESE if _HAN.search(text) else _IN_ENGLISH
        for pattern in (self._chinese, self._latin):
            if pattern is not None:
                # A common word ("rose") is a name only where it is written as one.
                text = pattern.sub(
                    lambda match: name if _is_written_as_name(match[0]) else match[0], text
                )
        return text


def names_of_id(user: str | None) -> tuple[str, ...]:
    """Return the names in a user id: `ann`, `ann.lee`, `ann@example.org`, 王芳."""
    words = _words()
    parts = re.split(r"[\W_]+", (user or "").partition("@")[0].strip())
    parts = [part for part in parts if part]
    if not parts or any(not part.isalpha() or part.lower() in words.no_names for part in parts):
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
    names: list[str] = []
    for name in found:
        names.append(name)
        if " " in name:
            names.append(name.split(" ")[0])
    return tuple(dict.fromkeys(names))


def normalised(text: str, names: Names) -> str:
    """Return the text with the user called "User" or 用户, whoever speaks."""
    text = names.replaced(text)
    if _HAN.search(text):
        return named_in_chinese(text, _IN_CHINESE)
    return named_in_english(re.sub(r"^[Tt]he user\b", _IN_ENGLISH, text), _IN_ENGLISH)


def subject_of(text: str, names: Names) -> Subject:
    """Return the subject of a statement, as far as its beginning shows it."""
    plain = normalised(text, names).strip()
    return _chinese_subject(plain) if _HAN.search(plain) else _english_subject(plain)


# --- English -------------------------------------------------------------------------------------


def _english_subject(text: str) -> Subject:
    words = _words()
    found = [match[0].replace("\u2019", "'") for match in _WORD.finditer(text)]
    if not found:
        return Subject()
    first, rest = found[0], [word.lower() for word in found[1:]]
    owner, has_of = first.removesuffix("'s"), first.endswith("'s")
    if has_of and rest and rest[0] in words.verbs | {"a", "an", "the", "not", "now"}:
        has_of = False  # "Ann's a translator"
    if owner.lower() == USER:
        return Subject(who=USER, of=_thing(rest) if has_of else "")
    if not owner[0].isupper() or owner.lower() in words.common:
        return Subject()
    return Subject(who=owner.lower(), of=_thing(rest) if has_of else "")


def _thing(words: list[str]) -> str:
    """Return the possession: a relative by one common word, anything else by its own words."""
    known = _words()
    thing: list[str] = []
    for word in words[:_MAX_WORDS]:
        if relative := known.kin.get(word.removesuffix("'s")):
            return relative
        if word in known.verbs:
            break
        thing.append(word.removesuffix("'s"))
        if word.endswith("'s"):
            break
    return " ".join(thing)


# --- Chinese -------------------------------------------------------------------------------------


def _chinese_subject(text: str) -> Subject:
    if not text.startswith(_IN_CHINESE):
        return Subject()
    words, rest = _words(), text[len(_IN_CHINESE) :]
    is_owned = rest.startswith("的")
    rest = rest[1:] if is_owned else rest
    relative = next(
        (relative_word for relative_word in words.chinese_kin if rest.startswith(relative_word)),
        None,
    )
    if relative is not None:
        return Subject(who=USER, of=words.kin[relative])
    if not is_owned:
        return Subject(who=USER)
    thing = _CHINESE_STOP.split(rest)[0]
    ends = [at for verb in words.chinese_verbs if (at := thing.find(verb)) > 0]
    return Subject(who=USER, of=thing[: min(ends, default=len(thing))])


# --- Words ---------------------------------------------------------------------------------------


class _Words(NamedTuple):
    common: frozenset[str]
    verbs: frozenset[str]
    chinese_verbs: tuple[str, ...]
    no_names: frozenset[str]
    kin: dict[str, str]
    chinese_kin: tuple[str, ...]


@cache
def _words() -> _Words:
    english, chinese = lexicon("en", "subjects"), lexicon("zh", "subjects")
    kin = {
        word: name
        for language in LANGUAGES
        for name, words in lexicon(language, "subjects").table("kin").items()
        for word in words.split()
    }
    return _Words(
        common=english.words("common"),
        verbs=english.words("verbs"),
        chinese_verbs=tuple(chinese.words("verbs")),
        no_names=english.words("no_names"),
        kin=kin,
        chinese_kin=tuple(
            sorted((word for word in kin if _HAN.search(word)), key=len, reverse=True)
        ),
    )


def names_relative(text: str) -> bool:
    """Return whether a text mentions a relative, a friend or the like."""
    words = _words()
    low = fold(text).lower()
    return any(relative_word in low for relative_word in words.chinese_kin) or any(
        match[0].removesuffix("'s") in words.kin for match in _WORD.finditer(low)
    )


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()


def _is_written_as_name(text: str) -> bool:
    return text[0].isupper() or bool(_HAN.search(text))


def _any_of(names: list[str], form: str) -> re.Pattern[str] | None:
    if not names:
        return None
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    return re.compile(form.format("|".join(longest_first)), re.IGNORECASE)


# --- Topics of statements about people: what stays true for long, and what somebody likes ---------

_ORDER: Final[tuple[Topic, ...]] = ("health", "identity", "relationship")


def lasting_topic(text: str) -> Topic | None:
    """Return the lasting topic of a statement about a person; None if there is none."""
    said = plain(text)
    for topic in _ORDER:
        if _patterns()[topic].search(said):
            return topic
    return "relationship" if names_relative(said) else None


def tells_taste(text: str) -> bool:
    """Return whether a person or the user is said to like or dislike something.

    "Ann prefers aisle seats", 安妮喜欢靠窗的座位.
    """
    return bilingual("taste", "taste").match(text) is not None


@cache
def _patterns() -> dict[Topic, re.Pattern[str]]:
    english, chinese = lexicon("en", "lasting_topics"), lexicon("zh", "lasting_topics")
    return {
        topic: re.compile(
            rf"(?<![\w'])(?:{english.pattern(topic)})(?![\w'])|{chinese.pattern(topic)}"
        )
        for topic in _ORDER
    }
