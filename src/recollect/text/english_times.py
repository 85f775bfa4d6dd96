"""English words that times are made of, and the numbers they stand for."""

from typing import cast

from recollect.text.dates import FEW, PartOfDay, Unit, Which

MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
DAY_NAME = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
WEEKDAY = f"{DAY_NAME}|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun"
ORDINAL = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth"
COUNT = (
    r"\d{1,4}|half an?|(?:a )?couple(?: of)?|(?:a )?few|several|an?|one|two|three|four|five|six"
    "|seven|eight|nine|ten|eleven|twelve"
)
PART_OF_DAY = "morning|noon|afternoon|evening|night"
WHICH = "last|this|next|past|previous|coming"

_ordinals: tuple[str, ...] = tuple(ORDINAL.split("|"))
_months = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_weekdays = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_numbers = (
    "one", "two", "three", "four", "five", "six",
    "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_which: dict[str, Which] = {
    "last": "last",
    "past": "last",
    "previous": "last",
    "this": "this",
    "next": "next",
    "coming": "next",
}


def month_number(name: str) -> int:
    return _months.index(name[:3].lower()) + 1


def weekday_number(name: str) -> int:
    return _weekdays.index(name[:3].lower())


def day_number(words: str) -> int:
    """The day that 2, 2nd or second name."""
    plain = words.lower()
    if plain[0].isdecimal():
        return int(plain.rstrip("stndrh"))
    return _ordinals.index(plain) + 1


def count_of(words: str) -> float:
    """The number that words say; for "a few" the most it means."""
    plain = words.lower()
    if plain.isdecimal():
        return int(plain)
    if plain.startswith("half"):
        return 0.5
    if "couple" in plain:
        return 2
    if is_few(plain):
        return FEW[1]
    return _numbers.index(plain) + 1 if plain in _numbers else 1


def is_few(words: str) -> bool:
    return words.lower().endswith(("few", "several"))


def unit_of(word: str) -> Unit:
    return cast("Unit", word.lower())


def part_of(word: str | None) -> PartOfDay | None:
    return cast("PartOfDay", word.lower()) if word else None


def which_of(word: str | None) -> Which:
    """Which of many a year or a word like "last" means."""
    if word and word.isdecimal():
        return int(word)
    return _which.get(word.lower()) if word else None
