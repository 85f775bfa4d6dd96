"""Names in texts: people, places, organisations, products, titles, ids, code symbols."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import islice
from typing import Final, NamedTuple

from recollect.language.characters import fold
from recollect.language.lexicon import lexicon
from recollect.language.words import stem, stop_words

HAN: Final = "\u3400-\u9fff"
"""The characters that names are written in. The rare ones beyond cost each pattern milliseconds."""

Found = tuple[int, int]
"""Where a name begins and ends."""

_MAX_TITLE_CHARACTERS: Final = 20
_MIN_STEM_CHARACTERS: Final = 2
_MAX_STEM_CHARACTERS: Final = 9
_DOTS: Final = "·・•‧"
_HAN: Final = re.compile(f"[{HAN}]")
_SPEECH: Final = re.compile("[我你他她您它们吗呢吧啊呀嘛哦嗯,。!?;:…、]|什么|怎么|了$")
_SPEAKING: Final = re.compile("[说道问答喊讲:,]$")


def chinese_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield the names of a text with their positions; where two overlap, the longer wins."""
    found = [*_known_and_built(text), *_people(text), *_called(text)]
    if any(dot in text for dot in _DOTS):
        found += (match.span() for match in _chinese_words().transcribed.finditer(text))
    found.sort(key=_earlier_then_longer)
    taken = 0
    for start, end in found:
        if start >= taken:
            yield start, text[start:end]
            taken = end


def is_chinese_title(text: str, start: int, end: int, inside: str) -> bool:
    """Return whether the quoted text is a title rather than speech or irony."""
    if not 1 < len(inside) <= _MAX_TITLE_CHARACTERS or _SPEECH.search(inside):
        return False
    words = _chinese_words()
    return (
        words.title_cue.search(text, max(0, start - 6), start) is not None
        or words.after_title.match(text, end) is not None
        or inside.endswith(words.title_endings)
        or (text[start] in "「『" and not _SPEAKING.search(text, max(0, start - 2), start))
    )


def _earlier_then_longer(found: Found) -> tuple[int, int]:
    return found[0], -found[1]


_CALLED: Final = re.compile(f"(?:叫做|叫|名为|取名|起名|名字是|小名是)([{HAN}]{{2,4}})(?![{HAN}])")


# --- People --------------------------------------------------------------------------------------


def _people(text: str) -> Iterator[Found]:
    words = _chinese_words()
    for match in words.nickname.finditer(text):
        start, end = match.span()
        if not start or text[start - 1] not in words.left_of_small:
            yield start, end
    taken = 0
    for match in words.person.finditer(text):
        start, end = match.span()
        if start < taken or text[start : start + 2] in words.begun_by_surname:
            continue
        if start and text[start - 1 : end] in words.ended_by_surname:
            continue
        title = words.title.match(text, end)
        taken = title.end() if title else _end_of_name(text, start, end)
        if taken > end:
            yield start, taken


def _end_of_name(text: str, start: int, end: int) -> int:
    """Return the end of the given name, or of the surname if no given name fits here."""
    words = _chinese_words()
    before = text[max(0, start - 2) : start]
    announced = before in words.roles or before[-1:] == "叫"
    if not (announced or _may_precede(before)):
        return end
    one, two = text[end : end + 1], text[end + 1 : end + 2]
    if one not in words.given:
        return end
    if _may_follow(text, end + 1) and not (two in words.given and _may_follow(text, end + 2)):
        return end + 1
    if _is_word(text, end + 1):
        return end + 1
    certain = two in words.given and text[start] not in words.everyday_surnames
    return end + 2 if certain or announced or _may_follow(text, end + 2) else end


def _may_precede(before: str) -> bool:
    words, last = _chinese_words(), before[-1:]
    return last in words.left_of_names or before in words.around_names or not _HAN.match(last)


def _may_follow(text: str, at: int) -> bool:
    following = text[at : at + 1]
    return (
        not _HAN.match(following)
        or following in _chinese_words().right_of_names
        or _is_word(text, at)
    )


def _is_word(text: str, at: int) -> bool:
    """Return whether a word begins here that is said of people, though made of name characters."""
    return text[at : at + 2] in _chinese_words().around_names


def _called(text: str) -> Iterator[Found]:
    """Yield what someone or something is said to be called, up to the end of the clause."""
    if "叫" in text or "名" in text:
        words = _chinese_words()
        for match in _CALLED.finditer(text):
            if match[1] not in words.not_called and not words.up_to_cut.match(match[1]):
                yield match.span(1)


# --- Known names, and those built on them or on an ending ---------------------------------------


def _known_and_built(text: str) -> Iterator[Found]:
    known: list[Found] = []
    for match in _chinese_words().known_or_ending.finditer(text):
        if match[1]:
            known.append(match.span())
            yield match.span()
        else:
            begin = _beginning(text, match, known)
            if match.start() - begin >= _MIN_STEM_CHARACTERS:
                yield begin, match.end()


def _beginning(text: str, ending: re.Match[str], known: list[Found]) -> int:
    """Return the start of the name with this ending; the start of the ending if there is none."""
    words, start = _chinese_words(), ending.start()
    earliest = max(0, start - _MAX_STEM_CHARACTERS)
    place = known[-1] if known and known[-1][1] >= earliest else None
    cut = words.up_to_cut.match(text, place[1] if place else earliest, start)
    begin = cut.end() if cut else earliest
    if place and not cut:
        begin = _beyond(place, text, ending)
    elif not (cut or begin == 0) or not _is_plausible(text, begin, ending[0]):
        return start
    if word := words.up_to_word.match(text, begin, start):
        begin = word.end()
    return start if words.generic.fullmatch(text, begin, start) else begin


def _beyond(place: Found, text: str, ending: re.Match[str]) -> int:
    """Return the start of a name behind a place: 深圳市|腾飞公司, 杭州|西湖区, but 浙江大学."""
    begin, after = place
    left = ending.start() - after
    if left and text[after] in "市省区县":
        return after + 1
    return after if len(ending[0]) == 1 and left >= _MIN_STEM_CHARACTERS else begin


def _is_plausible(text: str, begin: int, ending: str) -> bool:
    """Return whether a name may begin here; a place name only after a word of place."""
    before = text[begin - 1 : begin] if begin else ""
    words = _chinese_words()
    if ending not in words.venues:
        return True
    return before in words.place_cues if _HAN.match(before) else ending in ("区", "县")


# --- Words ---------------------------------------------------------------------------------------


class _ChineseWords:
    """The words that reveal names, and the patterns made of them."""

    def __init__(self) -> None:
        words = lexicon("zh", "entities")
        self.given = frozenset(words.letters("given_names"))
        self.everyday_surnames = frozenset(words.letters("surnames_that_are_words"))
        self.left_of_names = frozenset(words.letters("left_of_names"))
        self.left_of_small = frozenset(words.letters("left_of_small"))
        self.right_of_names = frozenset(words.letters("right_of_names"))
        self.place_cues = frozenset(words.letters("place_cues"))
        self.around_names = words.words("around_names")
        self.begun_by_surname = words.words("words_begun_by_surnames")
        self.ended_by_surname = words.words("words_ended_by_surnames")
        self.not_called = words.words("not_called")
        self.roles = words.words("roles")
        self.venues = words.words("venues")
        self.title_endings = tuple(words.words("title_endings"))

        surnames, compound = words.letters("surnames"), words.words("compound_surnames")
        titles, short_titles = words.words("person_titles"), words.table("short_titles")
        given, follows = words.letters("given_names"), words.letters("right_of_names")
        beginnings = "".join({title[0] for title in titles | short_titles.keys()})
        self.person = re.compile(
            f"(?=[{surnames}{''.join({name[0] for name in compound})}])"
            f"(?:[{surnames}](?=[{given}{beginnings}])|{'|'.join(sorted(compound))})"
        )
        self.title = re.compile(
            "|".join(sorted(titles, key=len, reverse=True))
            + "".join(f"|{title}(?![{another}])" for title, another in short_titles.items())
        )
        self.nickname = re.compile(
            f"[老小](?:[{words.letters('called_by_surname')}]"
            f"|[{words.letters('called_by_surname_with_care')}](?=[^{HAN}]|$|[{follows}]))"
            f"|[小阿][{words.letters('called_by_given_name')}](?=[^{HAN}]|$|[{follows}])"
        )
        syllable = f"[{words.letters('transcribing')}]"
        self.transcribed = re.compile(f"{syllable}{{1,8}}(?:[{_DOTS}]{syllable}{{1,8}}){{1,3}}")

        endings = words.words("institutions") | self.venues
        no_endings: Mapping[str, Sequence[str]] = words.table("no_endings")
        self.known_or_ending = re.compile(
            f"({_any_of(words.words('places') | words.words('known_names'))})"
            f"|(?=[{''.join({ending[0] for ending in endings})}])(?:"
            + "|".join(
                _ending(ending, *no_endings.get(ending, ("", "")))
                for ending in sorted(endings, key=len, reverse=True)
            )
            + ")"
        )
        self.up_to_cut = re.compile(
            f".*(?:[{words.letters('place_cues')}{words.letters('cuts')}]|[^{HAN}A-Za-z0-9]"
            f"|{words.pattern('cuts_in_context')})",
            re.DOTALL,
        )
        self.up_to_word = re.compile(f".*{words.pattern('cutting_words')}")
        self.generic = re.compile(f"{words.pattern('generic')}*")
        self.title_cue = re.compile(f"{words.pattern('title_cues')}$")
        self.after_title = re.compile(words.pattern("after_titles"))


@cache
def _chinese_words() -> _ChineseWords:
    return _ChineseWords()


def _any_of(names: frozenset[str]) -> str:
    """Return a pattern for the longest of many names.

    Two classes of characters rule out most places at once.
    """
    endings: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        endings.setdefault(name[0], []).append(name[1:])
    firsts, seconds = "".join(endings), "".join({name[1] for name in names})
    branches = "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in endings.items())
    return f"(?=[{firsts}][{seconds}])(?:{branches})"


def _ending(ending: str, left: str, right: str) -> str:
    """Return a pattern for an ending where its neighbours do not make another word of it."""
    return ending + (f"(?<![{left}]{ending})" if left else "") + (f"(?![{right}])" if right else "")


# --- Names in Latin script: words that are capitalised although nothing requires it ---------------
# A capital at the beginning of a sentence or in a heading says nothing, so a word there is a name
# only if it is no everyday word.

_MAX_ACRONYM_LETTERS: Final = 6
_MIN_WORDS_TO_TELL_LANGUAGE: Final = 5
_LETTERS: Final = "[A-Za-z0-9]{0,39}+"
# Beginning with a plain class of letters lets the search skip everything else. Groups are repeated
# atomically, see `analysis`.
_CAPITALISED: Final = (
    r"[A-Z](?<![A-Za-z0-9_.@'/-].)"
    r"(?:\.(?:[A-Z]\.){0,2}(?= ?[A-Z])"  # the initials of J. K. Rowling
    r"|(?:r|rs|s|rof|t)\.(?= [A-Z])"  # Dr. Mr. Mrs. Ms. Prof. St. Mt.
    rf"|{_LETTERS}(?>(?:['-][A-Z]{_LETTERS}){{0,3}}))"
)
_HUMPED: Final = rf"(?<![A-Za-z0-9_.@'/-])[a-z]{{1,24}}+[A-Z]{_LETTERS}"  # iPhone, getUserName
_JOINT: Final = r"(?: & | (?:of|de|van|von|bin|al|del|di|la)(?: the| la| der)? | )"
_JOINED_INITIALS: Final = re.compile(r"\.(?=[A-Z])")
_HUMP: Final = re.compile("[A-Z](?<=[a-z].)")
_RUNNING_TEXT: Final = re.compile(r"[a-z]{4}(?<![A-Za-z].{4})|[^\x00-\xff]")
# A heading, the first words of a list item up to its colon, or what begins a line in bold.
_LABEL: Final = re.compile(
    r"\s{0,20}(?:#{1,6} .*|\*\*[^*]{1,60}\*"
    r"|(?:[-*•+>]|\d{1,3}[.)]) {1,4}(?:\**[^:*]{1,60}(?:\*|:))?)"
)
_NEXT_WORD: Final = re.compile(r" ([a-z]+)")
_LAST_WORD: Final = re.compile(r"(?<![A-Za-z])([A-Za-z]+) $")
_STRETCHED: Final = re.compile(r"([a-z])\1\1|(?:ha){2}")
_DERIVED: Final = re.compile(
    r".{2,}(?:(?<![jq])ing|ly|[ts]ions?|ness|ments?|[ai]ble|ful|less|ous|ism|i[sz]ed|ize|[ae]nc[ey]"
    r"|[bcdfgklmnprtwy]s|ies|ers)$"
)
_WITHIN_SENTENCE: Final = ",)'&/%、”》」+=<\0"


def latin_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield the names of a text as written, with their positions."""
    words = _latin_words()
    spans = words.span_with_humps if _HUMP.search(text) else words.span
    start = 0
    for line in text.split("\n"):
        found = list(spans.finditer(line))
        if found:
            reader = _Line(line)
            for span in found:
                for at, name in reader.names(span):
                    yield start + at, name
        start += len(line) + 1


class _Line:
    """One line of a text, and how far its capitals can be trusted."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_titled = not _RUNNING_TEXT.search(text)
        label = _LABEL.match(text)
        self._end_of_label = label.end() if label else -1

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(self._text.split())

    @property
    def _is_english(self) -> bool:
        """Whether everyday words are known; in another language every word looks strange."""
        return len(self._words) < _MIN_WORDS_TO_TELL_LANGUAGE or not self._words.isdisjoint(
            stop_words()
        )

    def names(self, span: re.Match[str]) -> Iterator[tuple[int, str]]:
        """Yield the names in a run of capitalised words, split at everyday words."""
        known = _latin_words()
        at = begin = span.start()
        titled = self._is_titled or at <= self._end_of_label or self._text[at - 1 : at] == "*"
        opens = self._opens_sentence(at)
        is_opening = opens
        group: list[str] = []
        for word in span[1].split(" "):
            low = word.casefold().rstrip(".")
            joins = group and low in known.joining and not titled
            if not joins and (low in known.breaks or ((opens or titled) and _is_opener(word, low))):
                if name := self._name(group, begin, at - 1, is_opening, titled):
                    yield begin, name
                group, is_opening = [], False
            elif group or word[0].isalpha():
                begin = begin if group else at
                group.append(word)
            at += len(word) + 1
            opens = False
        if span[2] == "'t":
            group = group[:-1]
        if name := self._name(group, begin, at - 1, is_opening, titled):
            yield begin, name

    def _opens_sentence(self, at: int) -> bool:
        before = self._text[max(0, at - 2) : at].rstrip()
        return not (before and (before[-1].isalnum() or before[-1] in _WITHIN_SENTENCE))

    def _name(self, group: list[str], begin: int, end: int, opening: bool, titled: bool) -> str:
        """Return the name that a run of words makes, or an empty string."""
        while group and group[-1].casefold() in _latin_words().joining:
            group.pop()
        if not group or self._text[end : end + 1] in ("_", "-"):
            return ""
        if len(group) == 1:
            return group[0] if self._is_name(group[0], begin, end, opening or titled) else ""
        if _is_shouted(group):
            return ""
        if titled and not all(map(_is_strange, group)):
            return ""
        is_counted = len(group) == 2 and group[1][0].isdigit()  # Room 302, Chapter 5
        letters = group[:1] if is_counted else group
        if (opening or is_counted) and all(is_everyday(word.casefold()) for word in letters):
            return ""
        return _JOINED_INITIALS.sub(". ", " ".join(group))

    def _is_name(self, word: str, begin: int, end: int, is_doubtful: bool) -> bool:
        low = word.casefold()
        if len(word) == 1 or word[-1] == ".":
            return False
        if word.isupper():
            return len(word) <= _MAX_ACRONYM_LETTERS and not is_everyday(low) and word[1:].isalpha()
        if not word[1:].islower():
            return not (word[:-1].isupper() and word[-1] == "s")  # CEOs
        if is_doubtful:
            return self._is_name_at_beginning(low, begin, end)
        if not is_everyday(low):
            return True
        before = _LAST_WORD.search(self._text, max(0, begin - 8), begin)
        return before is None or before[1].casefold() not in _latin_words().determiners

    def _is_name_at_beginning(self, low: str, begin: int, end: int) -> bool:
        words = _latin_words()
        following = _NEXT_WORD.match(self._text, end)
        next_word = following[1] if following else ""
        if is_everyday(low):
            return low in words.names_that_are_words and next_word in words.name_verbs
        if low in self._words or next_word in words.determiners or _STRETCHED.search(low):
            return False
        if begin <= self._end_of_label:
            return next_word in words.name_verbs
        return next_word in words.acts_of_people or (self._is_english and not _is_derived(low))


def _is_strange(word: str) -> bool:
    """Return whether a word makes a name even where all words are capitalised."""
    low = word.casefold()
    return low in _latin_words().name_beginnings or not (is_everyday(low) or _is_derived(low))


def _is_opener(word: str, low: str) -> bool:
    """Return whether a word is capitalised only because it begins a sentence."""
    return not word.isupper() and (
        low in _latin_words().openers or (low[-2:] == "ly" and _is_derived(low))
    )


def _is_shouted(group: list[str]) -> bool:
    loud = [word for word in group if len(word) > 1 and word.isalpha() and word.isupper()]
    return len(loud) > 2 or (len(loud) == 2 and any(is_everyday(word.casefold()) for word in loud))


def _is_derived(low: str) -> bool:
    """Return whether a lower-case word is built like everyday words: setbacks, honestly."""
    return _DERIVED.match(low) is not None and low not in _latin_words().names_built_as_words


@lru_cache(maxsize=1 << 14)
def is_everyday(word: str) -> bool:
    """Return whether a lower-case word is an everyday word, in any of its forms."""
    return word in _latin_words().openers or stem(word) in _everyday_stems()


@cache
def _everyday_stems() -> frozenset[str]:
    return frozenset(
        map(stem, lexicon("en", "entities").words("everyday") | _latin_words().openers)
    )


# --- Words ---------------------------------------------------------------------------------------


class _LatinWords:
    """The words that tell names from everyday words, and the patterns made of them."""

    def __init__(self) -> None:
        words = lexicon("en", "entities")
        self.acts_of_people = words.words("acts_of_people")
        self.determiners = words.words("determiners")
        self.joining = words.words("joining")
        self.name_beginnings = words.words("name_beginnings")
        self.name_verbs = words.words("name_verbs")
        self.names_built_as_words = words.words("names_built_as_words")
        self.names_that_are_words = words.words("names_that_are_words")
        self.openers = words.words("openers")
        never_names = words.words("never_names") | stop_words()
        self.breaks = never_names - self.names_that_are_words | words.words("months")
        number = (
            r"\d{1,4}(?:\.\d{1,3})?(?![A-Za-z0-9])(?![%:,.-]\w)" rf"(?! {words.pattern('units')}\b)"
        )
        self.span = _span(_CAPITALISED, number)
        self.span_with_humps = _span(f"(?:{_CAPITALISED}|{_HUMPED})", number)


@cache
def _latin_words() -> _LatinWords:
    return _LatinWords()


def _span(word: str, number: str) -> re.Pattern[str]:
    """Match a run of capitalised words, with what is shortened onto its last one ('s, 't) apart."""
    return re.compile(rf"({word}(?>(?:{_JOINT}(?:{word})| {number}){{0,7}}))('[a-z]{{1,2}}\b)?")


# --- Recognise names: people, places, organisations, products, titles, ids, code symbols ----------
# Found by rules, in Chinese and English, quickly enough for every write and every question. A wrong
# name links records that have nothing in common, so a doubtful one is left out.
#
# Names lose what their mentions do not share: case, width, the article, the title before a surname
# (Dr. Smith is Smith), the sign of an @mention or #tag. A chain of places is named place by place.

MOST_ENTITIES: Final = 64

# Stands for each character of a name that is found already: neither a letter nor a sentence's end.
_TAKEN: Final = "\0"


def entities(text: str) -> tuple[str, ...]:
    """Return the distinct names in a text, in order, each in one common spelling."""
    found: list[tuple[int, str]] = []
    rest = _take_marked(fold(text).replace(_TAKEN, " "), found)
    found += latin_names(rest)
    if _HAN.search(rest):
        found += chinese_names(rest)
    found.sort(key=_position)
    names = dict.fromkeys(name.casefold() for _, name in found)
    return tuple(islice(names, MOST_ENTITIES))


def _position(found: tuple[int, str]) -> int:
    return found[0]


class _Mark(NamedTuple):
    """Signs by which a writer marks a name, and how to get the name."""

    sign: str  # in every match: most patterns need not be tried on most texts
    pattern: re.Pattern[str]
    name: Callable[[re.Match[str]], str]


def _take_marked(text: str, found: list[tuple[int, str]]) -> str:
    """Return the text without the names that signs mark; append those to `found`."""
    for mark in _marks(with_dots=_INNER_DOT.search(text) is not None):
        if mark.sign in text:
            text = _take(mark, text, found)
    return text


def _take(mark: _Mark, text: str, found: list[tuple[int, str]]) -> str:
    def take(match: re.Match[str]) -> str:
        name = mark.name(match)
        if not name or _TAKEN in name:  # what is marked inside a mark is the name
            return match[0]
        found.append((match.start(), name))
        return _TAKEN * len(match[0])

    return mark.pattern.sub(take, text)


def _marked(match: re.Match[str]) -> str:
    """Return the group of a match, or all of it."""
    return match[match.lastindex or 0].strip(_TAKEN + " ")


_ARTICLE: Final = re.compile(r"(?:the|an?) ", re.IGNORECASE)
_LONG_LOWER_WORD: Final = re.compile(r"(?<![A-Za-z])[a-z]{4,}")
_CUE: Final = re.compile(r"(?<![A-Za-z])([A-Za-z]+):? ?$")
_MAX_CUE_CHARACTERS: Final = 16


def _quoted(match: re.Match[str]) -> str:
    """Return the quoted text if it is a title rather than speech or irony."""
    inside, start = _marked(match), match.start()
    if _HAN.search(inside):
        return inside if is_chinese_title(match.string, start, match.end(), inside) else ""
    if not inside[:1].isupper() or inside[-1] in ",.!?;:" or _LONG_LOWER_WORD.search(inside):
        return ""
    article = _ARTICLE.match(inside)
    title = inside[article.end() :] if article else inside
    if " " in title:
        return title
    words = lexicon("en", "entities")
    cue = _CUE.search(match.string, max(0, start - _MAX_CUE_CHARACTERS), start)
    is_announced = cue is not None and cue[1].casefold() in words.words("title_cues")
    low = title.casefold()
    return (
        title if is_announced or not (is_everyday(low) or low in words.words("never_names")) else ""
    )


_INNER_DOT: Final = re.compile(r"\.(?=[A-Za-z0-9])")
_BEFORE: Final = r"(?<![A-Za-z0-9_.@/-])"
_AFTER: Final = r"(?![A-Za-z0-9_])"
_HOST_LABEL: Final = r"[A-Za-z0-9][A-Za-z0-9-]{0,62}"
_REST_OF_ADDRESS: Final = rf"[^\s{HAN}<>\"'、》」”)]{{0,500}}"
_ADDRESS: Final = (
    rf"[a-z]{{2,8}}://(?:www\.)?({_HOST_LABEL}(?:\.{_HOST_LABEL}){{0,6}}){_REST_OF_ADDRESS}"
)
_EMAIL: Final = (
    rf"{_BEFORE}[A-Za-z0-9][A-Za-z0-9_.+-]{{0,63}}@{_HOST_LABEL}(?:\.{_HOST_LABEL}){{1,5}}"
)
_MENTION: Final = (
    rf"(?<![A-Za-z0-9_.])@([A-Za-z0-9_][A-Za-z0-9_-]{{0,38}}[A-Za-z0-9_]|[{HAN}]{{2,6}}(?![{HAN}]))"
)
_TAG: Final = rf"#([A-Za-z0-9_{HAN}-]{{1,30}})#|(?<![\w#&/])#([A-Za-z_{HAN}][\w-]{{0,30}})"
_VERSION: Final = rf"{_BEFORE}[vV]\d{{1,4}}(?:\.\d{{1,6}}){{1,3}}(?:-[a-z0-9]{{1,10}})?{_AFTER}"
_SNAKE: Final = (
    rf"(?<![A-Za-z0-9_])_{{0,2}}[A-Za-z][A-Za-z0-9]{{0,40}}(?:_{{1,2}}[A-Za-z0-9]{{1,40}}){{1,8}}"
    rf"{_AFTER}"
)
_TICKET: Final = rf"{_BEFORE}[A-Z][A-Z0-9]{{1,9}}-\d{{1,8}}{_AFTER}"


@cache
def _marks(*, with_dots: bool) -> Sequence[_Mark]:
    """Return the marks to look for; fewer if no word of the text contains a dot."""
    words = lexicon("en", "entities")
    file = (
        r"(?<![A-Za-z0-9_.@-])[A-Za-z0-9_][A-Za-z0-9_-]{0,60}"
        rf"\.{words.pattern('file_endings')}{_AFTER}(?!\.[a-z])"
    )
    host = (
        rf"{_BEFORE}(?:www\.)?({_HOST_LABEL}(?:\.{_HOST_LABEL}){{0,3}}\.{words.pattern('domain_endings')})"
        rf"{_AFTER}(?:/{_REST_OF_ADDRESS})?"
    )
    marks = (
        _Mark("://", re.compile(_ADDRESS), _marked),
        _Mark("@", re.compile(_EMAIL), _marked),
        _Mark("@", re.compile(_MENTION), _marked),
        _Mark("《", re.compile(r"《([^《》\n]{1,40})》"), _marked),
        _Mark("〈", re.compile(r"〈([^〈〉\n]{1,40})〉"), _marked),
        _Mark("「", re.compile(r"「([^「」\n]{1,60})」"), _quoted),
        _Mark("『", re.compile(r"『([^『』\n]{1,60})』"), _quoted),
        _Mark("“", re.compile(r"“([^“”\n]{1,60})”"), _quoted),
        _Mark('"', re.compile(r'"([^"\n]{1,60})"'), _quoted),
        _Mark("#", re.compile(_TAG), _marked),
        _Mark(".", re.compile(_VERSION), _marked),
        _Mark(".", re.compile(file), _marked),
        _Mark(".", re.compile(host), _marked),
        _Mark("_", re.compile(_SNAKE), _marked),
        _Mark("-", re.compile(_TICKET), _marked),
    )
    return tuple(mark for mark in marks if with_dots or mark.sign != ".")
