"""Chinese text as the pieces of a claim."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Final

from recollect.text import claim_words_chinese as words
from recollect.text.claim_lexicon import Lexicon, build_lexicon
from recollect.text.claim_nouns_chinese import CLASSES, NOUNS
from recollect.text.claim_parts import SIGNS, Piece, clock_pieces
from recollect.text.claim_things_chinese import THINGS
from recollect.text.claim_tokens_english import lemma
from recollect.text.claim_translations import COMPANIES, MEMBERS, PLACES, by_chinese
from recollect.text.claim_verbs_chinese import VERBS
from recollect.text.entities_chinese import chinese_names
from recollect.text.numbers import han_number

_NUMERALS: Final = "零一二两三四五六七八九十百千万亿半"
_MEASURES: Final = (
    "个只条本辆台位名份件张间所座双套支杯头次岁年月日号天周点分秒小块元楼层页人章版公斤米度%倍种遍趟口"
    "匹棵朵篇部集步瓶碗盒包袋箱季级家门节课轮批届期代美欧成折"
)
_MONTHS: Final = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_WEEKDAYS: Final = dict(
    zip("一二三四五六日天", ("mon", "tue", "wed", "thu", "fri", "sat", "sun", "sun"), strict=True)
)
_WEEKS: Final = {
    "上": Piece("when", "last week"),
    "下": Piece("when", "next week"),
    "这": Piece("weak", "next"),
    "本": Piece("weak", "next"),
}
_EARLY: Final = frozenset({"凌晨", "早上", "早晨", "清晨", "上午"})

_NUMBERED: Final = (
    "(?:[桌楼线店房院门机库工会室铺位台板柜车馆厅仓床]|登机|航站|出口|窗口|发票|文件|病房|球员|选手|泊位|"
    "展|教室|教学|宿舍|公路|地铁|合同|订单|样品|包裹|发动机)"
)
"""What is numbered, so that 4号桌 is a table and not the fourth of a month."""

_NUMBER: Final = rf"(?:\d+|[{_NUMERALS}]{{1,4}})"
_SPECIAL: Final = re.compile(
    r"(?P<address>[\w.+-]+@[\w-]+\.[A-Za-z.]*[A-Za-z]|[a-z]+://[!-~]+|/[\w./-]*\w)"
    rf"|(?P<clock>(?P<half>凌晨|早上|早晨|清晨|上午|中午|下午|傍晚|晚上|夜里)?(?P<hour>{_NUMBER})"
    rf"(?::(?P<digits>\d\d)|点(?:钟|整)?(?:(?P<part>半|一刻|三刻)|(?P<minutes>{_NUMBER})分?)?))"
    rf"|(?:(?P<year>\d{{4}})年?[-/]?)?(?P<month>{_NUMBER})(?:月份?|[-/])(?:(?P<day>{_NUMBER})[日号]?)?"
    r"|(?P<latin>(?:\d+(?=[A-Z][a-z]))?[A-Za-z][A-Za-z0-9_+#.-]*(?<![.-]))"
    rf"|(?P<of_month>{_NUMBER})[号日](?!{_NUMBERED})(?<![街路道巷弄第]..)(?<![街路道巷弄第]...)"
    r"|(?P<only_year>(?:19|20)\d\d)年"
    r"|(?:(?P<every>每个?)|(?P<which>[上下这本]个?))?(?:周|星期|礼拜)"
    r"(?P<weekday>[一二三四五六日天])(?!次|趟|个)"
    rf"|第?(?P<number>\d+(?:,\d{{3}})*(?:\.\d+)*(?:-\d+)*|(?<=第)[{_NUMERALS}]+|[{_NUMERALS}]+(?=[{_MEASURES}]))"
    r"(?P<factor>[万亿]|[kK](?![A-Za-z])|千(?![米克]))?"
)
_SPECIAL_BEGINNINGS: Final = frozenset(
    _NUMERALS + "0123456789每凌早清上中下这本傍晚夜周星礼第/"
) | frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_OVER: Final = re.compile(r"[^,;。!?]{1,20}了(?=[,;。!?]|$)")
_INTRODUCTION: Final = re.compile(words.POLITE)
_PARTED: Final = re.compile(
    "(?<=[结离订])[了过的完](?=婚)|(?<=毕)[了过的](?=业)|(?<=[请休放])[了过的完个](?=假)|"
    "(?<=搬)[了过的完](?=家)|(?<=[辞离入])[了过的](?=职)|(?<=[跑散])[了过的完个](?=步)|"
    "(?<=睡)[了过的完个](?=觉)|(?<=分)[了过](?=手)|(?<=戒)[了过的](?=[烟酒])|(?<=怀)[了过的](?=孕)|"
    "(?<=[游])[了过的完个](?=泳)|(?<=[开上下])[了过的完个](?=[会班课])|(?<=见)[了过的完个](?=面)"
)
"""What may stand within a verb of two characters: 结了婚, 请了假."""

_ENDING: Final = re.compile(words.POLITE_ENDINGS)
_ASKING: Final = re.compile("(?:请|麻烦|烦请|劳驾|拜托)(?!假|客|教|示|[的很多事])")
_BEGINS: Final = re.compile(r"开始(?=了?(?:[,;。!?]|$))")
_BEFORE: Final = re.compile("以前|之前|前(?![端台面者天年门])")
_MEETING: Final = re.compile("会(?![议员计场诊说])")
_BEFORE_A_MEETING: Final = re.compile("(?:[的场]|[这那]个)$")
_AT_END: Final = re.compile("了?(?:[,;。!?]|$)")
_HAPPENED: Final = re.compile(r"是[^,;。]+的[。!]?$")
_SOMETHING_TAKEN: Final = re.compile("[把将][^,;。!?]{1,10}$")
_TO_A_DESK: Final = re.compile(
    "(?P<moves>搬[到去进至往回])(?=了?[^,;。!?]{0,6}(?:工位|办公室|办公楼|写字楼|会议室|座位|公司|部门|组))"
)
"""Who moves at work lives where they lived."""

_HAN_OR_NAME: Final = re.compile(r"[\w%]")


def chinese_pieces(text: str) -> Iterator[Piece]:
    """The pieces of a Chinese claim in order."""
    if _ASKING.match(text):
        yield Piece("request")
    text = _without_politeness(text)
    has_happened = bool(_HAPPENED.search(text))
    if has_happened:
        yield Piece("done")
    characters = list(text)
    lexicon = _lexicon()
    names = dict(chinese_names(text))
    at = 0
    was_time = was_deed = was_unlisted = False
    while at < len(text):
        if at in names and not _is_listed(lexicon.match(characters, at), names[at]):
            yield Piece("name", names[at])
            at += len(names[at])
            was_time = was_deed = was_unlisted = False
            continue
        character = text[at]
        used, pieces = lexicon.match(characters, at)
        if used == 1 and was_unlisted and pieces and pieces[0].kind not in SIGNS:
            used = 0  # a character that goes on with a word that is not listed: 存 in 内存
        if character in _SPECIAL_BEGINNINGS and not (used > 1 and character in _NUMERALS):
            special = _SPECIAL.match(text, at)
            if special and (found := _special(special)):
                used, pieces = len(special[0]), found
        was_unlisted = not used
        if beside := _beside(text, at, was_time, was_deed):
            used, pieces = beside
            was_unlisted = False
        elif not used:
            used, was_unlisted = 1, bool(_HAN_OR_NAME.match(character))
            pieces = (Piece("char", character),) if was_unlisted else ()
        elif pieces and pieces[0].kind == "not" and _OVER.match(text, at + used):
            pieces = (Piece("end"), *pieces[1:])
        if has_happened and character == "是" and at + used in names:
            pieces = (Piece("by"),)  # 桥是老王修的: who did it is named next
        yield from pieces
        was_time = bool(pieces) and pieces[-1].kind in ("clock", "half", "day", "year")
        was_deed = bool(pieces) and pieces[-1].kind == "verb"
        at += used


def _is_listed(match: tuple[int, tuple[Piece, ...]], name: str) -> bool:
    """Whether the lists know what looks like a name: 意大利语 is a language, 柏林 is Berlin."""
    used, pieces = match
    return used > len(name) or (used == len(name) and pieces[0].kind == "name")


def _beside(
    text: str, at: int, was_time: bool, was_deed: bool
) -> tuple[int, tuple[Piece, ...]] | None:
    """What characters say beside a time, a deed or the end, whatever the lists say of them."""
    if text[at] == "管" and _AT_END.match(text, at + 1):
        return 1, (Piece("verb", "manage"),)
    if text[at] == "搬" and _SOMETHING_TAKEN.search(text, 0, at):
        return 1, (Piece("change"),)
    if desk := _TO_A_DESK.match(text, at):
        return len(desk["moves"]), (Piece("change"),)
    if _MEETING.match(text, at) and _BEFORE_A_MEETING.search(text, 0, at):
        return 1, (Piece("word", "meeting"),)
    if was_time and _BEGINS.match(text, at):
        return 2, (Piece("verb", "start"),)
    if (was_time or was_deed) and (before := _BEFORE.match(text, at)):
        return len(before[0]), (Piece("side", "之前"),)
    return None


def _without_politeness(text: str) -> str:
    introduction = _INTRODUCTION.match(text)
    plain = _ENDING.sub("", text[introduction.end() :] if introduction else text)
    return _PARTED.sub("", plain)


@cache
def _lexicon() -> Lexicon:
    groups = (words.PHRASES, words.PEOPLE, words.SIGNS, VERBS, CLASSES, NOUNS, THINGS)
    listed = ((key, phrases.split()) for group in groups for key, phrases in group.items())
    members = by_chinese(MEMBERS)
    synonyms = (
        (f"{kind} {_concept(words.SYNONYMS.get(phrase, phrase), members)}", (phrase,))
        for kind, phrases in CLASSES.items()
        for phrase in phrases.split()
        if phrase in words.SYNONYMS or phrase in members
    )
    names = (
        (f"name {lemma(name)}", (known,))
        for known, name in by_chinese(PLACES + "," + COMPANIES).items()
    )
    return build_lexicon(
        chain(synonyms, names, listed, (("light", words.LIGHT.split()), ("break", ("\n",)))), list
    )


def _concept(member: str, english: Mapping[str, str]) -> str:
    return lemma(english[member]) if member in english else member


def _special(match: re.Match[str]) -> tuple[Piece, ...]:
    """The pieces of a number, a time or a word in Latin letters; nothing where it is none."""
    if match["clock"]:
        return _clock(match)
    if match["month"]:
        return _date(match)
    if match["only_year"]:
        return (Piece("year", match["only_year"]),)
    if match["weekday"]:
        day = Piece("day", _WEEKDAYS[match["weekday"]])
        if match["which"]:
            return (_WEEKS[match["which"][0]], day)
        return (Piece("weak", "every"), day) if match["every"] else (day,)
    if match["number"]:
        return (Piece("number", _amount(match["number"], match["factor"])),)
    if match["of_month"]:
        return _day_of_month(match["of_month"])
    word = match[0]
    listed = _lexicon().exact.get(word.casefold())
    if listed is not None:
        return listed
    is_name = match["address"] or not word.islower()
    return (Piece("name" if is_name else "word", word.casefold()),)


def _clock(match: re.Match[str]) -> tuple[Piece, ...]:
    half, written = match["half"], match["hour"]
    hour = _whole(written)
    if hour is None or hour > 24 or (written == "一" and not half and not match["part"]):
        return ()  # 一点 is "a little"
    minutes = match["digits"] or {"半": "30", "一刻": "15", "三刻": "45"}.get(match["part"] or "")
    if not minutes:
        minutes = f"{_whole(match['minutes'] or '零') or 0:02}"
    if half:
        return clock_pieces(hour, minutes, "am" if half in _EARLY else "pm")
    return clock_pieces(
        hour, minutes, "pm" if hour > 12 else "am" if hour == 0 or written[0] == "0" else ""
    )


def _date(match: re.Match[str]) -> tuple[Piece, ...]:
    month, day = _whole(match["month"]), _whole(match["day"] or "零")
    if month is None or not 1 <= month <= 12 or day is None or day > 31:
        return ()
    if "月" not in match[0] and not (match["year"] and day):
        return ()
    year = (Piece("year", match["year"]),) if match["year"] else ()
    return (*year, Piece("day", f"{month}-{day}" if day else _MONTHS[month - 1]))


def _day_of_month(written: str) -> tuple[Piece, ...]:
    number = _whole(written)
    if number is not None and 1 <= number <= 31:
        return (Piece("day", str(number)),)
    return (Piece("number", _amount(written, None)), Piece("weak", "number"))


def _amount(written: str, factor: str | None) -> str:
    value = _whole(written)
    if value is None:
        digits = written.replace(",", "")
        if not factor or not _DECIMAL.fullmatch(digits):
            return digits + (factor or "")
        return f"{float(digits) * _FACTORS[factor]:.15g}"
    return str(value * _FACTORS[factor] if factor else value)


_DECIMAL: Final = re.compile(r"\d+\.\d+")
_FACTORS: Final = {"万": 10_000, "亿": 100_000_000, "千": 1000, "k": 1000, "K": 1000}


def _whole(written: str) -> int | None:
    """The whole number that digits or numerals write; None where they write none."""
    return int(written) if written.isdecimal() else han_number(written)
