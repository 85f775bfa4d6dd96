"""The sections of the settings, each with its defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import tzinfo
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeGuard, cast, get_type_hints

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic.fields import FieldInfo

from recollect.domain.sections import Days, Share
from recollect.domain.sharing import SHARED_TYPES, shared_type
from recollect.domain.times import zone_of
from recollect.domain.write import WritePolicy
from recollect.errors import InvalidInput
from recollect.settings.place import (
    checked_redis_url,
    checked_url,
    checked_vector_url,
    has_password,
    qdrant_url,
    server_kind,
    with_vector_store_apart,
    without_local_url,
)
from recollect.settings.sources import PASSWORD_PREFIX


def _expand_home(path: object) -> object:
    """Return a path with `~` expanded; None for an empty one."""
    if not isinstance(path, str | Path):
        return path
    try:
        return Path(path).expanduser() if str(path) else None
    except RuntimeError as unknown:
        raise ValueError(str(unknown)) from None


Place = Annotated[Path, BeforeValidator(_expand_home)]
PlaceOrNone = Annotated[Path | None, BeforeValidator(_expand_home)]


Backend = Literal["sqlite", "in_memory", "json"]
AgentBackend = Literal["sqlite", "in_memory", "json", "mysql", "postgresql"]
ServerUrl = Annotated[str, AfterValidator(checked_url)]
VectorUrl = Annotated[str, AfterValidator(checked_vector_url)]
RedisUrl = Annotated[str, AfterValidator(checked_redis_url)]


class Section(BaseModel):
    """A section that only settings use; the others are plain values (`domain.sections`)."""

    # The plain values are checked by the same rules, also those that code made.
    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_default=True, revalidate_instances="always"
    )


@cache
def fields_of(section: type[Any]) -> Mapping[str, FieldInfo]:
    """Return the fields of a section by name."""
    if issubclass(section, BaseModel):
        return section.model_fields
    types = get_type_hints(section, include_extras=True)
    return {
        field.name: FieldInfo.from_annotated_attribute(types[field.name], field)
        for field in fields(section)
    }


def default_of(field: FieldInfo) -> object:
    """Return what a setting is that nobody set; pydantic would inspect its maker each time."""
    make = cast("Callable[[], object] | None", field.default_factory)
    return field.default if make is None else make()


def is_section(kind: object) -> TypeGuard[type[Any]]:
    """Return whether this is the type of a section."""
    return isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, BaseModel))


def leaves(
    section: object, before: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any, FieldInfo]]:
    """Yield the place, the value and the field of every setting in a section."""
    for name, field in fields_of(type(section)).items():
        value: object = getattr(section, name)
        place = (*before, name)
        if is_section(type(value)):
            yield from leaves(value, place)
            continue
        table = cast("dict[str, object]", value) if isinstance(value, dict) else {}
        # The sections of a table with names, such as agents.
        named = {key: entry for key, entry in table.items() if is_section(type(entry))}
        for key, entry in named.items():
            yield from leaves(entry, (*place, key))
        if not named:
            yield place, value, field


def _known_zone(name: str) -> str:
    try:
        zone_of(name)
    except InvalidInput as problem:
        raise ValueError(problem.hint) from None
    return name


class ScopeSettings(Section):
    """The default caller."""

    org: str = "local"
    workspace: str = "default"
    agent: str | None = None
    user: str | None = "me"
    time_zone: Annotated[str, AfterValidator(_known_zone)] = Field(
        default="",
        description="where people are, such as Asia/Shanghai or +08:00, which decides what day it "
        "is for them; a time with another offset has its own; empty = where this machine is",
    )
    namespaces: dict[str, str] = Field(
        default_factory=dict,
        description="agent → prefix of its namespace in the tools, such as sql → sql_memories",
    )

    @property
    def zone(self) -> tzinfo | None:
        """Return the time zone of people; None is this machine's."""
        return zone_of(self.time_zone)


class AgentSettings(Section):
    """The settings of one agent."""

    enabled: bool = Field(
        default=True, description="false = no block for its prompt, no guide and no memory tools"
    )
    prefetch_limit: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None,
        validation_alias=AliasChoices("prefetch_limit", "prefetchLimit"),
        description="maximum hits for a prompt; empty = recall.prefetch_limit",
    )
    store: str = Field(
        default="", description="the name of a store under `stores`; empty = the common one"
    )
    backend: AgentBackend | None = Field(
        default=None, description="kind of its own store; empty = the common one"
    )
    sqlite_path: PlaceOrNone = Field(
        default=None,
        validation_alias=AliasChoices("sqlite_path", "sqlitePath"),
        description="its own database file, relative to data_dir; empty = the common one",
    )
    url: ServerUrl = Field(
        default="",
        repr=False,
        description="its own database server, with backend mysql or postgresql; empty = that of "
        "storage.url",
    )
    password_env: str = Field(
        default="",
        pattern=rf"^({PASSWORD_PREFIX}\w+)?$",
        description=f"the variable that holds the password for url; begins with {PASSWORD_PREFIX}",
    )
    vectors: VectorUrl = Field(
        default="",
        repr=False,
        description="the vector store of its own store; empty = that of storage.vectors",
    )
    role: str = Field(default="", description="its role; some shared types need one")
    write_policy: WritePolicy | None = Field(
        default=None, description="what of a conversation becomes memory; empty = writing.policy"
    )
    children: tuple[str, ...] = Field(
        default=(), description="agents whose memory this one may read and write"
    )

    _with_vector_store_apart = model_validator(mode="before")(with_vector_store_apart)

    @model_validator(mode="after")
    def _has_one_store(self) -> AgentSettings:
        if self.store and (self.backend or self.sqlite_path or self.url):
            raise ValueError("a named store already has a backend and a place")
        if self.backend not in (None, "sqlite") and self.sqlite_path is not None:
            raise ValueError(f"{self.backend} has no sqlite_path")
        if self.url and server_kind(self.url) != self.backend:
            raise ValueError(f"url is for backend {server_kind(self.url)}")
        if self.password_env and (not self.url or has_password(self.url)):
            raise ValueError("password_env needs a url without a password")
        return self


class StoreSettings(Section):
    """A store that agents may use instead of the common one."""

    backend: Backend = "sqlite"
    path: PlaceOrNone = Field(
        default=None,
        description="database file, or folder of a journal, relative to data_dir; empty = "
        "NAME.db, or NAME.journal, there",
    )
    url: ServerUrl = Field(
        default="",
        repr=False,
        description="postgresql://…, mysql://…, json:///FOLDER, in_memory://; empty = a file",
    )

    vectors: VectorUrl = Field(
        default="", repr=False, description="its vector store; empty = that of storage.vectors"
    )

    _without_local_url = model_validator(mode="before")(without_local_url)
    _with_vector_store_apart = model_validator(mode="before")(with_vector_store_apart)

    @model_validator(mode="after")
    def _is_in_one_place(self) -> StoreSettings:
        if self.url and (self.path is not None or self.backend != "sqlite"):
            raise ValueError("a store with a url has no path and no other kind")
        return self


class StorageSettings(Section):
    """Where memory is stored."""

    backend: Backend = "sqlite"
    path: PlaceOrNone = Field(
        default=None, description="database file, or folder of a journal; empty = in data_dir"
    )
    url: ServerUrl = Field(
        default="",
        repr=False,
        description="postgresql://…, mysql://…, json:///FOLDER, in_memory://; empty = a file",
    )
    connections: Annotated[int, Field(ge=1, le=200)] = Field(
        default=8, description="connections to a database server, for reading and for writing each"
    )
    spool: bool | None = Field(
        default=None,
        description="keep what is remembered and observed on this machine while the database "
        "server is away, and store it afterwards; empty = yes for a server; a file has no spool",
    )
    spool_mb: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        default=256, description="maximum size of what waits for a server"
    )
    synchronous: Literal["full", "normal", "off"] = "full"
    busy_timeout: Annotated[float, Field(gt=0)] = 10.0
    erase_in_place: bool = Field(
        default=False,
        description="overwrite forgotten content inside the live SQLite file instead of VACUUM",
    )
    vectors: VectorUrl = Field(
        default="",
        repr=False,
        description="vector store of large scopes: qdrant://HOST:6333, milvus://HOST:19530, "
        "postgresql://…, or pgvector in the same PostgreSQL; empty = none",
    )
    vectors_also: VectorUrl = Field(
        default="",
        repr=False,
        description="a second vector store that is kept up to date too, and asked while the first "
        "one is away; the two may change places at any time; a key of its own stands in the URL, "
        "qdrant://:KEY@HOST:6333; empty = none",
    )
    vectors_from: Annotated[int, Field(ge=1)] = Field(
        default=100_000,
        description="units of a scope from which on the vector store searches it; smaller ones are "
        "searched exactly in this process",
    )
    vectors_exact: Annotated[int, Field(ge=0)] = Field(
        default=500_000,
        description="units of a scope up to which this process searches it while the vector store "
        "is away or is being built",
    )
    state: RedisUrl = Field(
        default="",
        repr=False,
        description="redis://HOST:PORT or rediss://…, the same for all servers: a mirror of session"
        " state and short-term memory, and shared caches; empty = none",
    )
    state_password: str = Field(
        default="", repr=False, description="password for it, if its URL has none"
    )
    state_prefix: str = Field(
        default="memory",
        pattern=r"^[A-Za-z0-9_-]{1,40}$",
        description="what its keys begin with; another one for every database that uses it",
    )
    qdrant_url: str = Field(
        default="", description="the server of backend = qdrant; empty = http://localhost:6333"
    )
    qdrant_key: str = Field(
        default="", repr=False, description="key of a Qdrant server whose URL has none"
    )

    _without_local_url = model_validator(mode="before")(without_local_url)
    _with_vector_store_apart = model_validator(mode="before")(with_vector_store_apart)

    @model_validator(mode="before")
    @classmethod
    def _with_qdrant_as_vector_store(cls, section: object) -> object:
        """Return the section with the back-end `qdrant` as SQLite with vectors in Qdrant."""
        if not isinstance(section, dict):
            return section
        given = cast("dict[str, Any]", section)
        if given.get("backend") != "qdrant":
            return given
        address = given.get("qdrant_url") or "http://localhost:6333"
        return {"vectors": qdrant_url(address), **given, "backend": "sqlite"}


class EmbeddingSettings(Section):
    """The embedding model."""

    model: str = Field(
        default="",
        description="empty = the local default; none; folder:PATH; openai:NAME; fastembed:NAME; "
        "sentence-transformers:NAME",
    )
    dimension: Annotated[int, Field(ge=1)] | None = None
    folder: PlaceOrNone = Field(default=None, description="folder of the default model")
    pooling: Literal["mean", "cls"] | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
    longest: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="maximum tokens of a text"
    )
    languages: tuple[str, ...] = Field(default=(), description="empty = as the model says")
    base_url: str = ""
    api_key: str = Field(default="", repr=False)
    batch_size: Annotated[int, Field(ge=1)] = 64
    patience: Annotated[float, Field(gt=0)] = Field(
        default=1.0,
        description="seconds that a write waits for an endpoint; what is late is made afterwards",
    )
    timeout: Annotated[float, Field(gt=0)] = 30.0
    retries: Annotated[int, Field(ge=0)] = 3


# --- Settings of shared memory: who decides on proposals, and which need no decision --------------


def _known_type(name: str) -> str:
    try:
        return shared_type(name).name
    except InvalidInput:
        raise ValueError(f"is none of: {', '.join(SHARED_TYPES)}") from None


class WorkspaceSettings(Section):
    """The settings of one workspace."""

    coordinator: str = Field(
        default="",
        description="the agent that decides on proposals, or person; empty = whichever agent has "
        "the role coordinator. A person always may",
    )


class SharingSettings(Section):
    """How proposals become shared memory."""

    auto_approve: tuple[Annotated[str, AfterValidator(_known_type)], ...] = Field(
        default=(), description="types whose proposals are approved automatically"
    )
    auto_confidence: Share = Field(
        default=0.8, description="minimum confidence of a proposal for automatic approval"
    )
    proposal_days: Days = Field(
        default=14, description="how long a proposal waits before it expires"
    )


# --- Settings of the server -----------------------------------------------------------------------


class TokenSettings(Section):
    """Tokens (JWT) of an identity provider; empty = keys only."""

    jwks: str = Field(
        default="", description="file or https URL of the public keys; empty = no tokens"
    )
    issuer: str = Field(default="", description="required value of `iss`; empty = any")
    audience: str = Field(default="", description="required value of `aud`; empty = any")
    claim: str = Field(
        default="recollect",
        description="claim with the role, workspaces, users and agents, as in a key",
    )


class ServerSettings(Section):
    """Access to the HTTP server, and its limits."""

    sign_in_hours: Annotated[float, Field(gt=0, le=24 * 90)] = Field(
        default=12, description="how long a browser stays signed in"
    )
    requests_per_minute: Annotated[int, Field(ge=1)] = Field(
        default=6_000, description="maximum requests of a key per minute"
    )
    concurrent_requests: Annotated[int, Field(ge=1)] = Field(
        default=64, description="maximum concurrent requests of a key"
    )
    recall_timeout: Annotated[float, Field(gt=0)] = Field(
        default=30.0, description="seconds after which a recall or a prompt is aborted"
    )
    log_requests: bool = Field(
        default=True, description="log a line for each request, without its content"
    )
    offered_models: tuple[str, ...] = Field(
        default=(), description="embedding models that a request may switch to, beside the own one"
    )
    traces_endpoint: str = Field(
        default="",
        description="OTLP address of an OpenTelemetry collector, such as"
        " http://127.0.0.1:4318/v1/traces; empty = no traces",
    )
    tokens: TokenSettings = TokenSettings()
