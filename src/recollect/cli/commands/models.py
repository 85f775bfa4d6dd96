"""`recollect models`: list, choose and test embedding models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.command import log_to
from recollect.cli.options import Shared, argument
from recollect.cli.settings_edit import write_setting
from recollect.domain.embedding import EmbedderCheck
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
    """List the models, what each one needs, and which one is in use."""
    from recollect.assemble.embedding import embedder_in_use, list_embedders

    settings = _settings(shared)
    states = list_embedders(settings)
    used = embedder_in_use(settings, states)
    chosen = settings.embedder.model or _LOCAL
    value = {
        "model": chosen,
        "items": [as_json(state) | {"in_use": state == used} for state in states],
    }

    def tell(console: Console) -> None:
        show.embedders(console, states, used)
        show.line(console, f"\nIn use: {chosen}. Choose another with `recollect models use NAME`.")

    return Answer(value, tell)


async def use(shared: Shared, name: Annotated[str, argument(f"One of {NAMES}.")]) -> Answer:
    """Choose a model: test it, then write it to the settings file."""
    chosen = choose(shared, await tried_model(shared, name))

    def tell(console: Console) -> None:
        chosen.tell(console)
        if chosen.is_effective and chosen.name != NO_MODEL:
            show.line(
                console, "Run `recollect reindex` to create its vectors for what is already stored."
            )

    return Answer(chosen.value, tell)


async def check(
    shared: Shared,
    name: Annotated[str | None, argument(f"The one in use, or one of {NAMES}.")] = None,
) -> Answer:
    """Test a model with a query in each language; exit code 6 if it does not work."""
    from recollect.assemble.embedding import check_embedder

    tried = await check_embedder(_settings(shared), name)
    return Answer.of(tried, show.embedder_check, 0 if tried.works else _DOES_NOT_WORK)


async def calibrate(
    shared: Shared,
    folder: Annotated[Path, argument("The model's folder.", file_okay=False)],
) -> Answer:
    """Measure what a model's similarities mean, and store it in its folder.

    Thresholds and weights then hold for this model; without it the usual ones are used.
    """
    from recollect.assemble.embedding import calibrate_folder

    file, measured = await calibrate_folder(folder)
    value = {"file": str(file), "unrelated": measured.unrelated, "related": measured.related}

    def tell(console: Console) -> None:
        show.line(console, f"Unrelated texts have a cosine of {measured.unrelated}, a question")
        show.line(console, f"and its answer {measured.related}. Stored in {file}.")

    return Answer(value, tell)


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
                f"But an environment variable sets {self.effective} and takes precedence: "
                "unset RECOLLECT_EMBEDDING__MODEL or EMBEDDING_MODEL.",
            )


async def tried_model(shared: Shared, name: str) -> EmbedderCheck:
    """Return the check of a working model under a lasting name; otherwise raise why it fails."""
    from recollect.assemble.embedding import check_embedder, lasting_choice

    tried = await check_embedder(_settings(shared), lasting_choice(name))
    if not tried.works:
        raise NotAvailable(
            f"{tried.name} does not work: {tried.problem}",
            code="embedder_unusable",
            hint=tried.hint,
        )
    return tried


def choose(shared: Shared, tried: EmbedderCheck) -> Chosen:
    """Write a model to the settings file."""
    from recollect.settings import settings_file

    file = settings_file()
    write_setting(file, "embedding", "model", tried.name)
    return Chosen(check=tried, file=file, effective=shared.settings().embedder.model)


def _settings(shared: Shared) -> Settings:
    settings = shared.settings()
    log_to(settings.log_file)
    return settings
