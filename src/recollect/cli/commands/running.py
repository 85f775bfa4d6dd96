"""Commands that start other faces."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer.main import get_command

from recollect.cli import show
from recollect.cli.answer import Answer, say
from recollect.cli.logs import log_to
from recollect.cli.options import Shared
from recollect.errors import NotAvailable, SettingsError
from recollect.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.settings import Settings

_SERVER_PARTS: Final = frozenset({"fastapi", "starlette", "uvicorn"})


def serve(
    shared: Shared,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 takes a free one.")
    ] = 7077,
) -> None:
    """Start the HTTP server; Ctrl-C stops it."""
    import asyncio

    try:
        import uvicorn

        from recollect.server.app import LOCAL_HOSTS, create_app
        from recollect.server.wire import TellingProtocol
    except ModuleNotFoundError as missing:
        if missing.name not in _SERVER_PARTS:
            raise
        raise NotAvailable(
            f"The server needs {missing.name}, which is not installed",
            hint="Install it with: pip install 'recollect[server]'",
        ) from None
    settings = shared.settings()
    log_to(settings.log_file)
    # A database that cannot be opened is told here, as by every other command.
    asyncio.run(_opened(settings))
    with _listening(host, port) as listener:
        address = _address(host, listener)
        say(_started(address, host, settings), as_object=shared.json)
        config = uvicorn.Config(
            create_app(settings, hosts={*LOCAL_HOSTS, host}),
            http=TellingProtocol,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=5,
        )
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def bench(context: typer.Context) -> None:
    """Measure how well and how fast memory recalls."""
    from recollect.evaluation.command import bench as benchmarks

    _run_group(benchmarks, context)


def models(context: typer.Context) -> None:
    """See, fetch, choose and try the models that make vectors."""
    from recollect.cli.commands.choosing import models as choosing

    _run_group(choosing(), context)


def version() -> Answer:
    """Which version of Recollect this is."""
    from importlib.metadata import version as installed_version

    number = installed_version("recollect")
    return Answer({"version": number}, lambda console: show.line(console, f"recollect {number}"))


def _run_group(group: typer.Typer, context: typer.Context) -> None:
    """Hand the arguments on to a group that was loaded only now."""
    status = get_command(group).main(
        args=context.args,
        prog_name=context.command_path,
        standalone_mode=False,
        obj=context.obj,
    )
    if isinstance(status, int):
        raise typer.Exit(status)


async def _opened(settings: Settings) -> None:
    async with Memory.open(settings):
        pass


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


def _address(host: str, listener: socket.socket) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listener.getsockname()[1]}"


def _started(address: str, host: str, settings: Settings) -> Answer:
    def tell(console: Console) -> None:
        show.line(console, f"Recollect listens on {address} and keeps its data in")
        show.line(console, f"{settings.database}. Ctrl-C stops it. Try:\n")
        for route, body in (
            ("records", '{"content": "Ann likes green tea. 安妮喜欢绿茶。"}'),
            ("recall", '{"query": "绿茶"}'),
        ):
            head = "-H 'Content-Type: application/json'"
            show.line(console, f"  curl {address}/v1/{route} {head} -d '{body}'")
        if not _is_loopback(host):
            show.line(console, "\nWarning: whoever reaches this address can read and change all.")

    return Answer({"address": address, "database": str(settings.database)}, tell)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
