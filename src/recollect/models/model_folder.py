"""Embedders in a folder with model.onnx and tokenizer.json, described by their own files."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from typing import Any, Final, cast

from recollect.domain.embedding import EmbedderChoice
from recollect.errors import NotAvailable
from recollect.language.characters import Language
from recollect.models.folder_files import (
    find_files,
    longest_text,
    read_calibration,
    read_settings,
)
from recollect.models.onnx_embedder import ModelFiles, ModelTraits, OnnxEmbedder, Pooling

_SAMPLE: Final = 1 << 20
_KNOWN_LANGUAGES: Final[dict[str, Language]] = {"en": "en", "zh": "zh"}


def open_folder(folder: Path, choice: EmbedderChoice) -> OnnxEmbedder:
    """Open the embedder in a folder. The given options override the folder's files."""
    files = find_files(folder)
    traits = read_traits(folder, files.graph, choice)
    notes = () if traits.calibration.is_measured else (_not_calibrated(folder),)
    return OnnxEmbedder(
        traits,
        lambda: ModelFiles(graph=files.graph, tokenizer=files.read_tokenizer()),
        notes=lambda: notes,
    )


def _not_calibrated(folder: Path) -> str:
    return (
        "Thresholds are the usual ones, not measured with this model. "
        f"Measure them with: recollect models calibrate {shlex.quote(str(folder))}"
    )


def read_traits(folder: Path, graph: Path, choice: EmbedderChoice) -> ModelTraits:
    """Return the traits of the model from the folder's configuration files."""
    config = read_settings(folder / "config.json")
    pooling_config = read_settings(folder / "1_Pooling" / "config.json")
    prompts = cast(
        "dict[str, str]",
        read_settings(folder / "config_sentence_transformers.json").get("prompts") or {},
    )
    dimension = choice.dimension or pooling_config.get("word_embedding_dimension")
    dimension = dimension or config.get("hidden_size")
    if not isinstance(dimension, int):
        raise NotAvailable(
            f"{folder} does not say how long its vectors are",
            code="dimension_unknown",
            hint="Set embedding.dimension.",
        )
    pooling = choice.pooling or _pooling(folder, pooling_config)
    longest = choice.longest or longest_text(folder)
    query = _first(choice.query_prefix, prompts.get("query"))
    passage = _first(choice.passage_prefix, prompts.get("document"), prompts.get("passage"))
    shown = f"{pooling} {longest} {query!r} {passage!r}"
    return ModelTraits(
        name=f"{folder.resolve().name}/{_fingerprint(folder, graph, shown)}",
        dimension=dimension,
        longest=longest,
        pooling=pooling,
        query_prefix=query,
        passage_prefix=passage,
        languages=_languages(choice.languages),
        calibration=read_calibration(folder),
    )


def _pooling(folder: Path, config: dict[str, Any]) -> Pooling:
    modes = [name for name, value in config.items() if name.startswith("pooling_mode") and value]
    match modes:
        case [] | ["pooling_mode_mean_tokens"]:
            return "mean"
        case ["pooling_mode_cls_token"]:
            return "cls"
        case _:
            raise NotAvailable(
                f"{folder} pools by {', '.join(modes)}; mean and cls are known",
                code="pooling_unknown",
                hint="Export the model with its pooling inside (an output sentence_embedding) "
                "and set embedding.pooling to mean.",
            )


def _languages(given: tuple[str, ...]) -> frozenset[Language] | None:
    """Return the known languages of a model; None, which means all, if one is unknown."""
    if not given or not set(given) <= _KNOWN_LANGUAGES.keys():
        return None
    return frozenset(_KNOWN_LANGUAGES[name] for name in given)


def _fingerprint(folder: Path, graph: Path, shown: str) -> str:
    """Return a short hash of the model; of large files, only the size and both ends count."""
    told = hashlib.sha256(shown.encode())
    for file in (graph, *sorted(graph.parent.glob("*.onnx_data")), folder / "tokenizer.json"):
        with file.open("rb") as data:
            size = file.stat().st_size
            told.update(f"{size} ".encode() + data.read(_SAMPLE))
            data.seek(max(0, size - _SAMPLE))
            told.update(data.read())
    return told.hexdigest()[:8]


def _first(*values: str | None) -> str:
    return next((value for value in values if value is not None), "")
