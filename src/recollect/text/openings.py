"""What people say before they begin, and which says nothing itself: "oh", "by the way", 对了.

Who reads a sentence passes over them, whatever else may stand before it there: a courtesy before an
order, a yes before a decision, a "sorry" before a correction.
"""

from __future__ import annotations

from typing import Final

from recollect.text.signal_patterns import lines

ENGLISH: Final = lines(
    """
    oh|ah|aha|uh|um+|hm+|ugh|well|ok|okay|hey|hi|hello
    btw|by the way|fyi|just so you know|for the record
    """
)
CHINESE: Final = lines(
    """
    [哦噢喔啊嗯呃唉诶]+|哎呀?|对了?|好的?|行|那个
    顺便(?:说|提)(?:一?下|一句)?
    """
)
