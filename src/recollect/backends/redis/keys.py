"""The names of keys in Redis.

Everything of a scope has the same hash tag, `{org:workspace:agent:user}`, so that a cluster keeps
it on one server. Within a part of it, what could end the part or the tag is percent-encoded.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

from recollect.domain.scope import Scope
from recollect.errors import InvalidInput
from recollect.ports.state import StateKey

# Letters of any script stay readable. Everything else might mean something to Redis or to us.
_SPECIAL: Final = re.compile(r"[^\w.@+~-]")
_TAG: Final = re.compile(r"\{([^{}:]*):([^{}:]*):([^{}:]*):([^{}:]*)\}")
_NOBODY: Final = "-"
# The caches: answers of recall, and vectors of texts.
ANSWERS: Final = "recall"
VECTORS: Final = "embedding"
CACHES: Final = (ANSWERS, VECTORS)


class Keys:
    """The names of the keys of one memory, all of which begin alike."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    @property
    def owner(self) -> str:
        """Whose keys these are: the identity of the database."""
        return f"{self._prefix}:owner"

    @property
    def run(self) -> str:
        """Which run of the server has all of this: another one may have an older copy."""
        return f"{self._prefix}:run"

    @property
    def channel(self) -> str:
        """The channel on which servers tell each other what has changed."""
        return f"{self._prefix}:changes"

    def state(self, key: StateKey) -> str:
        """A value of a session."""
        return f"{self.session(key.scope, key.session)}:{_encoded(key.name)}"

    def session(self, scope: Scope, session: str) -> str:
        """What the keys of a session begin with."""
        return f"{self._prefix}:state:{tag(scope)}:{_encoded(session)}"

    def short(self, scope: Scope) -> str:
        """The ids of the short-term buffer, by time and importance."""
        return f"{self._prefix}:short:{tag(scope)}"

    def short_entry(self, scope: Scope, record: str) -> str:
        """An entry of the short-term buffer."""
        return f"{self.short(scope)}:{_encoded(record)}"

    def procedures(self, scope: Scope) -> str:
        """The ids of the procedures that are used most."""
        return f"{self._prefix}:procedures:{tag(scope)}"

    def procedure(self, scope: Scope, record: str) -> str:
        """A procedure."""
        return f"{self.procedures(scope)}:{_encoded(record)}"

    def number(self, database: str, scope: int) -> str:
        """The names of the scope that has this number in a database."""
        return f"{self._prefix}:scope:{database}:{scope}"

    def cached(self, kind: str, digest: str) -> str:
        """An entry of a cache."""
        return f"{self._prefix}:{kind}:{digest}"

    def is_cached(self, key: str) -> bool:
        """Return whether a key is an entry of a cache."""
        return key.startswith(tuple(f"{self._prefix}:{kind}:" for kind in CACHES))

    def every(self) -> str:
        """The pattern that all keys match."""
        return f"{self._prefix}:*"


def tag(scope: Scope) -> str:
    """Return the hash tag of a scope; different scopes have different ones."""
    parts = (scope.org, scope.workspace, scope.agent, scope.user)
    return "{" + ":".join(_NOBODY if part is None else _encoded(part) for part in parts) + "}"


def scope_in(key: str) -> Scope | None:
    """Return the scope that a key belongs to, if it belongs to one."""
    found = _TAG.search(key)
    if found is None:
        return None
    org, workspace, agent, user = (
        None if part == _NOBODY else unquote(part) for part in found.groups()
    )
    try:
        return Scope(org=org or "", workspace=workspace or "", agent=agent, user=user)
    except InvalidInput:
        # Somebody else's key.
        return None


def _encoded(part: str) -> str:
    return _SPECIAL.sub(lambda special: quote(special[0], safe=""), part)
