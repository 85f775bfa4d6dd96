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

from recollect.language.folding import fold
from recollect.language.lexicon import Lexicon, lexicon
from recollect.language.scripts import HAN

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
