"""The local default models: a bilingual embedder, a judge, an answerer, a reader, and their files.

The files come in a data package, are verified by their sha256 and are used in place. All models
use the same table of word vectors, one byte per number, mapped into memory once.
"""

from __future__ import annotations

import asyncio
import importlib.util
import io
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from recollect.domain.embedding import Calibration, EmbedderCondition
from recollect.domain.write import Lasts
from recollect.errors import NotAvailable
from recollect.language.characters import fold
from recollect.models.faults import ModelDamaged, missing_library
from recollect.models.model_folder import read_calibration
from recollect.models.onnx_embedder import ModelFiles, ModelTraits, OnnxEmbedder, WordRows
from recollect.models.onnx_model import Session, Tokenizer, open_session
from recollect.models.sealed_folder import SEAL, SealedFiles, package_folder
from recollect.ports.embedder import Embedder
from recollect.ports.facets import FacetReader
from recollect.ports.reader import Reading

NAME: Final = "recollect-bilingual"
DATA_PACKAGE: Final = "recollect_embedder"
DIMENSION: Final = 384
EMBEDDER: Final = "embedder.onnx"
JUDGE: Final = "judge.onnx"
ANSWERER: Final = "answers.onnx"
READER: Final = "reader.onnx"
FACETS: Final = "facets.npz"
TOKENIZER: Final = "tokenizer.json"
_WORDS: Final = "words.npy"
_SCALES: Final = "scales.npy"
_LIBRARIES: Final = ("onnxruntime", "tokenizers")
_LONGEST: Final = 256
_HOW_TO_GET: Final = (
    "pip install 'recollect[local]' brings it; without it, search goes by keywords."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFiles:
    """The files of the data package, and the word vectors that its models share."""

    files: Mapping[str, bytes]
    words: WordRows
    # Reading its file keeps all threads waiting, so it is done once for all models.
    tokenizer: Tokenizer


def local_model(given: Path | None = None) -> LocalModel:
    """Return the models of a folder, the same for all who use them at the same time."""
    with _opening:
        model = _in_use.get(given)
        if model is None:
            model = _in_use[given] = LocalModel(given)
        return model


class LocalModel:
    """Finds, verifies and loads the models of the data package."""

    def __init__(self, given: Path | None = None) -> None:
        """Use the `given` folder, or else the installed data package."""
        self._given = given
        self._lock = threading.Lock()
        self._shared: SharedFiles | None = None

    def open(self) -> OnnxEmbedder:
        """Return the embedder; its parts are loaded when the first text comes."""
        self.require()
        traits = ModelTraits(
            name=self.version(),
            dimension=DIMENSION,
            longest=_LONGEST,
            calibration=self.calibration(),
        )
        return OnnxEmbedder(traits, self._embedder_files, translate=fold)

    def require(self) -> None:
        """Raise an error that says what is missing, unless the models can be used."""
        match self.condition():
            case "not_installed":
                raise missing_library(" or ".join(_LIBRARIES), "local")
            case "not_found":
                raise NotAvailable(
                    f"The model {NAME} is not on this machine",
                    code="model_not_found",
                    hint=_HOW_TO_GET,
                )
            case _:
                return

    def condition(self) -> EmbedderCondition:
        """Return whether the model can be used; nothing is read for this."""
        if any(importlib.util.find_spec(library) is None for library in _LIBRARIES):
            return "not_installed"
        return "not_found" if self.where() is None else "ready"

    def where(self) -> Path | None:
        """Return the folder with the model's files."""
        folders = (self._given, package_folder(DATA_PACKAGE))
        found = (folder for folder in folders if folder is not None and (folder / SEAL).is_file())
        return next(found, None)

    def version(self) -> str:
        """Return the name that stands with every vector: it changes with the model's files."""
        folder = self.where()
        if folder is None:
            return NAME
        try:
            seal = cast("dict[str, Any]", json.loads((folder / SEAL).read_bytes()))
            return f"{NAME}/{seal[EMBEDDER][:8]}"
        except (OSError, ValueError, KeyError, TypeError):
            return NAME

    def calibration(self) -> Calibration:
        """Return what the figures of the models mean, as it was measured."""
        folder = self.where()
        return Calibration() if folder is None else read_calibration(folder)

    def shared(self) -> SharedFiles:
        """Return the files, read and verified when they are first wanted."""
        with self._lock:
            if self._shared is None:
                self._shared = self._read()
            return self._shared

    def _read(self) -> SharedFiles:
        folder = self.where()
        if folder is None:
            raise ModelDamaged(f"{NAME} is not complete", hint=_HOW_TO_GET)
        files = SealedFiles(folder)
        try:
            rows, scales = (_array(files[name]) for name in (_WORDS, _SCALES))
            tokenizer = Tokenizer(files[TOKENIZER], _LONGEST)
        except KeyError as problem:
            raise ModelDamaged(f"{folder} lacks {problem}", hint=_HOW_TO_GET) from None
        return SharedFiles(files=files, words=WordRows(rows, scales), tokenizer=tokenizer)

    def _embedder_files(self) -> ModelFiles:
        shared = self.shared()
        return ModelFiles(
            graph=shared.files[EMBEDDER], tokenizer=shared.tokenizer, words=shared.words
        )


# Several memories of one process share the files, which are freed when no memory uses them.
_in_use: Final[WeakValueDictionary[Path | None, LocalModel]] = WeakValueDictionary()
_opening: Final = threading.Lock()


def _array(data: bytes) -> NDArray[Any]:
    return np.load(io.BytesIO(data), allow_pickle=False)


# --- The local judge, answerer and reader: three small cross-encoders -----------------------------

_MAX_SIDE_TOKENS: Final = 72
_MAX_QUESTION_TOKENS: Final = 40
# Of a question and all texts together: reading takes about a tenth of a millisecond a token.
_MAX_READ_TOKENS: Final = 320
_FIRST, _BETWEEN = 101, 102
_PARTS_READ_TOGETHER: Final = 16
# The outputs of the reader after the one for what is not worth keeping.
_LASTS: Final[tuple[Lasts, ...]] = ("days", "weeks", "long")
# A text of this many characters has more tokens than are read.
_MAX_READ_CHARS: Final = 1_000


class _CrossEncoder:
    """Reads two texts together and returns the scores of one of its outputs. Thread-safe."""

    def __init__(
        self,
        load: Callable[[], SharedFiles],
        open_session: Callable[[bytes], Session],
        file: str,
        output: str,
    ) -> None:
        self._load = load
        self._open_session = open_session
        self._file = file
        self._output = output
        self._parts: tuple[SharedFiles, Session] | None = None

    def pieces(self, text: str) -> list[int]:
        """Return the tokens of a text, as far as they are read."""
        return self._loaded()[0].tokenizer.pieces(fold(text))[:_MAX_SIDE_TOKENS]

    def scores(self, pairs: Sequence[tuple[list[int], list[int]]]) -> NDArray[np.float32]:
        """Return a row of scores for each pair."""
        shared, session = self._loaded()
        joined = [_join(first, second) for first, second in pairs]
        ids = np.zeros((len(joined), max(len(it) for it, _ in joined)), np.int64)
        kinds, mask = np.zeros_like(ids), np.zeros_like(ids)
        for row, (tokens, sides) in enumerate(joined):
            ids[row, : len(tokens)] = tokens
            kinds[row, : len(tokens)] = sides
            mask[row, : len(tokens)] = 1
        feed = {"words": shared.words.of(ids), "kinds": kinds, "attention_mask": mask}
        (scores,) = session.run([self._output], feed)
        return np.asarray(scores, np.float32)

    def _loaded(self) -> tuple[SharedFiles, Session]:
        if self._parts is None:
            shared = self._load()
            self._parts = shared, self._open_session(shared.files[self._file])
        return self._parts


class LocalJudge:
    """Scores pairs of statements as same, update, conflict or different. Thread-safe."""

    def __init__(
        self,
        load: Callable[[], SharedFiles],
        *,
        open_session: Callable[[bytes], Session] = open_session,
    ) -> None:
        self._encoder = _CrossEncoder(load, open_session, JUDGE, "relation")

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return a row of four scores for each pair (old statement, new statement)."""
        if not pairs:
            return np.empty((0, 4), np.float32)
        read = self._encoder.pieces
        return self._encoder.scores([(read(old), read(new)) for old, new in pairs])


class LocalAnswerer:
    """Scores how clearly texts answer a question. Thread-safe."""

    def __init__(
        self,
        load: Callable[[], SharedFiles],
        *,
        open_session: Callable[[bytes], Session] = open_session,
    ) -> None:
        self._encoder = _CrossEncoder(load, open_session, ANSWERER, "answer")

    def logits(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a number for each text; above 0 it rather answers the question.

        What is longer than the model has learnt to read is not a number, nor is what comes after
        so much as can be read while somebody waits.
        """
        found = np.full(len(texts), np.nan, np.float32)
        asked = self._read(question)
        if len(asked) > _MAX_QUESTION_TOKENS:
            return found
        places: list[int] = []
        pairs: list[tuple[list[int], list[int]]] = []
        left = _MAX_READ_TOKENS
        for place, text in enumerate(texts):
            pieces = self._read(text)
            left -= len(asked) + len(pieces)
            if left < 0:
                break
            if len(pieces) < _MAX_SIDE_TOKENS:
                places.append(place)
                pairs.append((asked, pieces))
        # In two threads, since somebody waits for this.
        halves = [half for half in (pairs[::2], pairs[1::2]) if half]
        with ThreadPoolExecutor(max(1, len(halves))) as threads:
            scores = list(threads.map(self._encoder.scores, halves))
        for start, half in enumerate(scores):
            found[places[start::2]] = half[:, 0]
        return found

    def _read(self, text: str) -> list[int]:
        return self._encoder.pieces(" ".join(text[:_MAX_READ_CHARS].split()))


class LocalClassifier:
    """The local judge with its calibrated thresholds."""

    def __init__(self, model: LocalModel) -> None:
        self.name = "local-judge"
        self._judge = LocalJudge(model.shared)
        self.calibration = model.calibration().judge

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return self._judge.logits(pairs)


class LocalReader:
    """Tells which parts of a message are worth keeping. Implements `PartReader`; thread-safe."""

    def __init__(
        self,
        model: LocalModel,
        *,
        open_session: Callable[[bytes], Session] = open_session,
    ) -> None:
        self._encoder = _CrossEncoder(model.shared, open_session, READER, "worth")
        self._limit = model.calibration().reader.limit

    async def read(self, parts: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        """Return a reading for each pair of the words before a part and its own words."""
        return await asyncio.to_thread(self._read, parts)

    async def needs(self, messages: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return whether messages need memory, each behind what the assistant said."""
        raise NotAvailable("This reader does not tell what needs memory", code="old_model")

    def _read(self, parts: Sequence[tuple[str, str]]) -> list[Reading]:
        found: list[Reading] = []
        for start in range(0, len(parts), _PARTS_READ_TOGETHER):
            some = parts[start : start + _PARTS_READ_TOGETHER]
            pieces = self._encoder.pieces
            scores = self._encoder.scores([(pieces(before), pieces(text)) for before, text in some])
            found += map(self._reading, scores.astype(np.float64))
        return found

    def _reading(self, row: NDArray[np.float64]) -> Reading:
        """Return the odds that a part is worth keeping, and how long it most likely lasts."""
        kept = row[1:]
        odds = float(np.logaddexp.reduce(kept) - row[0])
        return Reading(score=odds - self._limit, lasts=_LASTS[int(kept.argmax())])


def open_reader(folder: Path | None) -> LocalReader | None:
    """Return the local reader; None where its file or libraries are not installed."""
    model = local_model(folder)
    found = model.where()
    if model.condition() != "ready" or found is None or not (found / READER).is_file():
        return None
    return LocalReader(model)


def open_judge(folder: Path | None) -> LocalClassifier | None:
    """Return the local judge; None where its files or libraries are not installed."""
    model = local_model(folder)
    return LocalClassifier(model) if model.condition() == "ready" else None


def open_answerer(folder: Path | None) -> LocalAnswerer | None:
    """Return the local answerer; None where its file or libraries are not installed."""
    model = local_model(folder)
    if model.condition() != "ready" or ANSWERER not in model.shared().files:
        return None
    return LocalAnswerer(model.shared)


def open_facets(folder: Path | None, embedder: Embedder) -> FacetReader | None:
    """Return the reader of facets for this embedder; None if it is not the local one."""
    model = local_model(folder)
    found = model.where()
    if found is None or embedder.model != model.version() or not (found / FACETS).is_file():
        return None
    from recollect.models.facet_head import LocalFacets

    return LocalFacets(embedder, model.shared)


def _join(old: list[int], new: list[int]) -> tuple[list[int], list[int]]:
    """Return the two as one text, and for each token its side and whether the other has it too."""
    in_old, in_new = set(old), set(new)
    old_kinds = (int(token in in_new) for token in old)
    new_kinds = (2 + (token in in_old) for token in new)
    return [_FIRST, *old, _BETWEEN, *new, _BETWEEN], [0, *old_kinds, 0, *new_kinds, 2]
