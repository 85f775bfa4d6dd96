"""A reader without a model: what tells something of its speaker, or gives a number or a name.

It takes the place of the local reader where that is not installed or not wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recollect.language.claims import moods
from recollect.language.extraction.acts import says_something, wants_reply
from recollect.language.extraction.forgetting import tells_value
from recollect.language.extraction.parts import says_who
from recollect.language.extraction.utterances import preface, readable
from recollect.ports.reader import Reading

_OPENS: Final = (":", "：")
_GOES_ON: Final = (",", ";", "，", "；", "、")


class PlainReader:
    """Reads by the form of words alone. Implements `PartReader`."""

    async def read(self, parts: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        """Return a reading for each pair of the words before a part and its own words."""
        found: list[Reading] = []
        for before, text in parts:
            plain = readable(text).strip()
            plain = plain[preface(plain).length :]
            stance = moods.stance(plain)
            # "I like tea, coffee and cocoa": the rest of a sentence goes with its beginning.
            goes_on = before.endswith(_GOES_ON) and bool(found) and found[-1].score > 0
            is_own = moods.begins_with_speaker(plain) or says_who(plain)
            tells = says_something(plain) and (is_own or tells_value(text))
            is_announcement = plain.endswith(_OPENS)  # "My landlord says:"
            is_kept = stance == "told" and (tells or goes_on) and not is_announcement
            odds = 1.0 if is_kept else -1.0
            found.append(Reading(score=odds, worth=odds, lasts="days", stance=stance))
        return found

    async def needs(self, messages: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return, for each pair of what the assistant said and a message, whether it needs memory.

        Recall is cheap, so every question and every request gets one.
        """
        return [1.0 if wants_reply(text) else -1.0 for _, text in messages]
