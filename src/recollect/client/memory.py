"""RemoteMemory: the verbs of `Memory`, each one request to a server."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
import tarfile
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Final, Unpack, cast
from urllib.parse import unquote

from recollect.client.connection import Connection, at, decoded, error_of
from recollect.client.session import RemoteSession
from recollect.client.views import (
    RemoteAgents,
    RemoteArchives,
    RemoteAudit,
    RemoteItems,
    RemoteJobs,
    RemoteKeys,
    RemoteKnowledge,
    RemoteShared,
    RemoteToolbox,
    RemoteUpkeep,
    RemoteWorkspace,
    ScopedRemote,
    spelled_range,
)
from recollect.domain.archive import contents_beside
from recollect.domain.change import Changes
from recollect.domain.context import MemoryContext, Tongue
from recollect.domain.directory import LabelEntry, SessionEntry
from recollect.domain.embedding import Reindexing
from recollect.domain.fields import checked_items
from recollect.domain.filters import CommonFilters
from recollect.domain.followers import Reconciled
from recollect.domain.forgetting import Forgotten
from recollect.domain.graph import NameGraph
from recollect.domain.hit import Recalled
from recollect.domain.ids import new_id
from recollect.domain.job import Progress
from recollect.domain.memory_tools import memory_guide
from recollect.domain.meter import Meter, Metrics
from recollect.domain.operation import Operation
from recollect.domain.preview import ContextPreview
from recollect.domain.profile import Profile
from recollect.domain.record import Record, Version
from recollect.domain.scope import Caller, Role, Scope, namespace_of, parse_namespace
from recollect.domain.stats import SpoolStats, Stats
from recollect.domain.transfer import CopiedContents, ExportCounts, Imported, ImportedChats, MovedIn
from recollect.domain.turn import Turn
from recollect.domain.upkeep import BulkChange
from recollect.domain.write import Pending, Route, Trace, Written
from recollect.errors import Conflict, InvalidInput, NotAvailable, StorageError, Unreachable
from recollect.memory import Memory
from recollect.memory.administration import Agents, ApiKeys, BackgroundJobs
from recollect.memory.archives import ToolArchives
from recollect.memory.audit import AuditTrail
from recollect.memory.items import Items
from recollect.memory.knowledge import KnowledgeDocuments
from recollect.memory.shared import SharedMemory
from recollect.memory.upkeep import Upkeep
from recollect.memory.workspace import WorkspaceView
from recollect.transfer.chat_import import session_name
from recollect.transfer.foreign.sources import is_address, packed

if TYPE_CHECKING:
    from recollect.context.session import Session
    from recollect.keys.service import KeyService
    from recollect.settings import Settings
    from recollect.tools import Toolbox

_CHUNK: Final = 1 << 20
_PAUSE: Final = 0.5


async def connect(address: str, key: str | None = None) -> RemoteMemory:
    """The memory of the server at an address, seen by whom its settings name."""
    connection = Connection(address, key)
    try:
        told = await connection.ask("GET", at("scope"), None)
    except BaseException:
        await connection.close()
        raise
    return RemoteMemory(
        connection,
        decoded(Scope, told["scope"]),
        frozenset(told["disabled_agents"]),
        # A server of an earlier version does not tell.
        user_is_named=told.get("user_is_named", False),
    )


def _decided_there(what: str) -> NotAvailable:
    return NotAvailable(f"{what} is decided by the server", hint="GET /v1/whoami tells it.")


class RemoteMemory(ScopedRemote, Memory):
    """The memory of a server, seen from one scope; see `Memory` for what the verbs do."""

    TYPES: ClassVar[Mapping[str, Any]] = {
        kind.__name__: kind
        for kind in (
            BulkChange,
            Changes,
            ContextPreview,
            LabelEntry,
            MemoryContext,
            Metrics,
            NameGraph,
            Profile,
            Recalled,
            Reconciled,
            Record,
            Reindexing,
            Route,
            SessionEntry,
            Stats,
            Trace,
            Turn,
            Version,
            Written,
        )
    }

    def __init__(
        self,
        connection: Connection,
        scope: Scope,
        disabled_agents: frozenset[str],
        *,
        is_root: bool = True,
        user_is_named: bool = False,
    ) -> None:
        super().__init__(connection, scope)
        self._disabled_agents = disabled_agents
        self._is_root = is_root
        self._user_is_named = user_is_named
        self._session = new_id("sess")
        self._anonymous = new_id("anon")

    @property
    def caller_scope(self) -> Scope:
        return self._scope

    @property
    def caller(self) -> Caller:
        raise _decided_there("Who a caller is")

    @property
    def access(self) -> KeyService:
        raise _decided_there("Whether a key is right")

    @property
    def meter(self) -> Meter:
        raise _decided_there("What a server does")

    @property
    def spool(self) -> SpoolStats | None:
        raise NotAvailable(
            "What waits for a database is known on the server", hint="`stats()` tells it."
        )

    @property
    def settings(self) -> Settings:
        raise NotAvailable(
            "The settings of a remote memory are its server's",
            hint="`recollect where` shows them on the server's machine.",
        )

    @property
    def shared(self) -> SharedMemory:
        return RemoteShared(self._connection, self._scope)

    @property
    def upkeep(self) -> Upkeep:
        return RemoteUpkeep(self._connection, self._scope)

    @property
    def archives(self) -> ToolArchives:
        return RemoteArchives(self._connection, self._scope)

    @property
    def knowledge(self) -> KnowledgeDocuments:
        return RemoteKnowledge(self._connection, self._scope)

    @property
    def audit(self) -> AuditTrail:
        return RemoteAudit(self._connection, self._scope)

    @property
    def items(self) -> Items:
        return RemoteItems(self._connection, self._scope)

    @property
    def jobs(self) -> BackgroundJobs:
        return RemoteJobs(self._connection, self._scope)

    @property
    def agents(self) -> Agents:
        return RemoteAgents(self._connection)

    @property
    def keys(self) -> ApiKeys:
        return RemoteKeys(self._connection)

    @property
    def workspace(self) -> WorkspaceView:
        return RemoteWorkspace(self._connection, self._scope)

    def scope(
        self,
        *,
        agent: str | EllipsisType | None = ...,
        user: str | EllipsisType | None = ...,
        workspace: str | EllipsisType = ...,
        org: str | EllipsisType = ...,
        children: Iterable[str] | None = None,
        principal: str | None = None,
        role: Role | None = None,
    ) -> Memory:
        if (children, principal, role) != (None, None, None):
            raise NotAvailable(
                "Who an agent's children are, who asks and in which role is decided by the server",
                hint="Declare children in the server's settings, under agents.NAME.children; "
                "a key has a role.",
            )
        here = self._scope
        scope = Scope(
            org=here.org if isinstance(org, EllipsisType) else org,
            workspace=here.workspace if isinstance(workspace, EllipsisType) else workspace,
            agent=here.agent if isinstance(agent, EllipsisType) else agent,
            user=here.user if isinstance(user, EllipsisType) else user,
        )
        memory = RemoteMemory(self._connection, scope, self._disabled_agents, is_root=False)
        memory._anonymous = self._anonymous
        memory._user_is_named = self._user_is_named or not isinstance(user, EllipsisType)
        return memory

    def session(
        self, id: str | None = None, *, model: str | None = None, context_tokens: int | None = None
    ) -> Session:
        return RemoteSession(self._connection, self._scope, id, model, context_tokens)

    def guide(self, language: Tongue = "en") -> str:
        return "" if self._scope.agent in self._disabled_agents else memory_guide(language)

    def tools(self, language: Tongue = "en", *, session: str | None = None) -> Toolbox:
        is_enabled = self._scope.agent not in self._disabled_agents
        own = self._session if session is None else session
        return RemoteToolbox(self._connection, self._scope, own, language, is_enabled=is_enabled)

    async def once(
        self,
        key: str,
        request: Mapping[str, Any],
        work: Callable[[], Awaitable[Mapping[str, Any]]],
    ) -> Mapping[str, Any]:
        raise NotAvailable(
            "Work of one's own is not kept on a server",
            hint="Every write takes an Idempotency-Key over HTTP.",
        )

    async def user_names(self) -> frozenset[str]:
        return frozenset((await self._ask("GET", at("user-names")))["items"])

    async def forget(
        self,
        target: str | Iterable[str] | None = None,
        *,
        session: str | None = None,
        user: str | None = None,
        everything: bool = False,
        with_evidence: bool = False,
        all_agents: bool = False,
        dry_run: bool = False,
        verify: bool = False,
        progress: Progress | None = None,
        **filters: Unpack[CommonFilters],
    ) -> Forgotten:
        ids = [target] if isinstance(target, str) else list(target or ())
        body = {
            **_named(filters),
            "records": ids,
            "session": session,
            "user": user,
            "everything": everything,
            "with_evidence": with_evidence,
            "all_agents": all_agents,
            "dry_run": dry_run,
            "verify": verify,
        }
        path = at("forget", "stream")
        async with self._connection.download(path, self._scope, body=body) as response:
            async for line in response.aiter_lines():
                match json.loads(line):
                    case {"progress": {"done": done, "total": total}}:
                        if progress is not None:
                            progress(done, total)
                    case {"forgotten": forgotten}:
                        return decoded(Forgotten, forgotten)
                    case {"problem": problem}:
                        raise error_of(problem, problem["status"])
                    case _:
                        pass
        raise Unreachable(
            "The server ended its answer before it told what was forgotten",
            hint="What had begun goes on there; the same call with `dry_run` counts what is left.",
        )

    async def reindex(
        self,
        progress: Progress | None = None,
        *,
        model: str | None = None,
        background: bool = False,
    ) -> int:
        told = await self._ask("POST", at("reindex"), body={"model": model})
        now = decoded(Reindexing, told)
        pieces = now.lacking
        while now.is_going_on and not background:
            if progress is not None:
                progress(now.units - now.lacking, now.units)
            await asyncio.sleep(_PAUSE)
            now = await self.reindexing()
        return pieces

    async def backup(self, target: str | Path) -> CopiedContents:
        """Fetch a checked copy of the server's database; it is put here, at `target`."""
        place = Path(target)
        for path in (place, contents_beside(place)):
            if await asyncio.to_thread(path.exists):
                raise Conflict(
                    f"{path} exists already; a backup never overwrites a file",
                    code="file_exists",
                    hint="Give another name.",
                )
        with tempfile.TemporaryFile() as packed:
            async with self._connection.download(at("backup"), self._scope) as response:
                async for piece in response.aiter_bytes(_CHUNK):
                    await asyncio.to_thread(packed.write, piece)
                copied = int(response.headers["x-recollect-contents"])
                lost = response.headers["x-recollect-lost"]
                left_out = response.headers["x-recollect-left-out"]
            await asyncio.to_thread(_unpack, packed, place)
        return CopiedContents(
            copied=copied,
            lost=tuple(filter(None, lost.split(","))),
            agents_left_out=tuple(unquote(it) for it in left_out.split(",") if it),
        )

    async def export_to(
        self,
        target: str | Path | BinaryIO,
        *,
        all_scopes: bool = False,
        progress: Progress | None = None,
    ) -> ExportCounts:
        query = {"all_scopes": all_scopes}
        head = bytearray()
        with _written(target) as file:
            async with self._connection.download(at("export"), self._scope, query) as response:
                async for piece in response.aiter_bytes(_CHUNK):
                    if b"\n" not in head:
                        head += piece
                    await asyncio.to_thread(file.write, piece)
        counts = json.loads(head.partition(b"\n")[0])["counts"]
        return decoded(ExportCounts, counts)

    async def import_from(
        self,
        source: str | Path | BinaryIO,
        *,
        all_scopes: bool = False,
        skip_bad: bool = False,
        progress: Progress | None = None,
    ) -> Imported:
        query = {"all_scopes": all_scopes, "skip_bad": skip_bad}
        told = await self._connection.upload(at("import"), self._scope, query, _pieces(source))
        return decoded(Imported, told)

    async def import_chat(
        self,
        source: str | Path | BinaryIO,
        *,
        session: str | None = None,
        skip_bad: bool = False,
        progress: Progress | None = None,
    ) -> ImportedChats:
        query = {"session": session or session_name(source), "skip_bad": skip_bad}
        path = at("import", "chat")
        told = await self._connection.upload(path, self._scope, query, _pieces(source))
        return decoded(ImportedChats, told)

    async def move_in(
        self,
        source: str | Path | BinaryIO,
        origin: str,
        *,
        namespace: str | None = None,
        all_scopes: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> MovedIn:
        if is_address(source):
            raise InvalidInput(
                "A server does not call other addresses",
                code="bad_usage",
                hint="Import it where the database is, or save what the address answers to a file.",
            )
        query = {
            "origin": origin,
            "namespace": namespace,
            "all_scopes": all_scopes,
            "dry_run": dry_run,
        }
        with packed(source) as file:
            path = at("import", "from")
            told = await self._connection.upload(path, self._scope, query, _pieces(file))
        return decoded(MovedIn, told)

    async def close(self) -> Pending:
        """Close the connection; on a memory made by `scope()` this does nothing.

        The server reads what was said by itself.
        """
        if self._is_root:
            await self._connection.close()
        return Pending()

    def _wire(self, operation: Operation, given: dict[str, Any]) -> dict[str, Any]:
        if isinstance(given.get("namespace"), tuple):
            given["namespace"] = namespace_of(parse_namespace(given["namespace"], self._scope))
        match operation.name:
            case "observe":
                said: Any = given["messages"]
                several: list[Any] = [said] if isinstance(said, Mapping) else said
                messages = checked_items(several, "messages")
                return {"session": self._session, **given, "messages": messages}
            case "make_context" | "preview_context":
                return {**given, "session": given.get("session") or self._session}
            case "save_records":
                items: list[Any] = given["items"]
                drafts = [{"content": item} if isinstance(item, str) else item for item in items]
                return {**given, "items": drafts}
            case "load_archive_text":
                return {**given, "range": spelled_range(given.get("range"))}
            case "get_metrics":
                # It is about the server, not about a scope.
                return {**dict.fromkeys(("org", "workspace", "agent", "user")), **given}
            case _:
                return given


def _named(given: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is None, which means the same as not to name it."""
    return {name: value for name, value in given.items() if value is not None}


@contextmanager
def _written(target: str | Path | BinaryIO) -> Generator[BinaryIO]:
    """Where an export is written: a new file, compressed if its name says so, or an open one."""
    if not isinstance(target, str | Path):
        yield target
        target.flush()
        return
    path = Path(target)
    try:
        file = path.open("xb")
    except FileExistsError:
        raise Conflict(
            f"{path} exists already; an export never overwrites a file",
            code="file_exists",
            hint="Give another name.",
        ) from None
    try:
        with file:
            if path.suffix == ".gz":
                with gzip.open(file, "wb") as compressed:
                    yield cast("BinaryIO", compressed)
            else:
                yield file
    except BaseException:
        path.unlink()
        raise


async def _pieces(source: str | Path | BinaryIO) -> AsyncGenerator[bytes]:
    """What a file holds, piece by piece; the server sees by itself whether it is compressed."""
    if not isinstance(source, str | Path):
        while piece := await asyncio.to_thread(source.read, _CHUNK):
            yield piece
        return
    with await asyncio.to_thread(Path(source).open, "rb") as file:
        while piece := await asyncio.to_thread(file.read, _CHUNK):
            yield piece


def _extract(tar: tarfile.TarFile, folder: Path) -> None:
    """Write the plain files of an archive below a folder; a name that leads elsewhere is refused.

    The filters of `extractall` came with Python 3.11.4.
    """
    for member in tar:
        if not member.isfile():
            continue
        place = (folder / member.name).resolve()
        if not place.is_relative_to(folder.resolve()):
            raise StorageError(
                f"the copy names a file outside of it: {member.name!r}; nothing was kept of it",
                code="backup_malformed",
                hint="Make the backup again, from a server you trust.",
            )
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("wb") as file:
            shutil.copyfileobj(cast("BinaryIO", tar.extractfile(member)), file)


def _unpack(packed: Any, place: Path) -> None:
    """Put the copy where it is wanted; the database comes last, when all the rest is there."""
    packed.seek(0)
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        with tarfile.open(fileobj=packed) as tar:
            _extract(tar, Path(folder))
        copy = Path(folder) / "memory.db"
        contents = contents_beside(copy)
        if contents.exists():
            shutil.move(contents, contents_beside(place))
        shutil.move(copy, place)
