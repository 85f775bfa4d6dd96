"""`recollect models`: which models make vectors, getting the default one, choosing and trying."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from recollect.cli import show
from recollect.cli.answer import Answer, say
from recollect.cli.command import Body, as_command, over, with_options
from recollect.cli.logs import log_to
from recollect.cli.options import Shared
from recollect.cli.progress import steps
from recollect.cli.settings_edit import write_setting
from recollect.domain.embedder import EmbedderCheck
from recollect.domain.views import as_json
from recollect.errors import NotAvailable

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.settings import Settings

_DOES_NOT_WORK: Final = 6
_LOCAL: Final = "local"
_NONE: Final = "none"
_FOLDER: Final = "folder:"
_NAMES: Final = "local, none, folder:PATH, openai:NAME, fastembed:NAME, sentence-transformers:NAME"


def list_models(shared: Shared) -> Answer:
    """Which models there are, what each still needs, and which one is in use."""
    from recollect.assemble import embedder_in_use, list_embedders

    settings = _settings(shared)
    states, used = list_embedders(settings), embedder_in_use(settings)
    chosen = settings.embedding.model or _LOCAL
    value = {
        "model": chosen,
        "items": [as_json(state) | {"in_use": state == used} for state in states],
    }

    def tell(console: Console) -> None:
        show.embedders(console, states, used)
        show.line(console, f"\nIn use: {chosen}. `recollect models use NAME` takes another.")

    return Answer(value, tell)


def fetch(shared: Shared) -> Answer:
    """Get the default model, verified, into the user's cache.

    What this machine has already is verified and prepared; the network is asked for the rest only.
    """
    import asyncio

    from recollect.assemble import check_embedder, fetch_model, list_embedders

    settings = _settings(shared)
    tried = asyncio.run(check_embedder(settings, _LOCAL))
    local, *_ = list_embedders(settings)
    is_fetched = not tried.works and local.condition != "not_installed"
    if is_fetched:
        with steps("Fetching the default model") as step:
            fetch_model(settings, step)
        tried = asyncio.run(check_embedder(settings, _LOCAL))
        local, *_ = list_embedders(settings)
    if not tried.works:
        raise _unusable(tried)

    def tell(console: Console) -> None:
        how = "Downloaded, verified" if is_fetched else "Nothing to download: it is here, verified"
        show.line(console, f"{how} by its sha256 and ready in {local.where}")
        show.embedder_check(console, tried)

    return Answer({"fetched": is_fetched, "path": local.where, "check": tried}, tell)


async def use(
    shared: Shared, name: Annotated[str, typer.Argument(help=f"One of {_NAMES}.")]
) -> Answer:
    """Choose a model: it is tried first, then written into the settings file."""
    from recollect.assemble import check_embedder
    from recollect.settings import settings_file

    name = _lasting(name)
    tried = await check_embedder(_settings(shared), name)
    if not tried.works:
        raise _unusable(tried)
    file = settings_file()
    write_setting(file, "embedding", "model", name)
    effective = shared.settings().embedding.model

    def tell(console: Console) -> None:
        show.embedder_check(console, tried)
        show.line(console, f"{file} now says: embedding.model = {name}")
        if effective != name:
            show.line(
                console,
                f"But a variable of the environment says {effective}, and that goes first: unset "
                "RECOLLECT_EMBEDDING__MODEL or EMBEDDING_MODEL.",
            )
        elif name != _NONE:
            show.line(console, "`recollect reindex` makes its vectors of what is stored already.")

    value = {"model": name, "effective_model": effective, "path": str(file), "check": tried}
    return Answer(value, tell)


async def check(
    shared: Shared,
    name: Annotated[str | None, typer.Argument(help=f"The one in use, or one of {_NAMES}.")] = None,
) -> None:
    """Try a model on a question in each language; the exit code is 6 if it does not work."""
    from recollect.assemble import check_embedder

    tried = await check_embedder(_settings(shared), name)
    say(
        Answer(tried, lambda console: show.embedder_check(console, tried)),
        as_object=shared.json,
    )
    if not tried.works:
        raise typer.Exit(_DOES_NOT_WORK)


_COMMANDS: Final[Mapping[str, Body]] = {
    "list": list_models,
    "fetch": fetch,
    "use": use,
    "check": check,
}


def models() -> typer.Typer:
    """The group of commands."""
    group = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    group.callback(invoke_without_command=True)(with_options(_before_any_command))
    for name, body in _COMMANDS.items():
        group.command(name)(as_command(body))
    return group


def _before_any_command(context: typer.Context, **given: Any) -> None:
    """The models that turn text into vectors."""
    context.obj = over(context.obj, Shared(**given))
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _settings(shared: Shared) -> Settings:
    settings = shared.settings()
    log_to(settings.log_file)
    return settings


def _lasting(name: str) -> str:
    """A folder by a name that means the same wherever the next command is run."""
    folder = Path(name.removeprefix(_FOLDER)).expanduser()
    is_folder = name.startswith(_FOLDER) or (bool(name) and folder.is_dir())
    return f"{_FOLDER}{folder.absolute()}" if is_folder else name


def _unusable(tried: EmbedderCheck) -> NotAvailable:
    return NotAvailable(
        f"{tried.name} does not work: {tried.problem}",
        code="embedder_unusable",
        hint=tried.hint,
    )
