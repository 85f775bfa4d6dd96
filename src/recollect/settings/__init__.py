"""The settings, from code, environment, file and defaults, in this order."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast, get_args
from urllib.parse import urlsplit

from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.fields import FieldInfo

from recollect.domain.archive import contents_beside
from recollect.domain.files import data_folder
from recollect.domain.model_tier import TierNames
from recollect.domain.sections import (
    USUAL_DECAY,
    ArchiveSettings,
    BufferSettings,
    CompressionSettings,
    KnowledgeSettings,
    LifecycleSettings,
    NotesSettings,
    ProfileSettings,
    RecallSettings,
    RerankSettings,
    RetentionRuleSettings,
    S3Settings,
    SessionSettings,
)
from recollect.errors import SettingsError
from recollect.settings.place import (
    NO_VECTOR_STORE,
    SAME_SERVER,
    checked_place,
    folder_name,
    is_database_file,
    is_store_url,
    server_kind,
    told_url,
    with_password,
)
from recollect.settings.sections import (
    AgentSettings,
    Backend,
    EmbeddingSettings,
    Place,
    ScopeSettings,
    Section,
    ServerSettings,
    SharingSettings,
    StorageSettings,
    StoreSettings,
    WorkspaceSettings,
    default_of,
    fields_of,
    is_section,
    leaves,
)
from recollect.settings.sources import (
    PREFIX,
    from_environment,
    from_file,
    is_given,
    overlay,
    settings_file,
    variables_by_place,
)
from recollect.settings.working import (
    ModelSettings,
    WritingSettings,
    access_of,
    tier_names,
)

__all__ = ["Settings", "settings_file"]

_SERVERS: Final = ("mysql", "postgresql")


class Settings(Section):
    """All settings. `Settings.load()` also reads the file and the environment."""

    data_dir: Place = Field(default_factory=data_folder)
    scope: ScopeSettings = ScopeSettings()
    agents: dict[str, AgentSettings] = Field(default_factory=dict)
    stores: dict[str, StoreSettings] = Field(default_factory=dict)
    workspaces: dict[str, WorkspaceSettings] = Field(default_factory=dict)
    sharing: SharingSettings = SharingSettings()
    storage: StorageSettings = StorageSettings()
    server: ServerSettings = ServerSettings()
    recall: RecallSettings = RecallSettings()
    profile: ProfileSettings = ProfileSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    rerank: RerankSettings = RerankSettings()
    session: SessionSettings = SessionSettings()
    compression: CompressionSettings = CompressionSettings()
    archive: ArchiveSettings = ArchiveSettings()
    s3: S3Settings = S3Settings()
    notes: NotesSettings = NotesSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    models: ModelSettings = ModelSettings()
    writing: WritingSettings = WritingSettings()
    buffer: BufferSettings = BufferSettings()
    lifecycle: LifecycleSettings = LifecycleSettings()
    retention: tuple[RetentionRuleSettings, ...] = Field(
        default=(), description="rules that are applied when memory is swept"
    )

    # Whether `recall.decay_lambda` is set, which gives recency its usual weight.
    _sets_decay: bool = PrivateAttr(default=False)

    @property
    def database(self) -> Path:
        """Return the file of this memory: the agent's own, or the common one."""
        if self.server_url:
            # This file does not exist, but its name determines where files beside it are.
            return self.data_dir / "servers" / folder_name(self.server_url) / "memory.db"
        backend, _ = self.store_of(self.scope.agent)
        common = self.storage.path if backend == self.storage.backend else None
        own = self._own_database(self.scope.agent) or common
        if backend == "json":
            # Built from the journal beside it, and deleted when the memory is closed.
            return (own or self.data_dir / "journal") / "working.db"
        return own or self.data_dir / "memory" / "memory.db"

    @property
    def server_url(self) -> str:
        """Return the URL of the database server of this memory; empty for a file."""
        its = self.agent(self.scope.agent)
        if its.store:
            return self._named_store(its.store).url
        if its.backend in _SERVERS:
            return self._agents_server(its)
        is_elsewhere = its.backend or its.sqlite_path or self.storage.backend != "sqlite"
        return "" if is_elsewhere else self.storage.url

    @property
    def vector_stores(self) -> tuple[str, ...]:
        """Return the URLs of the vector stores of this memory, with keys, the one to ask first."""
        its, storage = self.agent(self.scope.agent), self.storage
        own = self._named_store(its.store).vectors if its.store else its.vectors
        also, key = storage.vectors_also, storage.qdrant_key
        first = self._vector_store(own or storage.vectors, key, is_own=bool(own))
        # The key is the first one's; another server must not see it.
        second = self._vector_store(also, "", is_own=False) if first else ""
        return tuple(dict.fromkeys(filter(None, (first, second))))

    def _vector_store(self, chosen: str, key: str, *, is_own: bool) -> str:
        if chosen in ("", NO_VECTOR_STORE) or self.is_temporary:
            return ""
        if chosen == SAME_SERVER:
            if self.server_url and server_kind(self.server_url) == "postgresql":
                return self.server_url
            if is_own or not self.has_own_store(self.scope.agent):
                raise SettingsError(
                    f"vectors = {SAME_SERVER!r} needs a memory on PostgreSQL, and this one is "
                    f"{self.store_name}",
                    code="no_connection",
                    hint="Give the URL of the PostgreSQL that is to hold the vectors.",
                )
            return ""
        place = urlsplit(chosen)
        lacks_key = place.scheme.startswith("qdrant") and place.netloc and "@" not in place.netloc
        return with_password(chosen, key) if key and lacks_key else chosen

    @property
    def store_name(self) -> str:
        """Return the name of the store for people, without a password."""
        if self.is_journal:
            return f"json://{self.database.parent}"
        return told_url(self.server_url) if self.server_url else str(self.database)

    @property
    def is_temporary(self) -> bool:
        """Return whether this memory ends with the process."""
        return self.store_of(self.scope.agent)[0] == "in_memory"

    @property
    def is_journal(self) -> bool:
        """Return whether this memory is a journal of JSON lines."""
        return self.store_of(self.scope.agent)[0] == "json"

    def has_own_store(self, agent: str | None) -> bool:
        """Return whether an agent has another store than the common one."""
        return self.store_of(agent) != self.store_of(None)

    def of_agent(self, agent: str | None) -> Settings:
        """Return the settings for the store of an agent."""
        scope = self.scope.model_copy(update={"agent": agent})
        return self.model_copy(update={"scope": scope})

    def store_of(self, agent: str | None) -> tuple[Backend, str]:
        """Return the kind and the place of an agent's store; equal for the same store."""
        its = self.agent(agent)
        if its.store:
            named = self._named_store(its.store)
            # Agents of a named in-memory store share it.
            own = its.store if named.backend == "in_memory" else str(self._own_database(agent))
            return named.backend, named.url or own
        if its.backend in _SERVERS:
            return "sqlite", self._connection_of(its)
        backend = its.backend or ("sqlite" if its.sqlite_path else self.storage.backend)
        if backend == "in_memory":
            # An in-memory store of a single agent is not shared.
            return backend, (agent or "") if its.backend else ""
        # With a `backend` of its own, an agent does not use the server of the common store.
        common = str(self.storage.path or "") if its.backend else self._common_place
        return backend, str(self._own_database(agent) or common)

    def at_store_of(self, agent: str | None) -> Settings:
        """Return the settings with an agent's store as the common one, wherever it is moved to."""
        its = self.of_agent(agent)
        backend, _ = self.store_of(agent)
        path = None if its.server_url or its.is_temporary else its.database
        first, second = (*its.vector_stores, "", "")[:2]
        place: dict[str, Any] = {
            "backend": backend,
            "path": path.parent if path is not None and backend == "json" else path,
            "url": its.server_url,
            "vectors": first,
            "vectors_also": second,
        }
        return its.of_agent(None).model_copy(
            update={"storage": self.storage.model_copy(update=place)}
        )

    def _connection_of(self, its: AgentSettings) -> str:
        url = its.url or self.storage.url
        if not url or server_kind(url) != its.backend:
            raise SettingsError(
                f"An agent with backend = {its.backend!r} needs a url, or storage.url of this kind",
                code="no_connection",
                hint=f"Give url = '{its.backend}://USER@HOST/DATABASE'.",
            )
        return url

    def _agents_server(self, its: AgentSettings) -> str:
        """Return the URL of an agent's server, or of the common one of the same kind."""
        url = self._connection_of(its)
        if not its.password_env:
            return url
        password = os.environ.get(its.password_env)
        if password is None:
            raise SettingsError(
                f"The variable {its.password_env} with the password for {url} is not set",
                code="password_missing",
                hint=f"Set {its.password_env} where this runs, and start it again.",
            )
        return with_password(url, password)

    @property
    def _common_place(self) -> str:
        return self.storage.url or str(self.storage.path or "")

    def _own_database(self, agent: str | None) -> Path | None:
        """Return an agent's own file; a relative path is inside the data folder."""
        its = self.agent(agent)
        own = its.sqlite_path
        if its.store:
            named = self._named_store(its.store)
            suffix = "journal" if named.backend == "json" else "db"
            own = named.path or Path(f"{its.store}.{suffix}")
        elif its.backend == "json":
            own = Path(f"{agent}.journal")
        return None if own is None else self.data_dir / own

    def _named_store(self, name: str) -> StoreSettings:
        if name not in self.stores:
            raise SettingsError(
                f"There is no store {name!r}",
                code="unknown_store",
                hint="Declare it in the settings file under stores.",
            )
        return self.stores[name]

    @property
    def blobs(self) -> str | Path:
        """Return where blobs are stored: beside the database, or where the settings say."""
        return self.archive.place or contents_beside(self.database)

    @property
    def tiers(self) -> TierNames:
        """Return the model of each tier; empty for none, or for `embed` the local one."""
        return tier_names(self.models, self.embedding, self.rerank)

    @property
    def embedder(self) -> EmbeddingSettings:
        """Return the embedding section for the effective model, wherever it is named."""
        return self.embedding.model_copy(
            update=access_of(self.embedding, self.tiers.embed, self.models)
        )

    @property
    def reranker(self) -> RerankSettings:
        """Return the rerank section for the effective model, wherever it is named."""
        return replace(self.rerank, **access_of(self.rerank, self.tiers.rerank, self.models))

    @property
    def effective_recall(self) -> RecallSettings:
        """Return the recall section with the weight of recency that is in effect."""
        if self.recall.decay_weight is not None:
            return self.recall
        has_decay = self._sets_decay and self.recall.decay_lambda > 0
        return replace(self.recall, decay_weight=USUAL_DECAY if has_decay else 0.0)

    def agent(self, name: str | None) -> AgentSettings:
        """Return the settings of an agent; the defaults if it is not declared."""
        return self.agents.get(name or "", AgentSettings())

    @property
    def log_file(self) -> Path:
        return self.data_dir / "logs" / "recollect.log"

    @property
    def outgoing_dir(self) -> Path:
        """Return the folder of copies that are being sent to somebody."""
        return self.data_dir / "outgoing"

    def changed(self) -> dict[str, str]:
        """Return the settings that differ from the defaults, by name, without secrets."""
        return {
            ".".join(place): str(value) if field.repr else "(secret)"
            for place, value, field in leaves(self)
            if value != default_of(field)
        }

    @classmethod
    def load(cls, given: Mapping[str, Any] | None = None, *, file: Path | None = None) -> Settings:
        """Load settings from the file, overridden by the environment and by `given`."""
        tree = from_file(file or settings_file())
        variables = variables_by_place(os.environ)
        overlay(tree, from_environment(variables, os.environ))
        overlay(tree, given or {})
        used = {
            place: name for place, name in variables.items() if not is_given(given or {}, place)
        }
        return cls.model_validate(tree, context=used)

    @classmethod
    def at(cls, place: str | Path) -> Settings:
        """Load settings for a database file, a data folder or a URL.

        Database files end in `.db`, `.sqlite` or `.sqlite3`; URLs are `postgresql://…`,
        `mysql://…` and `json:///FOLDER`.
        """
        if is_store_url(place):
            return cls.load({"storage": {"url": str(place), "path": None}})
        path = checked_place(place)
        if is_database_file(path):
            return cls.load({"storage": {"path": path, "url": ""}, "data_dir": path.parent})
        # Ignore a database that the environment names: it is not in this folder.
        return cls.load({"storage": {"path": None, "url": ""}, "data_dir": path})

    @model_validator(mode="after")
    def _has_connections(self) -> Settings:
        for its in self.agents.values():
            if its.backend in _SERVERS:
                self._connection_of(its)
        return self

    @model_validator(mode="wrap")
    @classmethod
    def _raise_settings_error(
        cls, tree: Any, checked: ModelWrapValidatorHandler[Settings], info: ValidationInfo
    ) -> Settings:
        try:
            settings = checked(tree)
        except ValidationError as problems:
            variables = cast("Mapping[tuple[str, ...], str]", info.context or {})
            message = "; ".join(_describe(problem, variables) for problem in problems.errors())
            raise SettingsError(
                f"Settings cannot be used: {message}",
                hint=f"`recollect where` shows the settings file; variables begin with {PREFIX}.",
            ) from None
        if isinstance(tree, Mapping):
            settings._sets_decay = _sets_decay(cast("Mapping[str, object]", tree).get("recall"))
        return settings


def _sets_decay(recall: object) -> bool:
    if isinstance(recall, RecallSettings):
        return recall.decay_lambda != RecallSettings().decay_lambda
    return isinstance(recall, Mapping) and "decay_lambda" in recall


def _describe(problem: Any, variables: Mapping[tuple[str, ...], str]) -> str:
    place = tuple(str(part) for part in problem["loc"])
    name = ".".join(place)
    named = [name for at, name in variables.items() if at[: len(place)] == place]
    origin = f" (from {', '.join(named)})" if named else ""
    if problem["type"] not in ("extra_forbidden", "unexpected_keyword_argument"):
        value = f" = {problem['input']!r}" if _may_be_told(place, problem["input"]) else ""
        return f"{name}{value}: {problem['msg']}{origin}"
    similar = difflib.get_close_matches(name, _names(Settings), n=1)
    return f"{name} is unknown{origin}" + (f", did you mean {similar[0]}?" if similar else "")


def _may_be_told(place: tuple[str, ...], value: object) -> bool:
    """Return whether a value can be displayed: it is no secret, and no section with one."""
    inner: Any = Settings
    field: FieldInfo | None = None
    for part in place:
        if is_section(inner):
            field = fields_of(inner).get(part)
            inner = None if field is None else field.annotation
        else:
            # The name of an entry, such as a store.
            inner = next((it for it in get_args(inner) if it not in (str, Ellipsis)), None)
    is_whole = isinstance(value, Mapping) or is_section(type(value))
    return field is not None and field.repr and not is_whole


def _names(section: type[Any], before: str = "") -> Iterator[str]:
    for name, field in fields_of(section).items():
        yield before + name
        if is_section(field.annotation):
            yield from _names(field.annotation, f"{before}{name}.")
