"""Patterns mean the same on every Python that is supported, and take time in proportion."""

import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from tests.patterns import Compiled, Text, collected, hostile, places

# Before 3.11.5 Python goes on behind what the last, failed repetition of such a group had read.
_POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{[\d,{}]+\})\+")
_ALL_WAYS = ("finditer", "fullmatch")
# So many texts are made for each pattern, and so many of the slowest are tried in larger sizes.
_TEXTS = 20
_SLOWEST = 4
_TOO_LONG = 99.0


def test_no_group_is_repeated_possessively():
    sources = Path(recollect.__file__).parent.rglob("*.py")
    found = [
        f"{source.name}: {line.strip()}"
        for source in sources
        for line in source.read_text("utf-8").splitlines()
        if _POSSESSIVE_GROUP.search(line)
    ]
    assert not found


@pytest.fixture(scope="module")
def patterns() -> list[Compiled]:
    return collected()


def test_every_pattern_of_the_package_is_known(patterns: list[Compiled]):
    assert not places() - {it.place for it in patterns}
    assert len(patterns) > 500


# Five times what is tried before it tells square time from linear; larger texts only take longer.
@pytest.mark.parametrize("largest", [40_000, pytest.param(100_000, marks=pytest.mark.soak)])
@pytest.mark.timeout(600)
def test_no_text_takes_a_pattern_more_time_than_its_length_explains(
    patterns: list[Compiled], largest: int
):
    unique = {(it.pattern, it.flags, it.used): it for it in patterns}
    slow = [
        f"{it.place}: {it.pattern[:80]!r} on {worst!r}"
        for it in unique.values()
        if (worst := _worst(it, largest)) is not None
    ]
    assert not slow, "\n".join(slow)


def _worst(it: Compiled, largest: int) -> tuple[int, Text] | None:
    """Return the size and the text that takes too long: 1 kB, 8 kB or the largest."""
    pattern = it.compile()
    works = [_work(getattr(pattern, way)) for way in it.used or _ALL_WAYS]
    timed: list[tuple[float, Text, Callable[[Any], object]]] = []
    for text in hostile(pattern, _TEXTS):
        for work in works:
            small = _seconds(work, _of_size(text, 1_000, it.is_bytes), 0.1)
            if small > 0.1:
                return 1_000, text
            timed.append((small, text, work))
    # What takes too long for its length is among the slowest of that length.
    timed.sort(key=lambda entry: -entry[0])
    for small, text, work in timed[:_SLOWEST]:
        if not _is_in_proportion(work, it, text, 1_000, 8_000, small):
            return 8_000, text
    for _, text, work in timed[:1]:
        middle = _seconds(work, _of_size(text, 8_000, it.is_bytes), 2)
        if not _is_in_proportion(work, it, text, 8_000, largest, middle):
            return largest, text
    return None


def _is_in_proportion(
    work: Callable[[Any], object],
    it: Compiled,
    text: Text,
    small: int,
    large: int,
    seconds: float,
) -> bool:
    """Whether the larger text takes at most three times what its length explains."""
    most = 3 * seconds * large / small + 0.02
    if _seconds(work, _of_size(text, large, it.is_bytes), most) <= most:
        return True
    # Another program may have been in the way: measured once more, both.
    again = max(seconds, _seconds(work, _of_size(text, small, it.is_bytes), 2))
    most = 3 * again * large / small + 0.05
    return _seconds(work, _of_size(text, large, it.is_bytes), most) <= most


def _work(way: Callable[..., Any]) -> Callable[[Any], object]:
    match way.__name__:
        case "finditer":
            return lambda text: sum(1 for _ in way(text))
        case "sub":
            return lambda text: way(text[:0], text)
        case _:
            return way


def _of_size(text: Text, size: int, is_bytes: bool) -> str | bytes:
    before, unit, end = text
    whole = before + unit * max(1, size // len(unit)) + end
    return whole.encode("latin-1", "replace") if is_bytes else whole


class _LateError(Exception):
    pass


# Of processor time: how busy the machine is decides nothing.
def _seconds(work: Callable[[Any], object], text: str | bytes, most: float) -> float:
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 2 * most)
    try:
        work(text)
    except _LateError:
        return _TOO_LONG
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return time.process_time() - began


@pytest.fixture(autouse=True)
def _interrupting() -> Iterator[None]:
    def interrupt(*_: object) -> None:
        raise _LateError

    before = signal.signal(signal.SIGPROF, interrupt)
    yield
    signal.signal(signal.SIGPROF, before)
