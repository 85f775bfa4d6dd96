"""A reader without a model: a short list of plain statements, and the form of what is asked.

It takes the place of the local reader where that is not installed or not wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recollect.language.claims import moods
from recollect.language.extraction.acts import wants_reply
from recollect.language.extraction.plain_statements import stated_category
from recollect.language.extraction.utterances import preface, readable
from recollect.ports.reader import Reading

# What asks for something and is kept all the same: "stop adding emojis" is no task.
_ASKED_FOR: Final = frozenset({"feedback", "follow-up", "decision"})
_OPENS: Final = (":", "：")
_GOES_ON: Final = (",", ";", "，", "；", "、")


class PlainReader:
    """Reads by the form of words alone. Implements `PartReader`."""

    async def read(self, parts: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        """Return a reading for each pair of the words before a part and its own words."""
        found: list[Reading] = []
        for before, text in parts:
            plain = readable(text).strip()
            plain = plain[preface(plain).length :] or plain
            stance, category = moods.stance(plain), stated_category(plain)
            # "I like tea, coffee and cocoa": the rest of a sentence goes with its beginning.
            goes_on = before.endswith(_GOES_ON) and bool(found) and found[-1].score > 0
            if category in _ASKED_FOR and stance == "requested":
                stance = "told"
            if plain.endswith(_OPENS):  # "My landlord says:"
                category = None
            odds = 1.0 if category or (goes_on and stance == "told") else -1.0
            found.append(Reading(score=odds, worth=odds, lasts="days", stance=stance))
        return found

    async def needs(self, messages: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return, for each pair of what the assistant said and a message, whether it needs memory.

        Recall is cheap, so every question and every request gets one.
        """
        return [1.0 if wants_reply(text) else -1.0 for _, text in messages]
