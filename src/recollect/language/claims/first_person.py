"""Statements in the first person, retold in the third: "I" becomes a name and the verb agrees."""

from __future__ import annotations

import re
from functools import cache

from recollect.language.lexicon import lexicon

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


def named_in_english(text: str, name: str) -> str:
    """Replace the first "I" by the name and later ones by "they"."""
    text = text.replace("’", "'")
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
