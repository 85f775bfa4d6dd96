"""The mood of a sentence: whether it tells, asks, orders or only supposes something.

Mood is decided by form (punctuation, word order, interrogative words, verbs without a subject), in
Chinese and English; the words are in `data/*/moods.toml`. A sentence comes here in lower case and
in simplified Chinese, see `plain`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, Literal

from recollect.domain.context import Tongue
from recollect.language.characters import HAN, fold
from recollect.language.lexicon import Lexicon, Signs, lexicon

Mood = Literal["declarative", "interrogative", "imperative", "hypothetical"]

_HAN: Final = re.compile(f"[{HAN}]")
_WORD: Final = re.compile(r"[a-z0-9]+(?:['\u2019-][a-z0-9]+)*")
_EDGE: Final = " \t\n,.;:!~\u3002\uff0c\uff1b\uff1a\uff01\u2026\"'\u201c\u201d()\uff08\uff09"
_ASKS: Final = re.compile(r"[?？]['\"”’」』)）~\s]*$")
_A_NOT_A: Final = re.compile(rf"([{HAN}])[不没]\1")
_CHINESE_END: Final = re.compile(rf"([{HAN}])[^{HAN}\w]*$")
# Between a question word and its verb: "how many days does", "what kind of tea do".
_MAX_WORDS_BETWEEN: Final = 5
_MAX_PHRASE_WORDS: Final = 6


def plain(sentence: str) -> str:
    """Return the sentence in the form in which its mood is read."""
    return fold(sentence).lower().replace("\u2019", "'")


def mood(sentence: str) -> Mood:
    """Return the mood of a plain sentence."""
    return _mood(sentence)


@lru_cache(maxsize=1 << 10)
def _mood(sentence: str) -> Mood:
    if _HAN.search(sentence):
        return _chinese().mood(sentence)
    return _english().mood(sentence)


class _English:
    def __init__(self, words: Lexicon) -> None:
        self._openings = _phrases(words, "openings", "opening_phrases")
        self._interrogatives = words.words("interrogatives")
        self._auxiliaries = words.words("auxiliaries")
        self._subjects = words.words("subjects")
        self._objects = words.words("objects")
        self._verbs = words.words("verbs")
        self._ambiguous = words.words("ambiguous_verbs")
        self._always = words.words("always")
        self._ordering = _phrases(words, "prohibitions", "invitations")
        self._polite = _phrases(words, "polite")
        self._wondering = _phrases(words, "wondering")
        self._conditions = _phrases(words, "conditions")
        self._not_conditions = words.words("not_conditions")
        self._supposed = _phrases(words, "suppositions", "supposed_phrases")
        self._not_supposed = _phrases(words, "not_supposed")
        self._listeners = words.words("listener")

    def mood(self, sentence: str) -> Mood:
        words = _WORD.findall(sentence)
        words = words[self._skipped(words) :]
        is_polite = self._starts(words, self._polite)
        if is_polite or self._orders(words):
            return "interrogative" if self._hands_on(words) else "imperative"
        if _ASKS.search(sentence) or self._asks(words) or self._hands_on(words):
            return "interrogative"
        if self._supposes(words):
            return "hypothetical"
        return "declarative"

    def _skipped(self, words: Sequence[str]) -> int:
        """Count the words before the sentence proper."""
        at = 0
        while at < len(words) - 1 and (length := self._starts(words, self._openings, at)):
            at += length
        return min(at, max(0, len(words) - 1))

    def _asks(self, words: Sequence[str]) -> bool:
        """Return whether the word order asks: "how far is it", "is there", "who wrote this"."""
        if not words:
            return False
        first, rest = words[0], words[1 : _MAX_WORDS_BETWEEN + 1]
        if first in self._auxiliaries:
            return bool(rest) and rest[0] in self._subjects and first != "may"
        if first not in self._interrogatives or not rest:
            return False
        if first in {"when", "which"} and rest[0] not in self._auxiliaries:
            return first == "which" and self._inverts(rest)
        if first == "which":
            return False
        if "'s" in first or first == "whats":
            return True
        if rest[0] in self._subjects:
            return False
        # "Who wrote this": the question word is the subject, and no other one follows.
        return self._inverts(rest) or rest[0] in self._auxiliaries or first in {"who", "how"}

    def _inverts(self, words: Sequence[str]) -> bool:
        """Return whether an auxiliary stands before its subject."""
        return any(
            one in self._auxiliaries and other in self._subjects for one, other in pairwise(words)
        )

    def _orders(self, words: Sequence[str]) -> bool:
        """Return whether the sentence begins with a verb that has no subject."""
        if not words:
            return False
        if length := self._starts(words, self._ordering):
            return len(words) > length
        at = 1 if words[0] in self._always and len(words) > 1 else 0
        verb, after = words[at], words[at + 1 : at + 2]
        if verb in self._verbs:
            return not (after and after[0] in self._auxiliaries)
        return verb in self._ambiguous and bool(after) and after[0] in self._objects

    def _hands_on(self, words: Sequence[str]) -> bool:
        """Return whether the sentence contains a question: "I wonder if …", "remind me what …"."""
        for at in range(len(words)):
            length = self._starts(words, self._wondering, at)
            behind = words[at + length : at + length + 3] if length else ()
            if any(word in self._interrogatives or word in {"if", "whether"} for word in behind):
                return True
        return False

    def _supposes(self, words: Sequence[str]) -> bool:
        for at in range(len(words)):
            before = words[at - 1] if at else ""
            if self._starts(words, self._not_supposed, at):
                continue
            if self._starts(words, self._supposed, at):
                return True
            length = self._starts(words, self._conditions, at)
            behind = words[at + length : at + length + 1]
            is_listeners = at > 0 and bool(behind) and behind[0] in self._listeners
            if length and not is_listeners and before not in self._not_conditions:
                return True
        return False

    @staticmethod
    def _starts(words: Sequence[str], phrases: frozenset[tuple[str, ...]], at: int = 0) -> int:
        """Return the length in words of the longest phrase that begins here; 0 if none does."""
        for length in range(min(_MAX_PHRASE_WORDS, len(words) - at), 0, -1):
            if tuple(words[at : at + length]) in phrases:
                return length
        return 0


class _Chinese:
    def __init__(self, words: Lexicon) -> None:
        def alternatives(name: str) -> str:
            return "|".join(sorted(words.words(name), key=len, reverse=True))

        self._opening = re.compile(rf"(?:(?:{alternatives('openings')})[，,!！、 ]*)+")
        self._particle = re.compile(rf"(?:{alternatives('final_particles')})$")
        self._soft = tuple(words.words("soft_particle"))
        self._softened = re.compile(alternatives("softened"))
        self._interrogative = re.compile(
            "".join(f"(?<!{word})" for word in words.words("indefinite_before"))
            + rf"(?:{alternatives('interrogatives')})(?!{alternatives('indefinite_after')})"
        )
        self._wondering = re.compile(
            rf"(?:{alternatives('wondering')}).{{0,8}}(?:{alternatives('interrogatives')})"
        )
        self._request = re.compile(alternatives("requests"))
        self._verb = re.compile(
            rf"(?:(?:{alternatives('verbs')})(?!{alternatives('done')})"
            rf"|(?:{alternatives('ambiguous_verbs')})(?:{alternatives('objects')}))"
        )
        self._polite = re.compile(
            rf"(?:{alternatives('polite')})[你您]?.{{0,6}}(?:{alternatives('ordering_within')})"
        )
        self._supposed = re.compile(
            rf"(?:{alternatives('conditions')}|{alternatives('suppositions')})"
        )
        self._not_supposed = re.compile(
            f"{alternatives('not_supposed')}|{alternatives('listener')}"
        )

    def mood(self, sentence: str) -> Mood:
        bare = sentence.strip(_EDGE)
        opening = self._opening.match(bare)
        rest = bare[opening.end() :] if opening else bare
        if self._polite.match(rest) or self._request.match(rest) or self._request.match(bare):
            return "interrogative" if self._interrogative.search(rest) else "imperative"
        if _ASKS.search(sentence) or self._asks(bare):
            return "interrogative"
        if self._verb.match(rest) and len(rest) > 1:
            return "imperative"
        if self._supposed.search(self._not_supposed.sub("", bare)):
            return "hypothetical"
        return "declarative"

    def _asks(self, bare: str) -> bool:
        words = bare.rstrip("?？ ")
        if words.endswith(self._soft):
            return self._softened.search(words) is None
        if self._particle.search(words) and len(words) > 1:
            return True
        has_words = self._interrogative.search(words) or self._wondering.search(words)
        return has_words is not None or _A_NOT_A.search(words) is not None


def _phrases(words: Lexicon, *names: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(phrase.split()) for name in names for phrase in words.words(name))


@cache
def _english() -> _English:
    return _English(lexicon("en", "moods"))


@cache
def _chinese() -> _Chinese:
    return _Chinese(lexicon("zh", "moods"))


# --- How a sentence is meant: told or asked, supposed or ordered, to be remembered or not ---------
# A sentence comes here in lower case, in simplified Chinese, and without what it quotes.

Stance = Literal["told", "asked", "supposed", "reported", "joked", "ordered"]

_UNIFIED_HAN: Final = re.compile("[\u4e00-\u9fff]")
_LATIN: Final = re.compile("[a-z]{2}")
_MAX_ANSWER_CHARACTERS: Final = 80


def stance(sentence: str) -> Stance:
    """Return how a sentence is meant; only what is told can be a fact about the speaker.

    The first that holds decides: what others say is not told even where it is also supposed.
    """
    if _shows(sentence, "joked"):
        return "joked"
    form = mood(sentence)
    is_wished = is_wish(sentence) and not asks(sentence)
    if form == "interrogative" and not is_wished:
        return "asked"
    if _takes_for_known(sentence, form):
        return "ordered"
    if _shows(sentence, "reported"):
        return "reported"
    if form == "hypothetical":
        return "supposed"
    if _shows(sentence, "ordered") and not is_wished:
        return "ordered"
    return "told"


def _takes_for_known(sentence: str, form: Mood) -> bool:
    """Return whether it asks to do something in a way that memory should know.

    A preference that is taken for known is not told: 按我喜欢的格式出报表 wants to be read for. In
    English such an order begins with its verb, in Chinese with the way.
    """
    if asks_to_remember(sentence):
        return False
    if _HAN.search(sentence):
        return _signs("zh", "known_way").find(sentence) is not None
    return form == "imperative" and _signs("en", "known_way").find(sentence) is not None


def is_wish(sentence: str) -> bool:
    """Return whether it says explicitly that something holds from now on or must be remembered."""
    return _shows(sentence, "wish")


def is_standing(sentence: str) -> bool:
    """Return whether it orders something that holds from now on."""
    return _shows(sentence, "standing")


def asks_to_remember(sentence: str) -> bool:
    """Return whether it asks explicitly to remember something."""
    return _shows(sentence, "remember")


def asks(sentence: str) -> bool:
    """Return whether it wants an answer; "could you always …?" is a wish put as a question."""
    return mood(sentence) == "interrogative" and not _shows(sentence, "polite")


def is_withheld(sentence: str) -> bool:
    """Return whether it asks to forget something, or not to remember it."""
    return _shows(sentence, "withheld")


def points_back(sentence: str) -> bool:
    """Return whether it refers to something that memory may hold: "as usual", 上次."""
    return _shows(sentence, "back")


def takes_back(sentence: str) -> bool:
    """Return whether it declares the previous sentence a joke."""
    return _shows(sentence, "taken_back")


def announces_material(sentence: str) -> bool:
    """Return whether it introduces text to work on, rather than something the author says."""
    return sentence.endswith((":", "：")) and (
        _shows(sentence, "material") or stance(sentence) == "ordered"
    )


def confirms(sentence: str) -> bool:
    """Return whether it is a short yes to a proposal."""
    return len(sentence) <= _MAX_ANSWER_CHARACTERS and _is(sentence, "yes")


def acknowledges(sentence: str) -> bool:
    """Return whether it only acknowledges: "Nice, got it", 好的，明白了."""
    return len(sentence) <= _MAX_ANSWER_CHARACTERS and _is(sentence, "acknowledges")


def keeps_what_was_said(sentence: str) -> bool:
    """Return whether it asks to remember the previous sentence: "remember this", 记住这个."""
    return len(sentence) <= _MAX_ANSWER_CHARACTERS and _is(sentence, "remember_this")


def _shows(sentence: str, name: str) -> bool:
    """Return whether it has one of the signs, in the languages it is written in."""
    if not sentence.isascii() and _UNIFIED_HAN.search(sentence):
        if _signs("zh", name).find(sentence):
            return True
        if not _LATIN.search(sentence):
            return False
    return _signs("en", name).find(sentence) is not None


@cache
def _signs(language: Tongue, name: str) -> Signs:
    return lexicon(language, "signals").signs(name)


def _is(sentence: str, name: str) -> bool:
    """Return whether the whole sentence matches the pattern of that name."""
    words = lexicon("zh" if _UNIFIED_HAN.search(sentence) else "en", "signals")
    return words.regex(name).fullmatch(sentence) is not None
