"""Any model that lies in a folder as model.onnx and tokenizer.json, described by its own files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final, cast

from recollect.domain.embedder import EmbedderChoice
from recollect.errors import NotAvailable
from recollect.models.faults import ModelDamaged
from recollect.models.onnx_embedder import ModelFiles, ModelTraits, OnnxEmbedder, Pooling
from recollect.text.language import Language

# Repositories keep the graph beside the tokenizer or in a folder of its own.
_GRAPHS: Final = ("model.onnx", "onnx/model.onnx")
_TOKENIZER: Final = "tokenizer.json"
_USUAL_LONGEST: Final = 512
_SAMPLE: Final = 1 << 20
_KNOWN_LANGUAGES: Final[dict[str, Language]] = {"en": "en", "zh": "zh"}


def open_folder(folder: Path, choice: EmbedderChoice) -> OnnxEmbedder:
    """The embedder in a folder. What is given goes before what the folder says."""
    graph = next((folder / name for name in _GRAPHS if (folder / name).is_file()), None)
    tokenizer = folder / _TOKENIZER
    if graph is None or not tokenizer.is_file():
        raise NotAvailable(
            f"{folder} does not hold a model: model.onnx and tokenizer.json are needed",
            code="model_not_found",
            hint="Export one with: optimum-cli export onnx --model NAME FOLDER",
        )
    traits = read_traits(folder, graph, choice)
    return OnnxEmbedder(
        traits, lambda: ModelFiles(graph=graph, tokenizer=_read_tokenizer(tokenizer))
    )


def read_traits(folder: Path, graph: Path, choice: EmbedderChoice) -> ModelTraits:
    """What the folder's configuration files say about its model."""
    config = _json(folder / "config.json")
    pooling_config = _json(folder / "1_Pooling" / "config.json")
    prompts = cast(
        "dict[str, str]", _json(folder / "config_sentence_transformers.json").get("prompts") or {}
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
    longest = choice.longest or _longest(folder, config)
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


def _longest(folder: Path, config: dict[str, Any]) -> int:
    """How many tokens the model was made to read, and never more than it has positions for."""
    limits = [
        _json(folder / "sentence_bert_config.json").get("max_seq_length"),
        _json(folder / "tokenizer_config.json").get("model_max_length"),
        config.get("max_position_embeddings"),
        _USUAL_LONGEST,
    ]
    return min(limit for limit in limits if isinstance(limit, int) and limit > 0)


def _languages(given: tuple[str, ...]) -> frozenset[Language] | None:
    """The languages as we tell them apart; any that we cannot tell means all of them."""
    if not given or not set(given) <= _KNOWN_LANGUAGES.keys():
        return None
    return frozenset(_KNOWN_LANGUAGES[name] for name in given)


def _fingerprint(folder: Path, graph: Path, shown: str) -> str:
    """Short, and different for another model; large files are known by their size and ends."""
    told = hashlib.sha256(shown.encode())
    for file in (graph, *sorted(graph.parent.glob("*.onnx_data")), folder / _TOKENIZER):
        with file.open("rb") as data:
            size = file.stat().st_size
            told.update(f"{size} ".encode() + data.read(_SAMPLE))
            data.seek(max(0, size - _SAMPLE))
            told.update(data.read())
    return told.hexdigest()[:8]


def _first(*values: str | None) -> str:
    return next((value for value in values if value is not None), "")


def _json(file: Path) -> dict[str, Any]:
    try:
        content: Any = json.loads(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as problem:
        raise ModelDamaged(f"{file} cannot be read: {problem}") from None
    if not isinstance(content, dict):
        raise ModelDamaged(f"{file} is not a table of settings")
    return cast("dict[str, Any]", content)


def _read_tokenizer(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as problem:
        raise ModelDamaged(f"{file} cannot be read: {problem.strerror}") from None
