"""What people say before they come to it: "Oops, sorry,", 不对，.

It is no part of what they tell, but it may tell that something said before was wrong.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from recollect.text import openings
from recollect.text.signal_patterns import compiled, lines
from recollect.text.signals_english import EXPERT

_ENGLISH_PAUSE: Final = r"(?:\s?[,:;.!\u2013\u2014-]+(?:\s+|$)|$)"
_CHINESE_PAUSE: Final = r"(?:\s?[，,：:；;。！!…]+\s*|$)"
_ENGLISH_CORRECTING: Final = (
    lines(
        r"""
        no(?: no| wait)?|nope|not quite|sorry|apologies|oops|whoops
        my (?:mistake|bad|apologies|fault)|actually|in fact|correction
        wait(?: a (?:second|sec|minute|moment))?|hold on
        i (?:was (?:wrong|mistaken)|made a mistake|misspoke|mistyped|stand corrected)
        i got (?:it|that|this) wrong
        (?:let me|to|i(?: need| have| want|'d like| would like) to) correct (?:myself|that|this|it)
        """
    )
    + _ENGLISH_PAUSE
    + r"|(?:actually|in fact|(?:it )?turns out(?: that)?)\s+"
)
_ENGLISH_MERE: Final = (
    lines(
        rf"""
        {openings.ENGLISH}
        (?:just |a |quick |small ){{0,2}}update|just to (?:update you|let you know|be clear)
        """
    )
    + _ENGLISH_PAUSE
    + r"|please note that\s+|(?:oh|ah|uh|um)\s+(?=(?:sorry|no|wait|actually|my (?:mistake|bad))\b)"
)
_CHINESE_CORRECTING: Final = (
    lines(
        """
        不对?|不是的?|错了|抱歉|对不起|不好意思|等等|等一?下|准确[地的]?说
        我?(?:刚才|刚刚|之前|上次)?我?[说记写弄搞讲打]错了
        我?(?:要|来|想|需要)?(?:更正|纠正|修正)(?:一下)?|我?(?:要|来|想|需要)?改一下
        """
    )
    + _CHINESE_PAUSE
    + f"|(?:其实|实际上)(?:{_CHINESE_PAUSE})?"
)
_CHINESE_MERE: Final = (
    lines(
        f"""
        {openings.CHINESE}
        更新一下|补充一下|(?:跟你说|告诉你)(?:一[下声])?
        """
    )
    + _CHINESE_PAUSE
)
# What an expert says of the one who tells it is a fact of theirs: "my doctor says I'm …".
_REPORTED: Final = (
    rf"(?:my|our|the) (?:[a-z]+ )?{EXPERT} (?:(?:just|has|also|now) )?"
    r"(?:says|said|tells me|told me|confirmed|confirms)(?: that)?,?\s+(?=(?:i|i'm|i've|my)\b)"
    r"|(?:我的?)?(?:家庭)?(?:医生|大夫|牙医|律师)(?:刚才?|今天|昨天|刚刚)?说[，,：: ]*(?=我)"
)
_PREFACE: Final = (
    rf"(?P<correcting>{_ENGLISH_CORRECTING}|{_CHINESE_CORRECTING})|{_ENGLISH_MERE}|{_CHINESE_MERE}"
    rf"|{_REPORTED}"
)


class Preface(NamedTuple):
    """How long it is, and whether it takes something back."""

    length: int
    corrects: bool


def preface(plain: str) -> Preface:
    """What stands before what a sentence tells; all of it where it tells nothing."""
    length, corrects = 0, False
    while length < len(plain) and (found := compiled(_PREFACE).match(plain, length)):
        length = found.end()
        corrects |= found["correcting"] is not None
    return Preface(length, corrects)
