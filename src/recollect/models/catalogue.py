"""The catalogue of embedders: open, list, check and calibrate them."""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from recollect.domain.embedding import (
    EmbedderCheck,
    EmbedderChoice,
    EmbedderCondition,
    EmbedderState,
    MemoryCalibration,
)
from recollect.errors import NotAllowed, NotAvailable, RecollectError, SettingsError
from recollect.models import local_model
from recollect.models.local_model import LocalModel
from recollect.models.model_folder import CALIBRATION, read_settings
from recollect.models.sealed_folder import folder_named, is_file, is_folder, is_whole
from recollect.ports.embedder import Embedder

if TYPE_CHECKING:
    from recollect.models.openai_endpoint import Endpoint


_DEFAULT_NAMES: Final = frozenset({"", "local", local_model.NAME})
_NO_EMBEDDER: Final = "none"
_KINDS: Final = (
    "local, none, folder:PATH, openai:NAME, fastembed:NAME or sentence-transformers:NAME"
)
_LOCAL_HINTS: Final[Mapping[EmbedderCondition, str]] = {
    "not_installed": "pip install onnxruntime",
    "not_found": "pip install recollect-embedder",
    "damaged": "pip install --force-reinstall --no-deps recollect-embedder",
}
# A typical question in both languages.
_SAMPLES: Final = ("Where do I keep the spare key?", "备用钥匙放在哪里？")


def open_embedder(choice: EmbedderChoice) -> Embedder | None:
    """Open the chosen embedder; return None if none is chosen, or raise why it is not available.

    Some libraries take long to import, so call this from a thread.
    """
    if choice.model in _DEFAULT_NAMES:
        return local_model.local_model(choice.folder).open()
    if choice.model == _NO_EMBEDDER:
        return None
    return _open_other(choice)


def _open_other(choice: EmbedderChoice) -> Embedder:
    """Open an embedder other than the default; the imports are here because few need them."""
    from recollect.models.library_embedders import open_fastembed, open_sentence_transformers
    from recollect.models.model_folder import open_folder
    from recollect.models.openai_endpoint import OpenAIEmbedder

    kind, _, name = _full_name(choice.model).partition(":")
    match kind:
        case "folder" if name:
            return open_folder(folder_named(name), choice)
        case "openai" if name:
            return OpenAIEmbedder(_endpoint(name, choice))
        case "fastembed" if name:
            return open_fastembed(name, choice.dimension)
        case "sentence-transformers" if name:
            return open_sentence_transformers(name, choice.dimension)
        case _:
            raise SettingsError(
                f"There is no embedder {choice.model!r}",
                code="unknown_embedder",
                hint=f"embedding.model is {_KINDS}.",
            )


def is_endpoint(model: str) -> bool:
    """Return whether the vectors of this model come over the network."""
    return _full_name(model).startswith("openai:")


def list_embedders(choice: EmbedderChoice) -> list[EmbedderState]:
    """Return the available embedders and what each still needs, without loading any."""
    return [
        _local_state(choice),
        _folder_state(choice),
        _library_state("openai", "httpx", "remote"),
        _library_state("fastembed", "fastembed", "fastembed"),
        _library_state("sentence-transformers", "sentence_transformers", "sentence-transformers"),
    ]


async def check(choice: EmbedderChoice) -> EmbedderCheck:
    """Try an embedder on a question in each language that it supports."""
    name = choice.model or "local"
    try:
        embedder = open_embedder(choice)
        if embedder is None:
            return EmbedderCheck(name=name, works=True, notes=("Search goes by keywords only.",))
        try:
            return await _tried(name, embedder)
        finally:
            await embedder.close()
    except RecollectError as problem:
        return EmbedderCheck(name=name, works=False, problem=str(problem), hint=problem.hint)


async def _tried(name: str, embedder: Embedder) -> EmbedderCheck:
    times: list[float] = []
    for text in [*filter(embedder.reads, _SAMPLES)] * 3:
        start = time.perf_counter()
        await embedder.embed([text], "query")
        times.append((time.perf_counter() - start) * 1000)
    return EmbedderCheck(
        name=name,
        works=True,
        model=embedder.model,
        dimension=embedder.dimension,
        first_ms=times[0],
        query_ms=min(times),
        notes=embedder.notes(),
    )


def _full_name(model: str) -> str:
    """Return the full name of a model that was named without its provider."""
    if model.startswith("text-embedding-"):
        return f"openai:{model}"
    if model and ":" not in model and is_folder(folder_named(model)):
        return f"folder:{model}"
    return model


def _endpoint(name: str, choice: EmbedderChoice) -> Endpoint:
    from recollect.models.openai_endpoint import KNOWN_DIMENSIONS, OPENAI_URL, Endpoint

    dimension = choice.dimension or KNOWN_DIMENSIONS.get(name)
    if dimension is None:
        raise NotAvailable(
            f"The length of the vectors of {name} is not known",
            code="dimension_unknown",
            hint="Set embedding.dimension.",
        )
    return Endpoint(
        model=name,
        dimension=dimension,
        base_url=choice.base_url or OPENAI_URL,
        api_key=choice.api_key,
        query_prefix=choice.query_prefix or "",
        passage_prefix=choice.passage_prefix or "",
        batch_size=choice.batch_size,
        timeout=choice.timeout,
        retries=choice.retries,
    )


def _local_state(choice: EmbedderChoice) -> EmbedderState:
    model = LocalModel(choice.folder)
    condition = model.condition()
    where = model.where()
    if condition == "ready" and where is not None and not is_whole(where):
        condition = "damaged"
    return EmbedderState(
        name="local",
        condition=condition,
        where=str(where or ""),
        detail=f"{local_model.NAME}, {local_model.DIMENSION} dimensions, Chinese and English",
        hint=_LOCAL_HINTS.get(condition, ""),
    )


def _folder_state(choice: EmbedderChoice) -> EmbedderState:
    kind, _, name = _full_name(choice.model).partition(":")
    folder = folder_named(name) if kind == "folder" else None
    is_there = folder is not None and is_file(folder / "tokenizer.json")
    return EmbedderState(
        name="folder:PATH",
        condition="ready" if is_there else "not_found",
        where=str(folder or ""),
        detail="any folder with model.onnx and tokenizer.json",
        hint="" if is_there else "recollect models check PATH",
    )


def _library_state(name: str, library: str, extra: str) -> EmbedderState:
    is_installed = importlib.util.find_spec(library) is not None
    return EmbedderState(
        name=f"{name}:NAME",
        condition="ready" if is_installed else "not_installed",
        hint="" if is_installed else f"pip install 'recollect[{extra}]'",
    )


# --- Calibration of an embedding model, so that thresholds hold for any model ---------------------

_PAIRS: Final = "calibration_pairs.tsv"
_DIGITS: Final = 4


async def measure(embedder: Embedder) -> MemoryCalibration:
    """Return the usual figures with the model's own cosines of what belongs together or not."""
    lines = files("recollect.models").joinpath(_PAIRS).read_text("utf-8").splitlines()
    questions, answers = zip(*(line.split("\t") for line in lines), strict=True)
    asked = await embedder.embed(questions, "query")
    told = await embedder.embed(answers, "passage")
    cosines = asked @ told.T
    belongs = np.eye(len(lines), dtype=bool)
    return replace(
        MemoryCalibration(),
        unrelated=round(float(np.median(cosines[~belongs])), _DIGITS),
        related=round(float(np.median(cosines[belongs])), _DIGITS),
    )


def store(folder: Path, memory: MemoryCalibration) -> Path:
    """Write the figures into the model's folder, beside what is there for other uses."""
    file = folder / CALIBRATION
    sections = {**read_settings(file), "memory": asdict(memory)}
    try:
        file.write_text(json.dumps(sections, indent=1) + "\n", "utf-8")
    except OSError as problem:
        raise NotAllowed(
            f"{file} cannot be written: {problem.strerror}. Nothing was changed.",
            code="calibration_not_written",
            hint="Copy the model into a folder of your own and calibrate it there.",
        ) from None
    return file
