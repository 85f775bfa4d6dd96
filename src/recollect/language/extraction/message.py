"""Claims of a conversation that have a form of their own, in Chinese and English.

Procedures, what a user asks to keep of what was said, and what an assistant has done. What is told
and what is wished for have none: there a reader decides, see `writing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile, zip_longest
from typing import Final, NamedTuple

from recollect.domain.context import Tongue
from recollect.domain.record import Episode, Evidence, Kind
from recollect.domain.turn import Turn
from recollect.domain.write import Claim
from recollect.language.claims import moods
from recollect.language.claims.subjects import addressed, named
from recollect.language.extraction.acts import says_something
from recollect.language.extraction.forgetting import asks_to_forget
from recollect.language.extraction.procedures import in_sentence, listed
from recollect.language.extraction.utterances import (
    Sentence,
    readable,
    sentences,
)
from recollect.language.lexicon import bilingual, lexicon

_EDGE: Final = " \t\n,;:.!，。；：！、~"
_HAN: Final = re.compile("[\u4e00-\u9fff]")
_QUESTION_MARKS: Final = "?？"
_MAX_WISH_CHARACTERS: Final = 200
# Such a turn tells nothing itself.
MATERIAL: Final = frozenset({"tool_output", "memory_output", "retracted"})
_EXPLICIT_CONFIDENCE: Final = 0.95
_EXPLICIT_IMPORTANCE: Final = 0.8
_CONFIDENCE: Final = 0.75
_IMPORTANT: Final = frozenset({"feedback", "decision", "convention"})


def language_of(plain: str) -> Tongue:
    """Return the language whose rules read this."""
    return "zh" if _HAN.search(plain) else "en"


# --- Words that are understood on their own: "I" becomes "User", an order gets a label ------------


def self_contained(text: str, language: Tongue, name: str, *, is_theirs: bool) -> str:
    """Return a statement that names the speaker instead of "I".

    Chinese leaves the subject out where it is the one who speaks, and where it was named before:
    only what `is_theirs` gets their name.
    """
    words = text.strip(_EDGE)
    words = _behind(bilingual("voice", "opening", re.IGNORECASE), words)
    told = named(words, language, name)
    is_left_out = language == "zh" and is_theirs and told == words and "我们" not in told
    return name + told if is_left_out else told


def labelled(text: str, language: Tongue) -> str:
    """Return an order word for word, behind its label."""
    words = text.strip(_EDGE)
    voice = lexicon(language, "voice")
    if language == "zh":
        words = _behind(voice.regex("order_opening"), words)
    return voice.table("labels")["asks"] + words


def _behind(opening: re.Pattern[str], words: str) -> str:
    """Return what stands behind the openings of a text, if anything does."""
    while (found := opening.match(words)) and (rest := words[found.end() :].strip(_EDGE)):
        words = rest
    return words


# --- Claims --------------------------------------------------------------------------------------


def claim_of(
    category: str,
    clause: Sentence,
    turn: Turn,
    *,
    explicit: bool = False,
    orders: bool = False,
    is_theirs: bool = False,
) -> Claim:
    """Return the claim of a clause in this category.

    `orders` if it asks for something, `is_theirs` if it tells of the speaker.
    """
    language, words = language_of(clause.plain), turn.content[clause.start : clause.end]
    return Claim(
        kind=Kind.SEMANTIC,
        category=category,
        content=labelled(words, language).rstrip(_QUESTION_MARKS)
        if orders
        else _told(words, turn, language, is_theirs=is_theirs),
        evidence=(Evidence(turn=turn.id, start=clause.start, end=clause.end),),
        confidence=_EXPLICIT_CONFIDENCE if explicit else _CONFIDENCE,
        importance=_EXPLICIT_IMPORTANCE if explicit else 0.7 if category in _IMPORTANT else 0.6,
        explicit=explicit,
    )


def _told(words: str, turn: Turn, language: Tongue, *, is_theirs: bool) -> str:
    name = turn.speaker or _role(turn.role, language)
    if turn.role == "user":
        # 妈妈生日快到了: only their children call them so.
        relatives = lexicon("zh", "first_person").regex("relatives")
        is_theirs = is_theirs or relatives.match(words.strip()) is not None
    return self_contained(words.rstrip(_QUESTION_MARKS), language, name, is_theirs=is_theirs)


def _role(role: str, language: Tongue) -> str:
    return lexicon(language, "voice").table("roles")["assistant" if role == "assistant" else "user"]


# --- What a user says ----------------------------------------------------------------------------


def own_sentences(text: str) -> list[Sentence]:
    """Return what a message says itself, up to pasted text; nothing if it is to be forgotten."""
    spoken = sentences(readable(text))
    if any(moods.shows(it.plain, "withheld") or asks_to_forget(it.plain) for it in spoken):
        return []
    own = takewhile(lambda it: not moods.announces_material(it.plain), spoken)
    return [
        sentence
        for sentence, behind in zip_longest(own, spoken[1:])
        if sentence and not (behind and moods.shows(behind.plain, "taken_back"))
    ]


def procedures_told(turn: Turn) -> Iterator[Claim]:
    """Yield how something is to be done, as a user's message says."""
    spoken = own_sentences(turn.content)
    lists = [*listed(turn.content, readable(turn.content))] if spoken else []
    found = [it for it in lists if it.start <= spoken[-1].start]
    for it in spoken:
        if not any(step.start <= it.start < step.end for step in lists):
            found += filter(None, [in_sentence(turn.content, it.plain, it.start)])
    for it in found:
        plain = readable(turn.content)[it.start : it.end]
        whole = Sentence(start=it.start, end=it.end, plain=plain)
        explicit = moods.shows(plain, "wish")
        claim = claim_of("convention", whole, turn, explicit=explicit, orders=True)
        yield replace(claim, kind=Kind.PROCEDURAL, title=it.title, details=it.details)


def _kept(wish: KeepWish) -> Iterator[Claim]:
    """Yield what was said last before a wish to remember it."""
    said = wish.said
    told = last_told(sentences(readable(said.content))) if said else None
    if said is None or told is None:
        return
    claim = claim_of("user", told, said, explicit=True)
    if said.role == "assistant":
        language = language_of(told.plain)
        words = said.content[told.start : told.end].strip(_EDGE)
        retold = addressed(words, language, _role("user", language))
        claim = claim if retold == words else replace(claim, content=retold)
    asked = Evidence(turn=wish.turn.id, start=0, end=len(wish.turn.content))
    yield replace(claim, evidence=(*claim.evidence, asked))


def last_told(spoken: Sequence[Sentence]) -> Sentence | None:
    """Return the last sentence that states something; None if there is none."""
    told = (
        sentence
        for sentence in reversed(spoken)
        if moods.stance(sentence.plain) == "told" and says_something(sentence.plain)
    )
    return next(told, None)


# --- What an assistant has done ------------------------------------------------------------------

_ARTIFACT: Final = re.compile(
    r"https?://[^\s\u3000-\u303f\uff00-\uffef\u4e00-\u9fff<>\"'`]{3,500}"
    r"|(?<![\w/.:])(?:~|\.{1,2})?/[\w.-]{1,80}(?:/[\w.-]{1,80}){1,12}"
    r"|(?<![\w/.:])[\w-][\w.-]{0,80}(?:/[\w.-]{1,80}){0,12}/[\w-]{1,80}\.[a-z0-9]{1,5}\b"
    r"|\b[A-Za-z]:\\[^\s\"'<>|]{2,300}"
    r"|\b[\w-]{1,60}\.(?:csv|xlsx?|json|pdf|docx?|pptx?|png|jpe?g|svg|md|txt|py|js|ts|css|html|sql|zip|ya?ml"
    r"|toml|parquet|ipynb|go|rs|java)\b"
    r"|\b(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}\b|\b[A-Z][A-Z0-9]{1,9}-\d{1,8}\b"
    r"|\bv?\d{1,4}\.\d{1,6}\.\d{1,6}\b|(?<!\w)#\d{1,8}\b",
    re.ASCII,
)
_TRAILING: Final = ".,;:!?)"


def work_done(turn: Turn) -> list[Claim]:
    """Return what a message says was done, made or found out; advice is not a claim."""
    found: list[Claim] = []
    for sentence in sentences(readable(turn.content)):
        words = turn.content[sentence.start : sentence.end].strip()
        made = tuple(dict.fromkeys(it[0].rstrip(_TRAILING) for it in _ARTIFACT.finditer(words)))
        if moods.asks(sentence.plain) or not (category := _effect(sentence.plain, turn, made)):
            continue
        details = Episode(outcome=words, artifacts=made, timestamp=turn.at)
        claim = claim_of(category, sentence, turn)
        found.append(replace(claim, kind=Kind.EPISODIC, content=words, details=details))
    return found


def _effect(plain: str, turn: Turn, made: Sequence[str]) -> str:
    words = lexicon(language_of(plain), "outcomes")
    # A query that an assistant shows may be advice.
    is_run = turn.role != "assistant" and words.signs("queries").find(plain)
    if is_run or (made and words.signs("made").find(plain)):
        return "tool-effects"
    return "task-traces" if words.signs("done").find(plain) else ""


# --- Conversations: which turns are read, and how ------------------------------------------------


def claims_of_form(turns: Sequence[Turn], *, before: Sequence[Turn] = ()) -> Iterator[Claim]:
    """Yield the claims of the turns.

    System prompts and tool results are material, not statements: they are not read.
    """
    for wish in keep_wishes(turns, before):
        yield from _kept(wish)
    for turn in turns:
        if turn.act in MATERIAL or turn.act == "question":
            continue
        if turn.role == "assistant":
            yield from work_done(turn)
        elif turn.role == "user":
            yield from procedures_told(turn)


class KeepWish(NamedTuple):
    """A turn that only asks to remember what was said, and the turn that said it, if any."""

    turn: Turn
    said: Turn | None


def keep_wishes(turns: Sequence[Turn], before: Sequence[Turn] = ()) -> Iterator[KeepWish]:
    """Yield the turns that are nothing but "remember this", 记住这个."""
    said = next(filter(_says, reversed(before)), None)
    for turn in turns:
        if asks_to_keep(turn):
            yield KeepWish(turn, said)
        elif _says(turn):
            said = turn


def asks_to_keep(turn: Turn) -> bool:
    """Return whether a user's turn only asks to remember what was said."""
    if turn.role != "user" or turn.act in MATERIAL or len(turn.content) > _MAX_WISH_CHARACTERS:
        return False
    spoken = sentences(readable(turn.content))
    return bool(spoken) and all(moods.only_says(it.plain, "remember_this") for it in spoken)


def _says(turn: Turn) -> bool:
    """Return whether a turn is more than "got it", so that "this" may stand for its words."""
    if turn.role != "assistant" or len(turn.content) > _MAX_WISH_CHARACTERS:
        return turn.role in {"user", "assistant"} and turn.act not in MATERIAL
    spoken = sentences(readable(turn.content))
    return not all(moods.only_says(it.plain, "acknowledges") for it in spoken)
