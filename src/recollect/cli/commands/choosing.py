"""`recollect models`: which models make vectors, getting the default one, choosing and trying."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
NO_MODEL: Final = "none"
NAMES: Final = "local, none, folder:PATH, openai:NAME, fastembed:NAME, sentence-transformers:NAME"


def list_models(shared: Shared) -> Answer:
    """Which models there are, what each still needs, and which one is in use."""
    from recollect.assemble.embedding import embedder_in_use, list_embedders

    settings = _settings(shared)
    states, used = list_embedders(settings), embedder_in_use(settings)
    chosen = settings.embedder.model or _LOCAL
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

    from recollect.assemble.embedding import check_embedder, fetch_model, list_embedders

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
    shared: Shared, name: Annotated[str, typer.Argument(help=f"One of {NAMES}.")]
) -> Answer:
    """Choose a model: it is tried first, then written into the settings file."""
    chosen = choose(shared, await tried_model(shared, name))

    def tell(console: Console) -> None:
        chosen.tell(console)
        if chosen.is_effective and chosen.name != NO_MODEL:
            show.line(console, "`recollect reindex` makes its vectors of what is stored already.")

    return Answer(chosen.value, tell)


async def check(
    shared: Shared,
    name: Annotated[str | None, typer.Argument(help=f"The one in use, or one of {NAMES}.")] = None,
) -> None:
    """Try a model on a question in each language; the exit code is 6 if it does not work."""
    from recollect.assemble.embedding import check_embedder

    tried = await check_embedder(_settings(shared), name)
    say(
        Answer(tried, lambda console: show.embedder_check(console, tried)),
        as_object=shared.json,
    )
    if not tried.works:
        raise typer.Exit(_DOES_NOT_WORK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A model that the settings file now names, and the one that holds."""

    check: EmbedderCheck
    file: Path
    effective: str

    @property
    def name(self) -> str:
        return self.check.name

    @property
    def is_effective(self) -> bool:
        return self.effective == self.name

    @property
    def value(self) -> dict[str, object]:
        return {
            "model": self.name,
            "effective_model": self.effective,
            "path": str(self.file),
            "check": self.check,
        }

    def tell(self, console: Console) -> None:
        show.embedder_check(console, self.check)
        show.line(console, f"{self.file} now says: embedding.model = {self.name}")
        if not self.is_effective:
            show.line(
                console,
                f"But a variable of the environment says {self.effective}, and that goes first: "
                "unset RECOLLECT_EMBEDDING__MODEL or EMBEDDING_MODEL.",
            )


async def tried_model(shared: Shared, name: str) -> EmbedderCheck:
    """A model that works, by a name that lasts; an error says what is wrong with any other."""
    from recollect.assemble.embedding import check_embedder, lasting_choice

    tried = await check_embedder(_settings(shared), lasting_choice(name))
    if not tried.works:
        raise _unusable(tried)
    return tried


def choose(shared: Shared, tried: EmbedderCheck) -> Chosen:
    """Write a model into the settings file."""
    from recollect.settings import settings_file

    file = settings_file()
    write_setting(file, "embedding", "model", tried.name)
    return Chosen(check=tried, file=file, effective=shared.settings().embedder.model)


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


def _unusable(tried: EmbedderCheck) -> NotAvailable:
    return NotAvailable(
        f"{tried.name} does not work: {tried.problem}",
        code="embedder_unusable",
        hint=tried.hint,
    )
