"""A session's scratchpad: kept behind the state port, shown to the model on request."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Final

from recollect.domain.scope import Scope
from recollect.domain.scratchpad import Scratchpad, ScratchpadUpdate
from recollect.errors import StaleVersion
from recollect.ports.state import ABSENT, State, StateKey
from recollect.text.language import Language
from recollect.text.language import language as language_of

SCRATCHPAD: Final = "scratchpad"
SCRATCHPAD_TTL: Final = timedelta(minutes=30)
# Of all who write at once, one succeeds each time: more rivals than this one session never has.
_ATTEMPTS: Final = 50

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
    """The scratchpad of one session, gone after `ttl` without activity."""

    def __init__(
        self, state: State, scope: Scope, session: str, ttl: timedelta = SCRATCHPAD_TTL
    ) -> None:
        self._state = state
        self._key = StateKey(scope=scope, session=session, name=SCRATCHPAD)
        self._ttl = ttl

    async def read(self) -> Scratchpad:
        """As it is now; an empty one when nothing was written or it has expired."""
        pad, _ = await self._read()
        return pad

    async def update(self, update: ScratchpadUpdate) -> Scratchpad:
        """Add the news to whatever others have written meanwhile; the scratchpad after it."""
        for attempt in range(_ATTEMPTS):
            before, version = await self._read()
            after = before.updated(update)
            value = json.dumps(after.to_json(), ensure_ascii=False)
            try:
                await self._state.put(self._key, value, ttl=self._ttl, expected=version)
            except StaleVersion:
                if attempt == _ATTEMPTS - 1:
                    raise
            else:
                return after
        raise AssertionError("the last attempt returns or raises")

    async def touch(self) -> None:
        """The session is active: the time until the scratchpad expires starts anew."""
        await self._state.touch(self._key, self._ttl)

    async def clear(self) -> None:
        """The task is over."""
        await self._state.delete(self._key)

    async def _read(self) -> tuple[Scratchpad, int]:
        entry = await self._state.get(self._key)
        if entry is None:
            return Scratchpad(), ABSENT
        return Scratchpad.from_json(json.loads(entry.value)), entry.version


def render_scratchpad(pad: Scratchpad, language: Language | None = None) -> str:
    """The scratchpad as the model reads it, by default in its own language; empty when it is."""
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
    said = (pad.current_goal, *pad.sub_goals, *(it.what for it in pad.decisions), *pad.blockers)
    return language_of("\n".join((*said, pad.current_step)))


def _line(text: str) -> str:
    """An entry keeps to its line, or it could pass for another one."""
    return " ".join(text.split())
