"""Route a message by rules: whether memory should answer it, and whether and where to keep it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from recollect.domain.write import Claim, Namespace, Route, WritePolicy
from recollect.language.claims import moods
from recollect.language.extraction.message import said_by_user
from recollect.language.extraction.sentences import Utterance, readable, sentences

_NAMESPACES: Final[Mapping[str, Namespace]] = {
    "preference": "user-profile",
    "user": "user-profile",
    "feedback": "user-profile",
    "sentiment": "user-profile",
    "convention": "user-profile",
    "project": "domain-facts",
    "domain-facts": "domain-facts",
    "reference": "domain-facts",
    "decision": "task-traces",
    "follow-up": "task-traces",
    "task-traces": "task-traces",
    "tool-effects": "tool-effects",
}
_LOOK_FIRST: Final[tuple[Namespace, ...]] = ("user-profile", "domain-facts")
_LOOK_BACK: Final[tuple[Namespace, ...]] = (*_LOOK_FIRST, "task-traces", "tool-effects")
_MAX_REASON_CHARACTERS: Final = 80
_ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)


def route(message: str, *, policy: WritePolicy = "auto") -> Route:
    """Route a message by rules; recall is cheap, so every question and request gets one."""
    spoken = [sentence.plain for sentence in sentences(readable(message))]
    asked = [sentence for sentence in spoken if moods.stance(sentence) in {"asked", "ordered"}]
    back = [sentence for sentence in spoken if moods.points_back(sentence)]
    claims = _kept(message, policy)
    should_read = bool(asked or back)
    return Route(
        should_read=should_read,
        should_write=bool(claims),
        namespaces=_namespaces(claims)
        or ((_LOOK_BACK if back else _LOOK_FIRST) if should_read else ()),
        reason=_reason(claims, message, (*back, *asked)),
    )


def _kept(message: str, policy: WritePolicy) -> list[Claim]:
    """Return the claims of the message that the policy allows to be written."""
    if policy == "off":
        return []
    claims = said_by_user(_utterance(message))
    return claims if policy == "auto" else [claim for claim in claims if claim.explicit]


def _namespaces(claims: Sequence[Claim]) -> tuple[Namespace, ...]:
    return tuple(dict.fromkeys(_NAMESPACES[claim.category] for claim in claims))


def _reason(claims: Sequence[Claim], message: str, asked: Sequence[str]) -> str:
    """Return the words that decided, those for writing first."""
    if claims:
        evidence = claims[0].evidence[0]
        return f"{claims[0].category}: {message[evidence.start : evidence.end]}"[
            :_MAX_REASON_CHARACTERS
        ]
    return asked[0][:_MAX_REASON_CHARACTERS] if asked else ""


def _utterance(message: str) -> Utterance:
    # Routing looks at words only: when they were said does not matter.
    return Utterance(id="", role="user", speaker="", text=message, at=_ANY_TIME)
