"""Named days of the Western and the Chinese calendar."""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import cache
from typing import Any

from recollect.language.lexicon import LANGUAGES, lexicon
from recollect.language.times.calendar import DAY, Interval, days, months, nth_weekday_of


def holiday(name: str) -> Callable[[int], Interval]:
    """Return a function from a year to the holiday; lunar ones are known for two decades only."""
    plain = name.lower().replace("'", "").replace(".", "")
    entry = next(entry for start, entry in _holidays().items() if plain.startswith(start))
    return lambda year: days(_first_day(entry, year) + entry.get("later", 0) * DAY, entry["days"])


def _first_day(entry: Mapping[str, Any], year: int) -> date:
    if "date" in entry:
        return datetime.fromisoformat(f"{year:04}-{entry['date']}")
    if "easter" in entry:
        return _easter(year)
    if "lunar" in entry:
        return _lunar_day(entry["lunar"], year)
    month = months(year, entry["month"])
    return (nth_weekday_of(month, entry["nth"], entry["weekday"]) or month).start


def _easter(year: int) -> date:
    """Return the first Sunday after the first full moon of spring, by Gauss and Meeus."""
    century, golden = year // 100, year % 19
    moon = (19 * golden + century - century // 4 - (8 * century + 13) // 25 + 15) % 30
    moon -= moon // 28 * (1 - 29 // (moon + 1) * ((21 - golden) // 11))
    sunday = (year + year // 4 + moon + 2 - century + century // 4) % 7
    return date(year, 3, 1) + (moon - sunday + 27) * DAY


def _lunar_day(which: int, year: int) -> date:
    years = lexicon("zh", "holidays").table("lunar_years")
    if str(year) not in years:
        raise ValueError(year)
    return datetime.fromisoformat(f"{year:04}-{years[str(year)][which]}")


@cache
def _holidays() -> Mapping[str, Mapping[str, Any]]:
    return {
        name: {"days": 1, **entry}
        for language in LANGUAGES
        for name, entry in lexicon(language, "holidays").table("holidays").items()
    }
