"""Saying what a user said about themselves so that it is understood on its own: "I" becomes "User".

Other words stay as they were said. What is an order is kept word for word behind a label.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from recollect.domain.context import Tongue
from recollect.text import openings
from recollect.text.signal_patterns import lines, word_set

Label = Literal["asks", "feedback", "todo", "decision", "agreed"]

LABELS: Final[Mapping[Tongue, Mapping[Label, str]]] = {
    "en": {
        "asks": "User asks: ",
        "feedback": "User's feedback: ",
        "todo": "To do: ",
        "decision": "Decision: ",
        "agreed": "User agreed: ",
    },
    "zh": {
        "asks": "用户要求：",
        "feedback": "用户反馈：",
        "todo": "待办：",
        "decision": "决定：",
        "agreed": "用户同意：",
    },
}

_ROLES: Final[Mapping[Tongue, Mapping[Literal["user", "assistant"], str]]] = {
    "en": {"user": "User", "assistant": "Assistant"},
    "zh": {"user": "用户", "assistant": "助手"},
}
_EDGE: Final = " \t\n,;:.!，。；：！、~"
_OPENING: Final = re.compile(
    "(?:"
    + lines(
        rf"""
        (?:{openings.ENGLISH}|so|and|but|yes|no|yeah)\b[,:;.! ]*
        (?:great|perfect|right|alright|actually|honestly|also)\b[,:;.! ]*
        (?:(?:please|can you|could you) ){{0,2}}remember\b(?: that\b)?[,: ]*
        (?:please )?(?:keep|bear) in mind\b(?: that\b)?[,: ]*
        (?:make a note|note|don't forget)\b(?: that\b)?[,: ]*
        (?:for (?:future|your) (?:reference|information)|todo)\b[,: ]*
        {openings.CHINESE}[，,：: ]+(?=.)
        (?:说实话|老实说|另外|还有)[，,：: ]*(?=.)
        (?:请(?![假客教])|麻烦|帮我|能不能|你|注意)[，,：: ]*(?=.)
        顺便说(?:一?下|一句)
        (?:记住|记得|记一下|记下|别忘了|待办)[，,：: ]*
        """
    )
    + ")+",
    re.IGNORECASE,
)
_CHINESE_ORDER_OPENING: Final = re.compile(
    rf"(?:(?:{openings.CHINESE}|说实话|另外)[，,：: ]+"
    "|(?:记住|记一下|待办)[，,：: ]*)+"
)


def self_contained(text: str, language: Tongue, name: str, *, is_theirs: bool) -> str:
    """A statement that names the speaker instead of "I"; is_theirs where it is about them."""
    words = text.strip(_EDGE)
    trimmed = words[_opening(words) :].strip(_EDGE) or words
    if language == "en":
        return _named(trimmed, name)
    named = _named_in_chinese(trimmed, name)
    return name + named if is_theirs and named == trimmed and "我们" not in named else named


def labelled(label: Label, text: str, language: Tongue) -> str:
    """An order or a decision in its own words, with what it is."""
    words = text.strip(_EDGE)
    if language == "zh" and (opening := _CHINESE_ORDER_OPENING.match(words)):
        words = words[opening.end() :].strip(_EDGE) or words
    given = LABELS[language][label]
    return words if words.lower().startswith(given.strip(_EDGE).lower()) else given + words


def speaker_name(speaker: str, role: str, language: Tongue) -> str:
    """Who "I" is: the speaker where the conversation names one, else their role."""
    return speaker or _ROLES[language]["assistant" if role == "assistant" else "user"]


def _opening(words: str) -> int:
    match = _OPENING.match(words)
    return match.end() if match else 0


# --- Chinese -------------------------------------------------------------------------------------

_I_CHINESE: Final = re.compile("我(?!们)|俺(?!们)|本人")
_RELATIVES: Final = re.compile(
    "(?:女儿|儿子|孩子|老婆|妻子|太太|老公|丈夫|爱人|妈|爸|父|母|妹|弟|姐|哥|爷|奶|外婆|外公|朋友|同事|老板|领导|上司"
    "|同学|男朋友|女朋友|室友|邻居|老师|医生|公司|团队|部门)"
)


def _named_in_chinese(text: str, name: str) -> str:
    pieces: list[str] = []
    last = 0
    for match in _I_CHINESE.finditer(text):
        pieces.append(text[last : match.start()])
        owned = "的" if _RELATIVES.match(text, match.end()) else ""
        pieces.append((name if last == 0 else "自己") + owned)
        last = match.end()
    return "".join((*pieces, text[last:]))


# --- English -------------------------------------------------------------------------------------

# Verbs that end as adverbs do: "I rely on Ann", "I always fly".
_VERBS_IN_LY: Final = "(?:fly|rely|apply|reply|supply|comply|multiply|imply|ally|bully|rally|tally)"
_ADVERB: Final = (
    rf"(?:(?!{_VERBS_IN_LY} )[a-z]+ly|also|just|still|always|never|often|quite|so|only|now|even"
    "|kind of|sort of|almost|rather|currently|much|both|no longer|sometimes|seldom|hardly ever|ever"
    "|already|once|soon|then|neither) "
)
_I_ENGLISH: Final = re.compile(
    r"\b(?:"
    r"i(?P<short>'m|'ve|'d|'ll)\b"
    rf"|i (?P<adverbs>(?:{_ADVERB}){{0,3}})(?P<verb>[a-z']+)"
    r"|(?P<i>i)|(?P<my>my)|(?P<me>me)|(?P<mine>mine)|(?P<myself>myself)"
    r")\b",
    re.IGNORECASE,
)
_SHORT: Final = {
    "'m": ("is", "are"),
    "'ve": ("has", "have"),
    "'d": ("would", "would"),
    "'ll": ("will", "will"),
}
_VERBS: Final = {
    "am": ("is", "are"),
    "was": ("was", "were"),
    "have": ("has", "have"),
    "haven't": ("hasn't", "haven't"),
    "do": ("does", "do"),
    "don't": ("doesn't", "don't"),
    "go": ("goes", "go"),
}
# Verbs that do not take an s: helpers, and pasts without -ed.
_AS_THEY_ARE: Final = word_set(
    """
    can can't cannot could couldn't will won't would wouldn't shall should shouldn't may might must
    did didn't had hadn't wasn't are were used and or who
    ate became began bought broke brought built came caught chose cut drank drew drove fell felt
    flew forgot found gave got grew heard held hit hurt kept knew led left lent let lost made
    meant met paid put quit ran read rode rose said sang sat saw sent set showed shut slept sold
    spent split spoke stood swam taught thought told took understood went woke won wore wrote
    """
)


def _named(text: str, name: str) -> str:
    """The text with its first "I" named and later ones as "they"."""
    text = text.replace("’", "'")
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
            return f"{who} {_SHORT[match['short'].lower()][again]}"
        if match["verb"]:
            return f"{who} {match['adverbs']}{_agreeing(match['verb'], again)}"
        return who

    return _I_ENGLISH.sub(replaced, text)


def _agreeing(verb: str, plural: bool) -> str:
    """The verb as it follows a name, or "they"."""
    low = verb.lower()
    if low in _VERBS:
        return _VERBS[low][plural]
    is_past = low.endswith("ed") and not low.endswith("eed")
    if plural or is_past or low in _AS_THEY_ARE or low.endswith("'t"):
        return verb
    if low.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    if low.endswith("y") and low[-2:-1] not in set("aeiou"):
        return verb[:-1] + "ies"
    return verb + "s"
