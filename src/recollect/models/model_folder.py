"""Models in a folder with model.onnx and tokenizer.json, described by their own files."""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from recollect.domain.embedding import Calibration, EmbedderChoice
from recollect.errors import NotAvailable
from recollect.language.characters import Language
from recollect.models.faults import ModelDamaged
from recollect.models.onnx_embedder import ModelFiles, ModelTraits, OnnxEmbedder, Pooling
from recollect.models.sealed_folder import is_file

# --- The files of a model's folder: the graph, the tokenizer and the configuration ----------------

# Repositories keep the graph beside the tokenizer or in its own folder.
_GRAPHS: Final = ("model.onnx", "onnx/model.onnx")
_TOKENIZER: Final = "tokenizer.json"
_DEFAULT_MAX_TOKENS: Final = 512
CALIBRATION: Final = "calibration.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFiles:
    """The two files that every model needs."""

    graph: Path
    tokenizer: Path

    def read_tokenizer(self) -> bytes:
        try:
            return self.tokenizer.read_bytes()
        except OSError as problem:
            raise ModelDamaged(f"{self.tokenizer} cannot be read: {problem.strerror}") from None


def find_files(folder: Path) -> FolderFiles:
    """Return the paths of the model's files without reading them."""
    graph = next((folder / name for name in _GRAPHS if is_file(folder / name)), None)
    tokenizer = folder / _TOKENIZER
    if graph is None or not is_file(tokenizer):
        raise NotAvailable(
            f"{folder} does not hold a model: model.onnx and tokenizer.json are needed",
            code="model_not_found",
            hint="Export one with: optimum-cli export onnx --model NAME FOLDER",
        )
    return FolderFiles(graph=graph, tokenizer=tokenizer)


def longest_text(folder: Path) -> int:
    """Return the maximum number of tokens, limited by the positions of the model."""
    limits = [
        read_settings(folder / "sentence_bert_config.json").get("max_seq_length"),
        read_settings(folder / "tokenizer_config.json").get("model_max_length"),
        read_settings(folder / "config.json").get("max_position_embeddings"),
        _DEFAULT_MAX_TOKENS,
    ]
    return min(limit for limit in limits if isinstance(limit, int) and limit > 0)


def read_settings(file: Path) -> dict[str, Any]:
    """Return a configuration file of the folder; empty if it is missing."""
    try:
        content: Any = json.loads(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as problem:
        raise ModelDamaged(f"{file} cannot be read: {problem}") from None
    if not isinstance(content, dict):
        raise ModelDamaged(f"{file} is not a table of settings")
    return cast("dict[str, Any]", content)


def read_calibration(folder: Path) -> Calibration:
    """Return what the model's figures mean; as usual where nobody has measured it."""
    return Calibration.of(read_settings(folder / CALIBRATION))


# --- Embedders in a folder with model.onnx and tokenizer.json, described by their own files -------

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
