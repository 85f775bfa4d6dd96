"""The form of answers about access: who is asking, keys and settings."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from recollect.domain.scope import Role
from recollect.domain.write import WritePolicy
from recollect.server.answers import Answer
from recollect.server.identity import Means
from recollect.settings.origins import Origin

_KEY: Final[dict[str, Any]] = {
    "id": "key_01kb2h5d7m2u8b",
    "name": "ci",
    "prefix": "rk_01kb2h5d7m2u",
    "role": "writer",
    "workspaces": ["local/default"],
    "users": [],
    "agents": [],
    "created_at": "2026-11-02T09:00:00Z",
    "expires_at": None,
    "last_used_at": None,
    "revoked_at": None,
}


class WhoAmI(Answer):
    """Who is asking; an empty list of workspaces, users or agents means all."""

    name: str
    means: Means = Field(
        description="open: this machine, as no key was ever made; or key, cookie, token"
    )
    key_id: str | None
    role: Role
    workspaces: list[str] = Field(description="each `org/workspace`")
    users: list[str]
    agents: list[str]
    expires_at: datetime | None
    csrf_token: str | None = Field(
        description="of a cookie: to be sent as X-CSRF-Token with every write"
    )


class Key(Answer):
    """A key, without its secret."""

    model_config = ConfigDict(json_schema_extra={"examples": [_KEY]})

    id: str
    name: str
    prefix: str = Field(description="how the key begins")
    role: Role
    workspaces: list[str]
    users: list[str]
    agents: list[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


class NewKey(Answer):
    """A key that was just made."""

    key: Key
    secret: str = Field(description="told this once, and kept nowhere")


class KeyPage(Answer):
    """Keys, a page at a time."""

    items: list[Key]
    next_cursor: str | None


class Setting(Answer):
    """A setting as it holds now."""

    name: str = Field(description="its place in the tree, such as recall.limit")
    value: Any = Field(description="`(secret)` if it is one")
    is_secret: bool
    origin: Origin
    variable: str | None = Field(description="the environment variable that sets it")
    description: str


class EffectiveSettings(Answer):
    """All settings that hold now, and where each comes from."""

    items: list[Setting]
    file: str = Field(description="the settings file, whether or not it is there")


class Agent(Answer):
    """An agent as it is set up now."""

    name: str
    enabled: bool
    store: str = Field(description="a name under `stores` in the settings file; empty = common")
    prefetch_limit: int | None
    write_policy: WritePolicy | None
    role: str
    children: list[str]
    origin: Literal["file", "database"]


class AgentPage(Answer):
    """Agents, a page at a time."""

    items: list[Agent]
    next_cursor: str | None
