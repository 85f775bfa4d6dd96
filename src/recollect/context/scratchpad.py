"""The scratchpad of a session: kept in the state store, shown to the model on request."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Final

from recollect.domain.notes import Scratchpad, ScratchpadUpdate
from recollect.domain.operation import Operation
from recollect.domain.scope import Role, Scope
from recollect.errors import StaleVersion
from recollect.language.characters import Language
from recollect.language.characters import language as language_of
from recollect.ports.state import ABSENT, State, StateKey

SCRATCHPAD: Final = "scratchpad"
SCRATCHPAD_TTL: Final = timedelta(minutes=30)
# Of several concurrent writers one succeeds each time, and a session never has more than this.
_MAX_ATTEMPTS: Final = 50

_CHINESE: Final = {
    "title": "# 任务草稿",
    "goal": "目标：{}",
    "steps": "步骤：",
    "here": "{}（进行中）",
    "step": "当前步骤：{}",
    "decisions": "决定：",
    "because": "{}（原因：{}）",
    "blockers": "阻碍：",
}
_ENGLISH: Final = {
    "title": "# Scratchpad",
    "goal": "Goal: {}",
    "steps": "Steps:",
    "here": "{} (in progress)",
    "step": "Current step: {}",
    "decisions": "Decisions:",
    "because": "{} (because: {})",
    "blockers": "Blockers:",
}


class SessionScratchpad:
    """The scratchpad of one session; it expires after `ttl` without activity."""

    def __init__(
        self, state: State, scope: Scope, session: str, ttl: timedelta = SCRATCHPAD_TTL
    ) -> None:
        self._state = state
        self._key = StateKey(scope=scope, session=session, name=SCRATCHPAD)
        self._ttl = ttl

    @Operation("GET", "/v1/sessions/{session_id}/scratchpad", "get_scratchpad", Role.READER)
    async def read(self) -> Scratchpad:
        """Return the scratchpad; an empty one if nothing was written or it has expired."""
        pad, _ = await self._read()
        return pad

    @Operation(
        "PATCH",
        "/v1/sessions/{session_id}/scratchpad",
        "update_scratchpad",
        Role.WRITER,
        repeat="repeatable",
        tool="scratchpad_update",
    )
    async def update(self, update: ScratchpadUpdate) -> Scratchpad:
        """Merge an update with what others have written; return the result."""
        for attempt in range(_MAX_ATTEMPTS):
            before, version = await self._read()
            after = before.updated(update)
            value = json.dumps(after.to_json(), ensure_ascii=False)
            try:
                await self._state.put(self._key, value, ttl=self._ttl, expected=version)
            except StaleVersion:
                if attempt == _MAX_ATTEMPTS - 1:
                    raise
            else:
                return after
        raise AssertionError("the last attempt returns or raises")

    async def touch(self) -> None:
        """Restart the time until the scratchpad expires."""
        await self._state.touch(self._key, self._ttl)

    @Operation(
        "DELETE",
        "/v1/sessions/{session_id}/scratchpad",
        "clear_scratchpad",
        Role.WRITER,
        repeat="repeatable",
    )
    async def clear(self) -> None:
        """Delete the scratchpad when the task is over."""
        await self._state.delete(self._key)

    async def _read(self) -> tuple[Scratchpad, int]:
        entry = await self._state.get(self._key)
        if entry is None:
            return Scratchpad(), ABSENT
        return Scratchpad.from_json(json.loads(entry.value)), entry.version


def render_scratchpad(pad: Scratchpad, language: Language | None = None) -> str:
    """Return the scratchpad as text for the model, by default in its own language."""
    if pad.is_empty:
        return ""
    words = _CHINESE if (language or _language(pad)) == "zh" else _ENGLISH
    lines = [words["title"]]
    if pad.current_goal:
        lines.append(words["goal"].format(_line(pad.current_goal)))
    steps = tuple(dict.fromkeys((*pad.sub_goals, *pad.completed)))
    if steps:
        lines.append(words["steps"])
        lines += [_step(pad, step, words) for step in steps]
    if pad.current_step and pad.current_step not in steps:
        lines.append(words["step"].format(_line(pad.current_step)))
    if pad.decisions:
        lines.append(words["decisions"])
        for decision in pad.decisions:
            what, why = _line(decision.what), _line(decision.why)
            lines.append("- " + (words["because"].format(what, why) if why else what))
    if pad.blockers:
        lines.append(words["blockers"])
        lines += [f"- {_line(blocker)}" for blocker in pad.blockers]
    return "\n".join(lines)


def _step(pad: Scratchpad, step: str, words: dict[str, str]) -> str:
    text = _line(step)
    if step in pad.completed:
        return f"- [x] {text}"
    return f"- [ ] {words['here'].format(text) if step == pad.current_step else text}"


def _language(pad: Scratchpad) -> Language:
    said = (
        pad.current_goal,
        *pad.sub_goals,
        *(decision.what for decision in pad.decisions),
        *pad.blockers,
    )
    return language_of("\n".join((*said, pad.current_step)))


def _line(text: str) -> str:
    """Return an entry as one line, so that it cannot pass for another one."""
    return " ".join(text.split())
