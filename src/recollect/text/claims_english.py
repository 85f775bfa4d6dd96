"""English text as the pieces of a claim."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain
from typing import Final, NamedTuple

from recollect.text import claim_words_english as words
from recollect.text.claim_lexicon import Lexicon, build_lexicon
from recollect.text.claim_nouns_english import CLASSES, NOUNS
from recollect.text.claim_parts import SIGNS, Piece, clock_pieces
from recollect.text.claim_verbs_english import VERBS
from recollect.text.entities_latin import is_everyday
from recollect.text.words import stem

_TOKEN: Final = re.compile(
    r"(?P<address>[\w.+-]+@[\w-]+\.[\w.]*\w|\w+://\S+|[~.]{0,2}/[\w./-]*\w)"
    r"|(?P<clock>\d{1,2}(?::\d\d)?\s?[AaPp]\.?[Mm]\b|\d{1,2}:\d\d)"
    r"|(?P<date>\d{4}-\d{1,2}-\d{1,2})"
    r"|(?P<code>\d+(?:-\d+)+|[$€£¥]?\d[\d,]*(?:\.\d+)*[kKmM](?![A-Za-z]))"
    r"|(?P<number>\d+(?:,\d{3})*(?:\.\d+)*)(?:st|nd|rd|th)?"
    r"|(?P<word>[^\W\d_][\w+#]*(?:-\w+)*)"
    r"|(?P<short>'(?:s|re|m|ve|ll|d|t)\b)"
    r"|(?P<money>[$€£¥%])"
    r"|(?P<mark>[,;:.!?()\n])"
)
_INTRODUCTION: Final = re.compile(words.POLITE, re.IGNORECASE)
_ENDING: Final = re.compile(words.POLITE_ENDINGS, re.IGNORECASE)
_PAST_THE_HOUR: Final = re.compile(r"\b(half|quarter) (past|to) (\w+)", re.IGNORECASE)
_MONEY: Final = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yuan", "%": "percent"}
_THOUSANDS: Final = {"k": 1_000, "m": 1_000_000}


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_MONTHS: Final = _words("jan feb mar apr may jun jul aug sep oct nov dec")
_DAY_NAMES: Final = {
    form: name[:3]
    for name in _words(
        "january february march april may june july august september october november december "
        "monday tuesday wednesday thursday friday saturday sunday"
    )
    for form in (name, name[:3], name + "s")
}
_WORDS_LIKE_DAYS: Final = frozenset(_words("may march mar sun sat mon jan dec"))
"""Lower-case words that are no days: they may, the sun sat."""

_BEING: Final = frozenset(_words("he she it that there here what who where how everything i"))
_PERFECT: Final = frozenset({"have", "be"})
_HELPING: Final = _PERFECT | {"do"}
_DETERMINERS: Final = frozenset(
    _words("the a an my our your his her their it 's this that these those each every")
)
_BEHIND_ARTICLES: Final = {
    "second": Piece("number", "2"),
    "left": Piece("space", "left"),
    "right": Piece("space", "right"),
}
"""What words mean behind an article that mean something else elsewhere."""

_SINGLING: Final = frozenset({"clock", "day", "year"})
_PREDICATES: Final = frozenset({"verb", "is", "be", "change"})
_PAST_FORMS: Final = frozenset(
    _words(
        "was were had did went got took made gave kept held came left lost sold bought sent led "
        "taught chose wrote ate drank drove ran swam woke slept flew broke began spoke knew saw "
        "met won built paid grew rose fell felt wore sat brought spent became"
    )
)
_PAST_STATES: Final = frozenset(_words("lived worked studied resided owned smoked drove"))


class _Token(NamedTuple):
    lemma: str
    surface: str
    kind: str
    opens: bool
    """It stands where any word has a capital."""


def english_pieces(text: str) -> Iterator[Piece]:
    """The pieces of an English claim in order."""
    tokens = list(_tokens(_without_politeness(text)))
    lemmas = [token.lemma for token in tokens]
    lexicon = _lexicon()
    in_noun_phrase = is_predicated = False
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind != "word":
            used, pieces = _amount(tokens, at)
        elif day := _day_name(token):
            used, pieces = _date(tokens, at, day)
        else:
            used, pieces = lexicon.match(lemmas, at)
            if used <= 1 and (exact := lexicon.exact.get(token.surface.casefold())) is not None:
                used, pieces = 1, exact
            if token.lemma == "by" and _is_time(tokens, at + 1):
                pieces = (Piece("joint"),)
            if not used or (token.surface == "A" and not token.opens):
                used, pieces = 1, (_unlisted(token),)
            else:
                pieces = _in_context(tokens, at, pieces, in_noun_phrase)
            # A verb or an article behind it opens the name of a thing, and what joins ends it.
            opens = (is_predicated and token.lemma in _DETERMINERS) or _has_object(pieces)
            in_noun_phrase = opens or (in_noun_phrase and not _ends_noun_phrase(pieces))
            is_predicated = is_predicated or any(it.kind in _PREDICATES for it in pieces)
        yield from pieces
        at += used
        if pieces and pieces[0].kind in _SINGLING and _singles_out(tokens, at, used):
            yield Piece("owner")


def _singles_out(tokens: list[_Token], at: int, used: int) -> bool:
    """Whether a time says which one is meant: the 8 am train, the Monday meeting."""
    return (
        at - used > 0
        and tokens[at - used - 1].lemma == "the"
        and at < len(tokens)
        and tokens[at].kind == "word"
        and tokens[at].lemma not in ("be", "of", "have")
    )


def _without_politeness(text: str) -> str:
    introduction = _INTRODUCTION.match(text)
    return _ENDING.sub("", text[introduction.end() :] if introduction else text)


def _tokens(text: str) -> Iterator[_Token]:
    if "past" in text or "quarter" in text:
        text = _PAST_THE_HOUR.sub(_hour_and_minutes, text)
    opens = True
    before = ""
    for match in _TOKEN.finditer(text):
        kind, surface = match.lastgroup or "", match[0]
        if kind == "short":
            yield from _shortened(surface, before)
        elif kind == "word":
            low = surface.casefold()
            if low == "cannot":
                yield _Token("can", "can", "word", opens)
                low = "not"
            elif low.endswith("n") and text.startswith("'t", match.end()):
                low = {"ca": "can", "wo": "will", "sha": "shall"}.get(low[:-1], low[:-1])
            yield _Token(lemma(low), surface, "word", opens)
            before = low
        else:
            yield _Token(surface, surface, kind, opens)
        opens = kind == "mark" and surface != ","


def _shortened(surface: str, before: str) -> Iterator[_Token]:
    """What is written shortly behind a word: 's, 'm, 't …"""
    meant = {"'t": "not", "'m": "be", "'re": "be", "'ve": "have", "'d": "would"}.get(surface, "")
    if surface == "'s":
        meant = "be" if before in _BEING else "'s"
    if meant:
        yield _Token(meant, meant, "word", False)


def _hour_and_minutes(match: re.Match[str]) -> str:
    hour = _NUMBERS.get(match[3].casefold(), match[3])
    if not hour.isdecimal():
        return match[0]
    minutes = 30 if match[1].casefold() == "half" else 15
    if match[2].casefold() == "to":
        return f"{(int(hour) - 1) % 12}:{60 - minutes}"
    return f"{hour}:{minutes}"


# --- Words --------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 14)
def lemma(word: str) -> str:
    """The form under which all forms of a lower-case word are listed."""
    return words.IRREGULAR.get(word) or stem(word)


@cache
def _lexicon() -> Lexicon:
    groups = (words.PHRASES, words.PEOPLE, words.SIGNS, VERBS, CLASSES, NOUNS)
    listed = chain.from_iterable(group.items() for group in groups)
    numbers = ((f"number {number}", (word,)) for word, number in _NUMBERS.items())
    return build_lexicon(
        chain(
            ((key, map(str.strip, phrases.split(","))) for key, phrases in listed),
            numbers,
            (("owner", ("'s",)),),
        ),
        lambda phrase: [lemma(word) for word in phrase.split()],
    )


def _unlisted(token: _Token) -> Piece:
    """A word that no list knows: a name where it has a capital, or figures, for no other reason."""
    surface = token.surface
    named = surface[0].isupper() and not (token.opens and is_everyday(surface.casefold()))
    coded = not surface.islower() and not surface[1:].islower() and len(surface) > 1
    return Piece("name" if named or coded else "word", token.lemma)


def _has_object(pieces: tuple[Piece, ...]) -> bool:
    return bool(pieces) and pieces[-1].kind == "verb"


def _ends_noun_phrase(pieces: tuple[Piece, ...]) -> bool:
    return any(piece.kind in SIGNS for piece in pieces)


def _in_context(
    tokens: list[_Token], at: int, pieces: tuple[Piece, ...], in_noun_phrase: bool
) -> tuple[Piece, ...]:
    """What listed words say where they stand."""
    token, before = tokens[at], tokens[at - 1].lemma if at else ""
    if (
        pieces
        and pieces[-1].kind == "verb"
        and (
            before in _DETERMINERS
            or (in_noun_phrase and not token.surface.endswith(("ing", "ed")))
            or _is_plural_subject(tokens, at)
            or _is_numbered(tokens, at)
        )
    ):
        # The run, my answer: a thing, whatever it is as a verb.
        return (Piece("word", pieces[-1].concept),)
    if before in _DETERMINERS and token.surface in _BEHIND_ARTICLES:
        return (_BEHIND_ARTICLES[token.surface],)
    if token.surface.casefold() in ("call", "calls") and not _is_called(tokens, at):
        return (Piece("verb", "call"),)
    if token.lemma == "move" and _has_amount(tokens, at):
        return (Piece("change"),)
    if not _is_past(token.surface) or not any(it.kind in _PREDICATES for it in pieces):
        return pieces
    helpers = [other.lemma for other in tokens[max(0, at - 2) : at]]
    if "be" in helpers and pieces[0].kind == "end":
        return (Piece("word", token.lemma),)  # the network is lost: nobody gave it up
    if "be" in helpers and pieces[-1].kind == "verb":
        return (Piece("passive"), *pieces)
    if not _PERFECT.isdisjoint(helpers):
        return pieces
    if token.surface in _PAST_STATES:
        return (Piece("formerly"), *pieces)
    return (Piece("done"), *pieces)


def _is_plural_subject(tokens: list[_Token], at: int) -> bool:
    """Whether a verb follows one of its own kind: in "builds start at one", builds are things."""
    token = tokens[at]
    if not token.surface.endswith("s") or token.lemma in _HELPING or at + 1 == len(tokens):
        return False
    following = tokens[at + 1]
    if following.kind != "word" or following.surface.endswith(("ing", "ed")):
        return False
    _, pieces = _lexicon().match([following.lemma], 0)
    return any(piece.kind in _PREDICATES for piece in pieces)


def _is_numbered(tokens: list[_Token], at: int) -> bool:
    """Whether a number tells which one it is: order 17 was shipped."""
    following = tokens[at + 1 : at + 3]
    return len(following) == 2 and following[0].kind == "number" and following[1].lemma in _HELPING


def _is_called(tokens: list[_Token], at: int) -> bool:
    """Whether a name follows: call me Alex, rather than call me in the evening."""
    ahead = [it for it in tokens[at + 1 : at + 3] if it.lemma not in ("me", "him", "her", "it")]
    return bool(ahead) and ahead[0].surface[0].isupper() and not _day_name(ahead[0])


def _is_past(surface: str) -> bool:
    return surface.endswith("ed") or surface in _PAST_FORMS


# --- Numbers and times --------------------------------------------------------------------------

_SMALL: Final = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_ORDINALS: Final = _words("first second third fourth fifth sixth seventh eighth ninth tenth")
_TENS: Final = _words("twenty thirty forty fifty sixty seventy eighty ninety")
_NUMBERS: Final = (
    {word: str(number) for number, word in enumerate(_SMALL)}
    | {word: str(number) for number, word in enumerate(_ORDINALS, 1) if word != "second"}
    | {word: str(number * 10) for number, word in enumerate(_TENS, 2)}
    | {"hundred": "100", "thousand": "1000"}
)


def _is_time(tokens: list[_Token], at: int) -> bool:
    """Whether a time stands here, behind an article or not."""
    ahead = tokens[at : at + 2]
    if ahead and ahead[0].lemma in ("the", "end"):
        ahead = ahead[1:]
    return bool(ahead) and (
        ahead[0].kind in ("number", "clock", "date") or bool(_day_name(ahead[0]))
    )


def _has_amount(tokens: list[_Token], at: int) -> bool:
    return any(t.kind in ("number", "clock", "date") or _day_name(t) for t in tokens[at:])


def _amount(tokens: list[_Token], at: int) -> tuple[int, tuple[Piece, ...]]:
    token = tokens[at]
    match token.kind:
        case "mark":
            return 1, (Piece("break"),)
        case "address":
            return 1, (Piece("name", token.surface.casefold()),)
        case "clock":
            return 1, _clock(token.surface.casefold())
        case "date":
            year, month, day = token.surface.split("-")
            return 1, (Piece("year", year), Piece("day", f"{int(month)}-{int(day)}"))
        case "money":
            return 1, (Piece("word", _MONEY[token.surface]),)
        case "code":
            return 1, _code(token.surface)
        case _:
            return _plain_number(tokens, at)


def _plain_number(tokens: list[_Token], at: int) -> tuple[int, tuple[Piece, ...]]:
    digits = tokens[at].surface.rstrip("stndrh").replace(",", "")
    following = at + 1
    if following < len(tokens) and tokens[following].lemma == "of":
        following += 1
    if following < len(tokens) and (month := _month(tokens[following])) and _is_day(digits):
        return following - at + 1, (Piece("day", f"{month}-{int(digits)}"),)
    if len(digits) == 4 and digits[:2] in ("19", "20"):
        return 1, (Piece("year", digits),)
    return 1, (Piece("number", digits),)


def _code(surface: str) -> tuple[Piece, ...]:
    """A number with dashes, as phones have, or with a letter for its thousands."""
    factor = _THOUSANDS.get(surface[-1].casefold())
    if factor is None:
        return (Piece("number", surface),)
    sign = (Piece("word", _MONEY[surface[0]]),) if surface[0] in _MONEY else ()
    digits = surface.strip("$€£¥kKmM").replace(",", "")
    if digits.count(".") > 1:
        return (Piece("number", surface.casefold()),)
    return (*sign, Piece("number", f"{float(digits) * factor:.15g}"))


def _clock(text: str) -> tuple[Piece, ...]:
    """The time on a dial, and which half of the day it is where that is said."""
    digits = text.rstrip("apm. ")
    hour, _, minutes = digits.partition(":")
    half = "am" if "a" in text else "pm" if "p" in text else ""
    return clock_pieces(int(hour), minutes or "00", half or _half_of(hour))


def _half_of(hour: str) -> str:
    if int(hour) > 12:
        return "pm"
    return "am" if hour[0] == "0" else ""


def _day_name(token: _Token) -> str:
    """The weekday or month that a word names, in short."""
    low = token.surface.casefold()
    name = _DAY_NAMES.get(low, "")
    if name and low in _WORDS_LIKE_DAYS and (token.opens or not token.surface[0].isupper()):
        return ""
    return name


def _month(token: _Token) -> int:
    name = _day_name(token) if token.kind == "word" else ""
    return _MONTHS.index(name) + 1 if name in _MONTHS else 0


def _date(tokens: list[_Token], at: int, day: str) -> tuple[int, tuple[Piece, ...]]:
    """A month with the day that follows it, or a weekday or month alone."""
    if day in _MONTHS and at + 1 < len(tokens) and tokens[at + 1].kind == "number":
        number = tokens[at + 1].surface.rstrip("stndrh")
        if _is_day(number):
            return 2, (Piece("day", f"{_MONTHS.index(day) + 1}-{int(number)}"),)
    return 1, (Piece("day", day),)


def _is_day(digits: str) -> bool:
    return digits.isdecimal() and 1 <= int(digits) <= 31
