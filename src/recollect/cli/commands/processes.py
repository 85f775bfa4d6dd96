"""Commands that start the server and the MCP server."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import shlex
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

from recollect.cli import show
from recollect.cli.answer import Answer, say
from recollect.cli.command import log_to, opened
from recollect.cli.options import Shared, option
from recollect.domain.context import TONGUES, Tongue, checked_choice
from recollect.domain.ids import new_id
from recollect.errors import NotAvailable, RecollectError, SettingsError, StorageError
from recollect.memory import Memory

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from fastapi import FastAPI
    from rich.console import Console

    from recollect.settings import Settings

_MCP_PARTS: Final = frozenset({"mcp", "mcp_types"})
# Somebody will say something: what reads either language loads before the first request comes.
_FIRST_WORDS: Final = "hello 你好"
_Door = Literal["open", "keys", "locked", "away"]
_NOTICES: Final[Mapping[_Door, str]] = {
    "open": "There are no keys: whoever uses this machine may do everything here. "
    "`{keys} create me --role admin{place}` makes one, and from then on it is asked for.",
    "keys": "It asks for a key: `{keys} list{place}` shows which there are.",
    "away": "The database server is away; this one answers when it is back.",
    "locked": "All keys are revoked or expired: `{keys} create NAME{place}` makes another.",
}
_HERE: Final = ("127.0.0.1", "::1")
_PRIVATE_NETWORKS: Final = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
_FIRST_KEY: Final = "first-admin"
_SERVER_PARTS: Final = frozenset({"fastapi", "httptools", "starlette", "uvicorn"})


def serve(
    shared: Shared,
    host: Annotated[str, option("Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, option("Port to listen on; 0 picks a free one.", min=0, max=65_535)
    ] = 7077,
    tls_cert: Annotated[Path | None, option("Certificate, for https.", metavar="FILE")] = None,
    tls_key: Annotated[
        Path | None, option("Private key of the certificate.", metavar="FILE")
    ] = None,
    behind_proxy: Annotated[
        bool, option("A proxy in front of it speaks https.", "--behind-proxy")
    ] = False,
    allow_host: Annotated[
        list[str] | None, option("Name that clients use for it (repeatable).", metavar="NAME")
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        option(
            "Address or network of that proxy, if it is not this machine (repeatable).",
            metavar="ADDRESS",
        ),
    ] = None,
    container: Annotated[
        bool,
        option(
            "In a container behind a proxy: listen on all addresses, for any name, trust "
            "proxies in private networks, and make a first admin key if there is none.",
            "--container",
        ),
    ] = False,
    workers: Annotated[
        int,
        option("Processes that answer; limits and caches are of each one's own.", min=1, max=64),
    ] = 1,
) -> None:
    """Start the HTTP server; Ctrl-C stops it.

    Without keys it is open to this machine only. On any other address, behind a proxy or under
    another name it needs keys (`recollect keys create`); on another address also a certificate,
    or a proxy that has one.
    """
    import asyncio

    try:
        import uvicorn
        from uvicorn.config import STARTUP_FAILURE
        from uvicorn.supervisors import Multiprocess

        from recollect.server.wire import PATIENCE_SECONDS, ProblemProtocol
    except ModuleNotFoundError as missing:
        if missing.name not in _SERVER_PARTS:
            raise
        raise NotAvailable(
            f"The server needs {missing.name}, which is not installed",
            hint=f"Install it with: pip install {missing.name}",
        ) from None
    settings = shared.settings()
    # Nobody looks for a file in a container.
    log_file = None if container else settings.log_file
    log_to(log_file, is_structured=True, with_requests=settings.server.log_requests)
    if container:
        host = "0.0.0.0" if host == _HERE[0] else host
        behind_proxy = True
        allow_host = [*(allow_host or ()), "*"]
        trusted_proxy = trusted_proxy or [*_PRIVATE_NETWORKS]
    has_tls = _has_tls(tls_cert, tls_key)
    is_here = _is_loopback(host)
    if not is_here and not (has_tls or behind_proxy):
        raise SettingsError(
            f"On {host} traffic would be unencrypted; the server was not started",
            code="tls_needed",
            hint="Give --tls-cert and --tls-key, or --behind-proxy if a proxy speaks https.",
        )
    # Through a proxy, or by another name, everybody comes from this machine.
    is_private = is_here and not behind_proxy and not allow_host
    # A database that cannot be opened is told here, as by every other command.
    door, first_key = asyncio.run(_look_at_keys(settings, makes_first=container))
    if not is_private and door not in ("keys", "away") and not settings.server.tokens.jwks:
        where = f"On {host}" if not is_here else "Behind a proxy or under another name"
        raise SettingsError(
            f"{where} the server needs keys, and there is none; it was not started",
            code="keys_needed",
            hint="Make one first: recollect keys create NAME --role admin; --container makes one.",
        )
    proxies = _checked_proxies(trusted_proxy or (), is_here=is_here, behind_proxy=behind_proxy)
    config = uvicorn.Config(
        _AppFactory(
            settings,
            frozenset({host, *(allow_host or ())}),
            is_open_here=is_private,
            log_file=log_file,
        ),
        factory=True,
        workers=workers,
        # Long enough to import everything on a busy machine: who does not answer in time is killed.
        timeout_worker_healthcheck=20,
        http=ProblemProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=5,
        # Longer than clients keep an idle connection (httpx: 5 seconds): whoever closes first
        # must be the one who sends, or a request meets a connection that is just closing.
        timeout_keep_alive=int(PATIENCE_SECONDS),
        ssl_certfile=tls_cert,
        ssl_keyfile=tls_key,
        # The last address that no such proxy has is who asks.
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        server_header=False,
    )
    with _listening(host, port) as listener:
        address = _address("https" if has_tls else "http", host, listener)
        started = _started(address, settings, shared.data, door=door, first_key=first_key)
        say(started, as_object=shared.json)
        if workers > 1:
            supervisor = Multiprocess(config, sockets=[listener])
            supervisor.run()
            if any(process.exitcode == STARTUP_FAILURE for process in supervisor.processes):
                raise RecollectError(
                    "A process of the server could not start; the others were ended",
                    hint="The log file says why; `recollect doctor` checks every part.",
                )
            return
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


@dataclass(frozen=True, slots=True)
class _AppFactory:
    """Makes the application, in this process or in one of several workers.

    Each worker has caches and limits of its own. Everything else that they must agree on lies in
    the database: keys, repeated requests, jobs and the list of changes that events are made of.
    """

    settings: Settings
    hosts: frozenset[str]
    is_open_here: bool
    log_file: Path | None

    def __call__(self) -> FastAPI:
        from multiprocessing import parent_process

        from recollect.cli.command_socket import answering_commands
        from recollect.server.app import LOCAL_HOSTS, create_app

        settings = self.settings
        log_to(self.log_file, is_structured=True, with_requests=settings.server.log_requests)
        if (parent := parent_process()) is not None:
            threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
        return create_app(
            settings,
            hosts={*LOCAL_HOSTS, *self.hosts},
            is_open_here=self.is_open_here,
            beside=partial(answering_commands, settings=settings),
        )


def _end_with(parent: BaseProcess) -> None:
    """End this worker when the supervisor was killed and can tell nobody."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


async def mcp(
    shared: Shared,
    language: Annotated[str, option("Language of the tools' descriptions: en or zh.")] = "en",
    session: Annotated[
        str | None, option("Session of the scratchpad; without one a new one.")
    ] = None,
) -> None:
    """Serve MCP over standard input and output; a client such as Claude Desktop starts this."""
    try:
        from recollect.mcp.server import serve_stdio
    except ModuleNotFoundError as missing:
        if missing.name not in _MCP_PARTS:
            raise
        raise NotAvailable(
            f"The MCP server needs {missing.name}, which is not installed",
            hint="Install it with: pip install 'recollect[mcp]'",
        ) from None
    tongue = checked_choice(cast("Tongue", language), TONGUES)
    async with opened(shared, _FIRST_WORDS, missing="create") as memory:
        await serve_stdio(memory, tongue, new_id("sess") if session is None else session)


def version() -> Answer:
    """Show the version of Recollect."""
    from importlib.metadata import version as installed_version

    number = installed_version("recollect")
    return show.said({"version": number}, f"recollect {number}")


async def _look_at_keys(settings: Settings, *, makes_first: bool) -> tuple[_Door, str]:
    """Open the database; return whether it has keys that open something, and a first one."""
    # The server itself reads what was left unread.
    writing = settings.writing.model_copy(update={"close_seconds": 0.0})
    async with Memory.open(settings.model_copy(update={"writing": writing})) as memory:
        try:
            if await memory.access.has_usable():
                return "keys", ""
            if await memory.access.has_any():
                return "locked", ""
            if not makes_first:
                return "open", ""
            return "keys", await memory.access.create_first(_FIRST_KEY)
        except StorageError as problem:
            if problem.code != "database_unreachable" or memory.spool is None:
                raise
            # Nobody is let in before the keys can be read.
            return "away", ""


def _has_tls(certificate: Path | None, key: Path | None) -> bool:
    if (certificate is None) != (key is None):
        raise SettingsError(
            "A certificate needs its private key; the server was not started",
            code="tls_incomplete",
            hint="Give both --tls-cert and --tls-key.",
        )
    if certificate is None:
        return False
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except OSError as problem:
        raise SettingsError(
            f"The certificate or its key cannot be read: {problem}; the server was not started",
            code="tls_unusable",
            hint="Both must be PEM files, and the key that of the certificate.",
        ) from None
    return True


def _checked_proxies(given: Sequence[str], *, is_here: bool, behind_proxy: bool) -> tuple[str, ...]:
    """Return whose word on who is asking counts: nobody's without a proxy."""
    if given and not behind_proxy:
        raise SettingsError(
            "--trusted-proxy means nothing without a proxy; the server was not started",
            code="proxy_unclear",
            hint="Give --behind-proxy too.",
        )
    for address in given:
        try:
            ipaddress.ip_network(address)
        except ValueError:
            raise SettingsError(
                f"{address!r} is not an address or a network; the server was not started",
                code="proxy_unclear",
                hint="Give it as 10.0.0.5 or 10.0.0.0/24.",
            ) from None
    if behind_proxy and not is_here and not given:
        raise SettingsError(
            "Which address is the proxy's? Anybody could name another sender;"
            " the server was not started",
            code="proxy_unclear",
            hint="Give --trusted-proxy ADDRESS, or --host 127.0.0.1 if the proxy runs here.",
        )
    return (*_HERE, *given) if behind_proxy else ()


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as problem:
        raise SettingsError(
            f"The server cannot listen on {host}, port {port}: {problem}",
            code="address_unusable",
            hint="Another server may be running; --port takes another port, 0 a free one.",
        ) from None


def _address(scheme: str, host: str, listener: socket.socket) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{listener.getsockname()[1]}"


def _started(
    address: str, settings: Settings, data: str | None, *, door: _Door, first_key: str
) -> Answer:
    # An address of a server may have a password in it.
    given = "URL" if data and "://" in data else data
    place = f" --data {shlex.quote(given)}" if given else ""
    notice = _NOTICES[door].format(keys=f"{_program()} keys", place=place)

    def tell(console: Console) -> None:
        show.line(console, f"The console is at {address}; Ctrl-C stops it. The data is in")
        show.line(console, f"{settings.store_name}.\nThe API is at the same address. Try:\n")
        for route, body in (
            ("records", '{"content": "Ann likes green tea. 安妮喜欢绿茶。"}'),
            ("recall", '{"query": "绿茶"}'),
        ):
            head = "-H 'Content-Type: application/json'"
            if door != "open":
                head += " -H 'Authorization: Bearer KEY'"
            show.line(console, f"  curl {address}/v1/{route} {head} -d '{body}'")
        show.line(console, f"\n{notice}")
        if first_key:
            show.line(console, f"\nThe first admin key, which is not shown again: {first_key}")

    told = {"address": address, "database": settings.store_name, "is_open": door == "open"}
    return Answer({**told, **({"first_key": first_key} if first_key else {})}, tell)


def _program() -> str:
    """Return how this program is called from where it was started."""
    started = Path(sys.argv[0])
    if started.stem != "recollect":
        return f"{shlex.quote(sys.executable)} -m recollect"
    return "recollect" if shutil.which("recollect") else shlex.quote(str(started))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
