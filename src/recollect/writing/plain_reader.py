"""A reader without a model: a short list of plain statements, and the form of what is asked.

It takes the place of the local reader where that is not installed or not wanted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from recollect.language.claims import moods
from recollect.language.extraction.acts import wants_reply
from recollect.language.extraction.plain_statements import stated_category
from recollect.ports.reader import Reading, Stance

_STANCES: Final[Mapping[moods.Stance, Stance]] = {
    "told": "told",
    "asked": "asked",
    "ordered": "requested",
    "supposed": "supposed",
    "reported": "quoted",
    "joked": "chatter",
}
_GOES_ON: Final = (",", ";", "，", "；", "、")


class PlainReader:
    """Reads by the form of words alone. Implements `PartReader`."""

    async def read(self, parts: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        """Return a reading for each pair of the words before a part and its own words."""
        found: list[Reading] = []
        for before, text in parts:
            plain = moods.plain(text)
            stance = _STANCES[moods.stance(plain)]
            category = stated_category(plain)
            # "I like tea, coffee and cocoa": the rest of a sentence goes with its beginning.
            goes_on = before.endswith(_GOES_ON) and bool(found) and found[-1].score > 0
            if category == "feedback" and stance == "requested":
                stance = "told"  # "stop adding emojis" is no task
            is_kept = category is not None or (goes_on and stance == "told")
            odds = 1.0 if is_kept else -1.0
            is_wish = moods.is_wish(plain) and not moods.asks(plain)
            wish = "standing" if is_wish and stance == "requested" else "none"
            found.append(Reading(score=odds, worth=odds, lasts="days", stance=stance, wish=wish))
        return found

    async def needs(self, messages: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return, for each pair of what the assistant said and a message, whether it needs memory.

        Recall is cheap, so every question and every request gets one.
        """
        return [1.0 if wants_reply(text) else -1.0 for _, text in messages]
