"""The files of a model's folder: the graph, the tokenizer and the configuration."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from recollect.domain.embedding import Calibration
from recollect.errors import NotAvailable
from recollect.models.faults import ModelDamaged
from recollect.models.places import is_file

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
