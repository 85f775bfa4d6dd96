"""What a call of a tool holds, in which rules find things by paths.

A path starts at `arguments`, at `result`, or at `item` (one of several results); `.name` goes into
a mapping and `[]` through a list: `result.hits[].text`. Of several paths with `|` between them the
first that leads to something counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, cast

from recollect.errors import InvalidInput

_PATH: Final = re.compile(r"(arguments|result|item)((?:\.[^.\[\]|]+|\[\])*)")
_STEP: Final = re.compile(r"\.([^.\[\]|]+)|(\[\])")
_GIGANTIC: Final = 1e15
_SIGNS_OF_FAILURE: Final = ("error", "isError", "is_error")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContent:
    """The arguments and the result of a call, in which paths are followed."""

    arguments: object = None
    result: object = None
    item: object = None

    @classmethod
    def of(cls, arguments: object, result: object = None) -> CallContent:
        """A call as frameworks hand it over: values, JSON texts, or lists of text parts."""
        return cls(arguments=_from_json(arguments), result=_unwrapped(result))

    @property
    def has_failed(self) -> bool:
        """Whether the result is an error's report."""
        return _tells_of_failure(self.result)

    def items(self, paths: str) -> list[CallContent]:
        """The call once for each of its results."""
        return [replace(self, item=item) for item in self.all(paths)]

    def all(self, paths: str) -> list[object]:
        """Everything that the first path leads to that leads anywhere."""
        for root, steps in parsed_paths(paths) if paths else ():
            found = [it for it in _follow(getattr(self, root), steps) if it is not None]
            if found:
                return found
        return []

    def structure(self, paths: str) -> Mapping[str, Any] | list[Any] | None:
        """The first mapping or list there that holds anything."""
        for found in self.all(paths):
            if isinstance(found, Mapping | list) and found:
                return cast("Mapping[str, Any] | list[Any]", found)
        return None

    def text(self, paths: str) -> str:
        """The texts and whole numbers there, one a line; empty when there are none."""
        for one in paths.split("|"):
            found = [_readable(str(it)) for it in self.all(one) if _is_text(it)]
            if text := "\n".join(found).strip():
                return text
        return ""

    def share(self, paths: str) -> float | None:
        """The first number there, held between 0 and 1."""
        found = (it for one in paths.split("|") for it in self.all(one))
        return next((_within_share(it) for it in found if _is_number(it)), None)


@lru_cache
def parsed_paths(paths: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """For each path its root and its steps; an empty step goes through a list."""
    parsed: list[tuple[str, tuple[str, ...]]] = []
    for path in paths.split("|"):
        whole = _PATH.fullmatch(path)
        if whole is None:
            raise InvalidInput(
                f"{path!r} is not a path into a tool call",
                code="bad_notes_rule",
                hint="Write it like 'result.hits[].text', starting at arguments, result or item.",
            )
        parsed.append((whole[1], tuple(step[1] or "" for step in _STEP.finditer(whole[2]))))
    return tuple(parsed)


def _follow(value: object, steps: tuple[str, ...]) -> Iterator[object]:
    if not steps:
        yield value
    elif steps[0]:
        yield from _follow(_mapping(value).get(steps[0]), steps[1:])
    elif isinstance(value, list | tuple):
        for inner in cast("list[object]", value):
            yield from _follow(inner, steps[1:])


def _unwrapped(value: object) -> object:
    """What a result says, taken out of the list of text parts in which it may be wrapped."""
    parts = _mapping(value).get("content", value)
    if isinstance(parts, list) and parts and not _tells_of_failure(value):
        found = [_mapping(part) for part in cast("list[object]", parts)]
        if all(part.get("type") == "text" and isinstance(part.get("text"), str) for part in found):
            return _from_json("\n".join(cast("str", part["text"]) for part in found))
    return _from_json(value)


def _from_json(value: object) -> object:
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _tells_of_failure(result: object) -> bool:
    return any(_mapping(result).get(sign) for sign in _SIGNS_OF_FAILURE)


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and _is_number(value))


def _is_number(value: object) -> bool:
    """Whether it is a number that means something: neither a truth value, NaN nor gigantic."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(cast("float", value)) < _GIGANTIC


def _within_share(number: object) -> float:
    return min(max(float(cast("float", number)), 0.0), 1.0)


def _readable(text: str) -> str:
    """Without what can be neither stored nor shown."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()
