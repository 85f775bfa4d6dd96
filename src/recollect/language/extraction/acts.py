"""Speech acts: what a turn does (state, ask, request), or that it hands over a tool's output.

It is decided once, when a turn is stored. What a turn states outweighs what it asks beside that:
"I moved to Bonn, is there an ice rink?" is a statement. So is a wish that holds from now on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from recollect.domain.memory_tools import is_memory_tool
from recollect.domain.turn import Act, Turn
from recollect.language.characters import HAN
from recollect.language.claims import moods
from recollect.language.extraction.forgetting import asks_to_forget
from recollect.language.extraction.utterances import (
    readable,
    sentences,
    without_memory,
)

# What a message does shows in its beginning.
_READ_CHARACTERS: Final = 2_000
_RESULT_ROLES: Final = frozenset({"tool", "function"})
_ORDERING_ROLES: Final = frozenset({"system", "developer"})
# "ok", "ugh, right": less states nothing.
_MIN_WORDS: Final = 3
_MIN_HAN_CHARACTERS: Final = 4
_HAN: Final = re.compile(f"[{HAN}]")
_CLAUSE_BORDER: Final = re.compile(r"(?:[,;，；]|\s[-–—]\s|——)\s*(?:(?:and|but|so|or)\s)?")


def with_acts(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return the turns with their acts decided; a result belongs to the tool of its call."""
    tools: dict[str, str] = {}
    decided: list[Turn] = []
    for turn in turns:
        tools.update(_calls(turn))
        decided.append(turn if turn.act else replace(turn, act=_act(turn, tools)))
    return tuple(decided)


def holds_wish(turn: Turn) -> bool:
    """Return whether a user wants something to hold, to be remembered, or to be forgotten."""
    if turn.role != "user" or turn.act in {"tool_output", "memory_output"}:
        return False
    return any(
        moods.shows(sentence.plain, "wish")
        or moods.only_says(sentence.plain, "remember_this")
        or asks_to_forget(sentence.plain)
        for sentence in sentences(readable(turn.content))
    )


def wants_reply(text: str) -> bool:
    """Return whether a message asks or requests something, beside what it may state."""
    spoken = sentences(readable(text[:_READ_CHARACTERS]))
    return any(moods.stance(sentence.plain) in {"asked", "requested"} for sentence in spoken)


# --- A turn --------------------------------------------------------------------------------------


def _act(turn: Turn, tools: Mapping[str, str]) -> Act:
    answered = _answered(turn)
    if answered is not None or turn.role in _RESULT_ROLES:
        tool = turn.speaker or _own(turn).get("tool") or tools.get(answered or "", "")
        return "memory_output" if is_memory_tool(str(tool)) else "tool_output"
    text = turn.content[:_READ_CHARACTERS]
    if text.strip() and not without_memory(text).strip():
        return "memory_output"
    if turn.role in _ORDERING_ROLES:
        return "request"
    if not text.strip():
        # A call of a tool, or a picture.
        return "request" if any(_calls(turn)) else "statement"
    return _spoken(text)


def _spoken(text: str) -> Act:
    acts = [_act_of(sentence.plain) for sentence in sentences(readable(text))]
    if "statement" in acts or not any(acts):
        return "statement"
    return "question" if "question" in acts else "request"


def _act_of(plain: str) -> Act | None:
    """Return the act of a sentence; None if it says next to nothing."""
    stance = moods.stance(plain)
    if stance == "requested":
        return "request"
    if stance != "asked":
        return "statement" if says_something(plain) else None
    # "I leave on Monday, is there a train?" tells something as well.
    pieces = map(str.strip, _CLAUSE_BORDER.split(plain))
    told = (it for it in pieces if it != plain and moods.stance(it) == "told")
    return "statement" if any(says_something(it, least_words=4) for it in told) else "question"


def says_something(plain: str, *, least_words: int = _MIN_WORDS) -> bool:
    """Return whether words state more than "ok" or "ugh, right"."""
    if moods.only_says(plain, "acknowledges") or moods.only_says(plain, "yes"):
        return False
    return len(plain.split()) >= least_words or len(_HAN.findall(plain)) >= _MIN_HAN_CHARACTERS


# --- Tools ---------------------------------------------------------------------------------------


def _calls(turn: Turn) -> Iterator[tuple[str, str]]:
    """Yield ids and names of the tool calls in a turn, in the formats of providers and sessions."""
    for call in (*_mappings(turn.payload.get("tool_calls")), *_blocks(turn, "tool_use")):
        function = call.get("function")
        named = cast("Mapping[str, Any]", function) if isinstance(function, Mapping) else call
        yield str(call.get("id")), str(named.get("name"))
    for call in cast("Sequence[Sequence[Any]]", _own(turn).get("calls", ())):
        yield str(call[0]), str(call[1])


def _answered(turn: Turn) -> str | None:
    """Return the id of the call that a turn answers."""
    own = _own(turn).get("answers") or turn.payload.get("tool_call_id")
    results = (str(block.get("tool_use_id")) for block in _blocks(turn, "tool_result"))
    return own if isinstance(own, str) else next(results, None)


def _blocks(turn: Turn, sort: str) -> Iterator[Mapping[str, Any]]:
    return (it for it in _mappings(turn.payload.get("content")) if it.get("type") == sort)


def _own(turn: Turn) -> Mapping[str, Any]:
    """Return what a session keeps beside the words of a turn."""
    own: Mapping[str, Any] = {}
    return next(_mappings([turn.payload.get("recollect")]), own)


def _mappings(value: object) -> Iterator[Mapping[str, Any]]:
    found = cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()
    return (cast("Mapping[str, Any]", entry) for entry in found if isinstance(entry, Mapping))
