"""English text as the pieces of a claim."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Final

from recollect.text import claim_words_english as words
from recollect.text.claim_amounts_english import (
    amount_pieces,
    date_pieces,
    day_name,
    has_amount,
    is_time,
)
from recollect.text.claim_lexicon import Lexicon, build_lexicon
from recollect.text.claim_moves_english import ORGANISATIONS, as_meant
from recollect.text.claim_nouns_english import CLASSES, NOUNS
from recollect.text.claim_parts import SIGNS, Piece, clock_pieces
from recollect.text.claim_things_english import THINGS
from recollect.text.claim_tokens_english import (
    DETERMINERS,
    NUMBERS,
    Token,
    lemma,
    listed,
    tokens_of,
)
from recollect.text.claim_verbs_english import VERBS
from recollect.text.entities_latin import is_everyday

_ASKING: Final = re.compile(r"\b(?:please|kindly)\b", re.IGNORECASE)
_PERFECT: Final = frozenset({"have", "be"})
_HELPING: Final = _PERFECT | {"do"}
_BEHIND_ARTICLES: Final = {
    "second": Piece("number", "2"),
    "left": Piece("space", "left"),
    "right": Piece("space", "right"),
}
"""What words mean behind an article that mean something else elsewhere."""

_HOLDING: Final = frozenset(listed("schedul hold have do take make plan"))
"""Verbs that have things as objects: schedule calls, have talks."""

_MOST: Final = Piece("verb", "limit")
_LEAST: Final = Piece("degree", "at least")
_BOUNDS: Final = {
    **dict.fromkeys(listed("below under within"), _MOST),
    **dict.fromkeys(listed("above over exceeding"), _LEAST),
}
_COMPARED: Final = {
    **dict.fromkeys(listed("less fewer shorter lower smaller"), _MOST),
    **dict.fromkeys(listed("more longer higher larger greater"), _LEAST),
}
_NAME_ENDS: Final = frozenset(listed("University College Inc Ltd Corp GmbH Company"))
"""What may stand behind a name or be left out."""

_CLOCK_WORDS: Final = {
    "midnight": clock_pieces(0, "00", "am"),
    "noon": clock_pieces(12, "00", "pm"),
    "midday": clock_pieces(12, "00", "pm"),
}
_STARTING: Final = frozenset({"start", "begin"})
_SPECIAL: Final = frozenset(map(str.casefold, (*_NAME_ENDS, *_BOUNDS, *_COMPARED, *_CLOCK_WORDS)))
"""All words that say something else beside certain others."""

_SPEAKERS: Final = frozenset({"I", "User"})
_NO_NAMES: Final = frozenset({"verb", "weak", "degree", "space", "size", "spacing", "self"})
"""Kinds of words that have a capital only where they are part of a name."""

_OFFICES: Final = frozenset(listed("boss partner client assistant colleague neighbour friend"))
_SINGLING: Final = frozenset({"clock", "day", "year"})
_PREDICATES: Final = frozenset({"verb", "is", "be", "change"})
_PAST_FORMS: Final = frozenset(
    listed(
        "was were had did went got took made gave kept held came left lost sold bought sent led "
        "taught chose wrote ate drank drove ran swam woke slept flew broke began spoke knew saw "
        "met won built paid grew rose fell felt wore sat brought spent became"
    )
)
_PAST_STATES: Final = frozenset(listed("lived worked studied resided owned smoked drove"))


def english_pieces(text: str) -> Iterator[Piece]:
    """The pieces of an English claim in order."""
    if _ASKING.search(text):
        yield Piece("request")
    tokens = list(tokens_of(text))
    lemmas = [token.lemma for token in tokens]
    in_noun_phrase = is_predicated = False
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind != "word":
            used, pieces = amount_pieces(tokens, at)
        elif day := day_name(token):
            used, pieces = date_pieces(tokens, at, day)
        else:
            used, pieces = _word_pieces(tokens, lemmas, at, in_noun_phrase)
            # A verb or an article behind it opens the name of a thing, and what joins ends it.
            opens = (is_predicated and token.lemma in DETERMINERS) or _has_object(pieces)
            in_noun_phrase = opens or (in_noun_phrase and not _ends_noun_phrase(pieces))
            is_predicated = is_predicated or any(it.kind in _PREDICATES for it in pieces)
        yield from pieces
        at += used
        if pieces and pieces[0].kind in _SINGLING and _singles_out(tokens, at, used):
            yield Piece("owner")


def _word_pieces(
    tokens: list[Token], lemmas: list[str], at: int, in_noun_phrase: bool
) -> tuple[int, tuple[Piece, ...]]:
    """How many words from here on are read as one, and what they say."""
    token, lexicon = tokens[at], _lexicon()
    if special := _special(tokens, at):
        return 1, special
    used, pieces = lexicon.match(lemmas, at)
    if used <= 1 and (exact := lexicon.exact.get(token.surface.casefold())) is not None:
        used, pieces = 1, exact
    if token.lemma == "by" and is_time(tokens, at + 1):
        pieces = (Piece("joint"),)
    pieces = as_meant(tokens, at, used, pieces)
    if used > 1 and (_is_thing(tokens, at, pieces) or _is_doing(tokens[at : at + used])):
        used, pieces = lexicon.match(lemmas[: at + 1], at)
    if not used or _is_named(tokens, token, used, pieces):
        return 1, (_unlisted(token),)
    return used, _in_context(tokens, at, pieces, in_noun_phrase)


def _special(tokens: list[Token], at: int) -> tuple[Piece, ...]:
    """What a word says only beside certain others, whatever the lists say of it."""
    token = tokens[at]
    if token.lemma not in _STARTING and token.surface.casefold() not in _SPECIAL:
        return ()
    if not token.opens and token.surface in _NAME_ENDS:
        return (Piece("weak", token.lemma),)
    if _takes_up(tokens, at):
        return (Piece("now"),)
    if bound := _bound(tokens, at):
        return (bound,)
    return _CLOCK_WORDS.get(token.surface.casefold(), ())


def _singles_out(tokens: list[Token], at: int, used: int) -> bool:
    """Whether a time says which one is meant: the 8 am train, the Monday meeting."""
    return (
        at - used > 0
        and tokens[at - used - 1].lemma == "the"
        and at < len(tokens)
        and tokens[at].kind == "word"
        and tokens[at].lemma not in ("be", "of", "have")
    )


# --- Words --------------------------------------------------------------------------------------


@cache
def _lexicon() -> Lexicon:
    groups = (words.PHRASES, words.PEOPLE, words.SIGNS, VERBS, CLASSES, NOUNS, THINGS)
    listed = chain.from_iterable(group.items() for group in groups)
    numbers = ((f"number {number}", (word,)) for word, number in NUMBERS.items())
    return build_lexicon(
        chain(
            ((key, map(str.strip, phrases.split(","))) for key, phrases in listed),
            numbers,
            (("owner", ("'s",)),),
        ),
        lambda phrase: [lemma(word) for word in phrase.split()],
    )


def _unlisted(token: Token) -> Piece:
    """A word that no list knows: a name where it has a capital, or figures, for no other reason."""
    surface = token.surface
    named = surface[0].isupper() and not (token.opens and is_everyday(surface.casefold()))
    coded = not surface.islower() and not surface[1:].islower() and len(surface) > 1
    return Piece("name" if named or coded else "word", token.lemma)


def _is_named(tokens: list[Token], token: Token, used: int, pieces: tuple[Piece, ...]) -> bool:
    """Whether a listed word is a name here: Go, Max, Secrets Manager."""
    if used > 1 or token.opens or not token.surface[0].isupper() or token.surface in _SPEAKERS:
        return False
    words_here = [it for it in tokens if it.kind == "word"]
    if sum(it.surface[0].isupper() for it in words_here) * 2 > len(words_here) + 1:
        return False  # a heading
    return not pieces or all(
        it.kind in _NO_NAMES or it.kind in SIGNS or (it.kind == "kin" and it.concept in _OFFICES)
        for it in pieces
    )


def _is_thing(tokens: list[Token], at: int, pieces: tuple[Piece, ...]) -> bool:
    """Whether what looks like a verb is several things: the logs in S3."""
    is_behind_article = at > 0 and tokens[at - 1].lemma in DETERMINERS
    is_plural = tokens[at].surface.endswith("s") and tokens[at].lemma not in _HELPING
    return is_behind_article and is_plural and bool(pieces) and pieces[-1].kind == "verb"


def _is_doing(matched: list[Token]) -> bool:
    """Whether something is being done that the list takes for done: both are forms of one word."""
    return matched[0].lemma == "be" and matched[-1].surface == "doing"


def _has_object(pieces: tuple[Piece, ...]) -> bool:
    return bool(pieces) and pieces[-1].kind == "verb"


def _ends_noun_phrase(pieces: tuple[Piece, ...]) -> bool:
    return any(piece.kind in SIGNS for piece in pieces)


def _in_context(
    tokens: list[Token], at: int, pieces: tuple[Piece, ...], in_noun_phrase: bool
) -> tuple[Piece, ...]:
    """What listed words say where they stand."""
    token, before = tokens[at], tokens[at - 1].lemma if at else ""
    if (
        pieces
        and pieces[-1].kind == "verb"
        and (
            before in DETERMINERS
            or (in_noun_phrase and not token.surface.endswith(("ing", "ed")))
            or _is_plural_subject(tokens, at)
            or _is_subject(tokens, at)
            or (token.surface.endswith("s") and before in _HOLDING)
            or _is_numbered(tokens, at)
        )
    ):
        # The run, my answer: a thing, whatever it is as a verb.
        return (Piece("word", pieces[-1].concept),)
    if other := _other_meaning(tokens, at, before):
        return (other,)
    return _in_time(tokens, at, pieces)


def _other_meaning(tokens: list[Token], at: int, before: str) -> Piece | None:
    """What a word means beside certain others, rather than what the lists say."""
    token = tokens[at]
    if before in DETERMINERS and token.surface in _BEHIND_ARTICLES:
        return _BEHIND_ARTICLES[token.surface]
    if token.surface == "second" and _is_ordinal(tokens, at):
        return Piece("number", "2")
    if token.surface in ("head", "lead") and _stands_before(tokens, at, "trade"):
        return Piece("rank", token.surface)
    if token.surface.casefold() in ("call", "calls") and not _is_called(tokens, at):
        return Piece("verb", "call")
    if token.lemma == "move" and has_amount(tokens, at):
        return Piece("change")
    if token.lemma == "run" and _has_organisation(tokens, at):
        return Piece("verb", "manage")
    return None


def _in_time(tokens: list[Token], at: int, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """The pieces with what the form of a verb says: going on, done, formerly."""
    token = tokens[at]
    is_deed = bool(pieces) and pieces[-1].kind in ("verb", "be")
    if is_deed and _is_going_on(tokens, at):
        return (Piece("ongoing"), *pieces)
    if not _is_past(token.surface) or not any(it.kind in _PREDICATES for it in pieces):
        return pieces
    helpers = [other.lemma for other in tokens[max(0, at - 2) : at]]
    if "be" in helpers and pieces[0].kind == "end":
        return (Piece("word", token.lemma),)  # the network is lost: nobody gave it up
    if "be" in helpers and pieces[-1].kind == "verb":
        return (Piece("passive"), *pieces)
    if not _PERFECT.isdisjoint(helpers):
        return pieces
    if token.surface in _PAST_STATES or _was_something(tokens, at):
        return (Piece("formerly"), *pieces)
    return (Piece("done"), *pieces)


def _was_something(tokens: list[Token], at: int) -> bool:
    """Whether somebody tells what they were: I was a teacher."""
    return (
        tokens[at].surface == "was"
        and at > 0
        and tokens[at - 1].lemma in ("i", "user")
        and at + 1 < len(tokens)
        and tokens[at + 1].lemma in ("a", "an")
    )


def _has_organisation(tokens: list[Token], at: int) -> bool:
    """Whether what is run is led, not started: runs the sales department, runs a small shop."""
    ahead = tokens[at + 1 : at + 5]
    return (
        bool(ahead)
        and ahead[0].lemma in DETERMINERS
        and any(it.lemma in ORGANISATIONS for it in ahead[1:])
    )


def _is_going_on(tokens: list[Token], at: int) -> bool:
    """Whether it is being done: is writing, are testing."""
    is_form = tokens[at].surface.endswith("ing")
    return is_form and any(it.lemma == "be" for it in tokens[max(0, at - 2) : at])


def _is_plural_subject(tokens: list[Token], at: int) -> bool:
    """Whether a verb follows one of its own kind: in "builds start at one", builds are things."""
    token = tokens[at]
    if not token.surface.endswith("s") or token.lemma in _HELPING or at + 1 == len(tokens):
        return False
    following = tokens[at + 1]
    if following.kind != "word" or following.surface.endswith(("ing", "ed")):
        return False
    _, pieces = _lexicon().match([following.lemma], 0)
    return any(piece.kind in _PREDICATES for piece in pieces)


def _is_subject(tokens: list[Token], at: int) -> bool:
    """Whether a verb in -s follows what an article began: the nightly build starts."""
    begun = at > 1 and tokens[at - 2].lemma in DETERMINERS and tokens[at - 1].kind == "word"
    if not begun or at + 1 == len(tokens) or not tokens[at + 1].surface.endswith("s"):
        return False
    _, pieces = _lexicon().match([tokens[at + 1].lemma], 0)
    return any(piece.kind == "verb" for piece in pieces)


def _is_numbered(tokens: list[Token], at: int) -> bool:
    """Whether a number tells which one it is: order 17 was shipped."""
    following = tokens[at + 1 : at + 3]
    return len(following) == 2 and following[0].kind == "number" and following[1].lemma in _HELPING


def _is_ordinal(tokens: list[Token], at: int) -> bool:
    """Whether a noun follows that is counted so: second grade, rather than 5 per second."""
    if at + 1 == len(tokens) or tokens[at + 1].kind != "word":
        return False
    _, pieces = _lexicon().match([tokens[at + 1].lemma], 0)
    return not any(piece.kind in SIGNS for piece in pieces) and tokens[at - 1].kind != "number"


def _takes_up(tokens: list[Token], at: int) -> bool:
    """Whether what is done now is named next: started drinking, began to learn."""
    following = tokens[at + 1].surface if at + 1 < len(tokens) else ""
    return tokens[at].lemma in _STARTING and following.endswith("ing")


def _bound(tokens: list[Token], at: int) -> Piece | None:
    """What a number is said to be the end of: below 300, fewer than 5, at least 2."""
    surface, number = tokens[at].surface.casefold(), at + 1
    piece = _BOUNDS.get(surface)
    if number < len(tokens) and tokens[number].lemma == "than":
        piece, number = _COMPARED.get(surface), number + 1
    is_number = number < len(tokens) and tokens[number].kind == "number"
    return piece if is_number else None


def _stands_before(tokens: list[Token], at: int, kind: str) -> bool:
    _, pieces = _lexicon().match([it.lemma for it in tokens[: at + 2]], at + 1)
    return bool(pieces) and pieces[0].kind == kind


def _is_called(tokens: list[Token], at: int) -> bool:
    """Whether a name follows: call me Alex, rather than call me in the evening."""
    ahead = [it for it in tokens[at + 1 : at + 3] if it.lemma not in ("me", "him", "her", "it")]
    return bool(ahead) and ahead[0].surface[0].isupper() and not day_name(ahead[0])


def _is_past(surface: str) -> bool:
    return surface.endswith("ed") or surface in _PAST_FORMS
