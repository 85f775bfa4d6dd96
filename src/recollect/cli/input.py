"""What a person typed: texts, also from standard input, moments in local time, key=value pairs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from datetime import datetime

from recollect.errors import InvalidInput


def require_utf8(arguments: Sequence[str]) -> None:
    """Refuse arguments that were no UTF-8: Python hands them on with stand-ins for the bytes."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise _not_utf8(f"The argument {argument!a}") from None


def text_of(argument: str | None) -> str | None:
    """The argument itself, or for `-` what comes in on standard input.

    Called while arguments are read: nothing is open yet, and Ctrl-C ends the waiting.
    """
    if argument != "-":
        return argument
    try:
        # Some shells mark piped text with a byte order mark, all of them end it with a newline.
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _not_utf8("Standard input") from None
    return text.removesuffix("\n").removesuffix("\r")


def moment_of(text: str, name: str) -> datetime:
    """A date or a time in ISO form; without a zone it is the local one."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone() if moment.tzinfo is None else moment
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{name} {text!r} is not a date or a time",
            code="bad_time",
            hint="Write it as 2026-05-31, 2026-05-31T18:30 or 2026-05-31T18:30:00+08:00.",
        ) from None


def one_of(first: str | None, second: str | None, *names: str) -> str | None:
    """What was given in either of two ways; both at once would leave one unheard."""
    if first is not None and second is not None:
        raise InvalidInput(
            f"{' and '.join(names)} are the same; give one of them", code="bad_usage"
        )
    return second if first is None else first


def pairs_of(items: Iterable[str], name: str) -> dict[str, str]:
    """`key=value` texts as a mapping."""
    pairs: dict[str, str] = {}
    for item in items:
        key, separator, value = item.partition("=")
        if not separator or not key:
            raise InvalidInput(f"{name} {item!r} is not key=value", code="bad_pair")
        pairs[key] = value
    return pairs


def _not_utf8(what: str) -> InvalidInput:
    return InvalidInput(
        f"{what} is not valid UTF-8; nothing was changed",
        code="invalid_utf8",
        hint="Convert the text first, for example with iconv.",
    )
