"""The local default models: a bilingual embedder, a reader of pairs, and their files.

The files come in a data package, are verified by their sha256 and are used in place. Both models
use the same table of word vectors, one byte per number, mapped into memory once.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple, cast
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from recollect.domain.embedding import (
    AnswererCalibration,
    Calibration,
    EmbedderCondition,
    JudgeCalibration,
    ReaderCalibration,
)
from recollect.domain.facets import facets
from recollect.domain.write import Lasts
from recollect.errors import NotAvailable
from recollect.language.characters import fold
from recollect.models.faults import ModelDamaged, missing_library
from recollect.models.model_folder import read_calibration
from recollect.models.onnx_embedder import ModelFiles, ModelTraits, OnnxEmbedder, WordRows
from recollect.models.onnx_model import (
    WORKERS,
    Session,
    Tokenizer,
    by_length,
    open_session,
    question_threads,
)
from recollect.models.sealed_folder import SEAL, SealedFiles, package_folder
from recollect.ports.facets import FacetGuess
from recollect.ports.reader import Reading, Stance, Wish

NAME: Final = "recollect-bilingual"
DATA_PACKAGE: Final = "recollect_embedder"
DIMENSION: Final = 384
EMBEDDER: Final = "embedder.onnx"
# Which file reads pairs in which way, and the number under which the network has learnt that way.
_WAYS: Final = {
    "relation": ("reader.onnx", 0),
    "answer": ("answerer.onnx", 1),
    "part": ("reader.onnx", 2),
    "message": ("reader.onnx", 3),
}
FACETS: Final = "facets.npz"
TOKENIZER: Final = "tokenizer.json"
_WORDS: Final = "words.npy"
_SCALES: Final = "scales.npy"
_LIBRARIES: Final = ("onnxruntime",)
_LONGEST: Final = 256
_HOW_TO_GET: Final = (
    "pip install recollect-embedder brings it, in a clone pip install packages/recollect-embedder; "
    "without it, search goes by keywords."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFiles:
    """The files of the data package, and the word vectors that its models share."""

    files: SealedFiles
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
        self._pairs = PairModel(self.shared)

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
                raise missing_library(" ".join(_LIBRARIES))
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

    def pairs(self) -> PairModel | None:
        """Return the model that reads pairs; None where its file or libraries are missing."""
        folder = self.where()
        if self.condition() != "ready" or folder is None:
            return None
        has_one = any((folder / file).is_file() for file, _ in _WAYS.values())
        return self._pairs if has_one else None

    def _read(self) -> SharedFiles:
        folder = self.where()
        if folder is None:
            raise ModelDamaged(f"{NAME} is not complete", hint=_HOW_TO_GET)
        files = SealedFiles(folder)
        try:
            # Mapped: only the rows of words that are read are in memory, once for all processes.
            rows = np.asarray(np.load(files.place(_WORDS), mmap_mode="r", allow_pickle=False))
            scales = np.load(files.place(_SCALES), allow_pickle=False)
            tokenizer = Tokenizer(files[TOKENIZER], _LONGEST)
        except KeyError as problem:
            raise ModelDamaged(f"{folder} lacks {problem}", hint=_HOW_TO_GET) from None
        return SharedFiles(files=files, words=WordRows(rows, scales), tokenizer=tokenizer)

    def _embedder_files(self) -> ModelFiles:
        shared = self.shared()
        return ModelFiles(
            graph=shared.files.place(EMBEDDER), tokenizer=shared.tokenizer, words=shared.words
        )


# Several memories of one process share the files, which are freed when no memory uses them.
_in_use: Final[WeakValueDictionary[Path | None, LocalModel]] = WeakValueDictionary()
_opening: Final = threading.Lock()


# --- The reader of pairs: one small cross-encoder as judge, answerer and reader of messages -------

_MAX_SIDE_TOKENS: Final = 72
_MAX_QUESTION_TOKENS: Final = 40
# Of a question and all texts together: reading takes about a tenth of a millisecond a token.
_MAX_READ_TOKENS: Final = 320
# Of one batch: a larger one has more padding, and its numbers do not stay in a core's cache.
_BATCH_TOKENS: Final = 96
_FIRST, _BETWEEN, _MARKS = 101, 102, 3
# So many answers are remembered, in some 150 bytes each.
_KEPT_ANSWERS: Final = 4_096
_READ_TOGETHER: Final = 16
_KINDS_OF_A_WAY: Final = 4
_LASTS: Final[tuple[Lasts, ...]] = ("days", "weeks", "long")
_STANCES: Final[tuple[Stance, ...]] = (
    "told",
    "asked",
    "requested",
    "supposed",
    "quoted",
    "denied",
    "chatter",
    "task",
)
_ABOUT: Final = ("user", "other", "thing")
_WISHES: Final[tuple[Wish, ...]] = ("none", "standing", "remember", "forget")
_PART_HEADS: Final = ("worth", "stance", "about", "wish", "facet")
# What is denied is told as well: "I don't work there any more".
_TOLD: Final = [_STANCES.index("told"), _STANCES.index("denied")]
# A text of this many characters has more tokens than are read.
_MAX_READ_CHARS: Final = 1_000

Scores = NDArray[np.float32]
Pieces = list[int]


class PairModel:
    """Reads two texts together in one of several ways. Thread-safe."""

    def __init__(
        self,
        load: Callable[[], SharedFiles],
        *,
        open_session: Callable[[Path], Session] = open_session,
    ) -> None:
        self._load = load
        self._open_session = open_session
        self._lock = threading.Lock()
        self._sessions: dict[str, Session] = {}

    def pieces(self, text: str) -> Pieces:
        """Return the tokens of a text."""
        return self._load().tokenizer.pieces(fold(text))

    def scores(
        self, way: str, heads: Sequence[str], pairs: Sequence[tuple[Pieces, Pieces]]
    ) -> list[Scores]:
        """Return for each head a row of scores for each pair."""
        shared = self._load()
        file, number = _WAYS[way]
        session = self._session(file) if file in shared.files else None
        told = {output.name for output in session.get_outputs()} if session else set[str]()
        if session is None or not told.issuperset(heads):
            raise NotAvailable(
                f"The installed models do not tell {' and '.join(heads)}",
                code="old_model",
                hint="Install a newer recollect-embedder; until then, rules decide.",
            )
        # The session keeps memory for the largest batch, too.
        batches = by_length([len(one) + len(other) for one, other in pairs], _BATCH_TOKENS)
        read = [self._run(session, heads, number, [pairs[it] for it in some]) for some in batches]
        places = np.argsort(np.concatenate(batches))
        return [np.concatenate(rows)[places] for rows in zip(*read, strict=True)]

    def _run(
        self,
        session: Session,
        heads: Sequence[str],
        number: int,
        pairs: Sequence[tuple[Pieces, Pieces]],
    ) -> list[Scores]:
        longest = max([len(first) + len(second) for first, second in pairs])
        ids = np.zeros((len(pairs), longest + _MARKS), np.int64)
        kinds, mask = np.zeros_like(ids), np.zeros_like(ids)
        for row, (first, second) in enumerate(pairs):
            between, end = len(first) + 1, len(first) + len(second) + _MARKS
            ids[row, :end] = [_FIRST, *first, _BETWEEN, *second, _BETWEEN]
            mask[row, :end] = 1
            # For each token its side, and whether the other has it too.
            kinds[row, 1:between] = [*map(set(second).__contains__, first)]
            kinds[row, between + 1 : end - 1] = [*map(set(first).__contains__, second)]
            kinds[row, between + 1 : end] += 2
        kinds += _KINDS_OF_A_WAY * number
        feed = {"words": self._load().words.of(ids), "kinds": kinds, "attention_mask": mask}
        return [np.asarray(scores, np.float32) for scores in session.run(heads, feed)]

    def _session(self, file: str) -> Session:
        with self._lock:
            if file not in self._sessions:
                self._sessions[file] = self._open_session(self._load().files.place(file))
            return self._sessions[file]


class LocalJudge:
    """Scores pairs of statements as same, update, conflict or different. Thread-safe."""

    name = "local-judge"

    def __init__(self, model: PairModel, calibration: JudgeCalibration) -> None:
        self._model = model
        self.calibration = calibration

    def logits(self, pairs: Sequence[tuple[str, str]]) -> Scores:
        """Return a row of four scores for each pair (old statement, new statement)."""
        if not pairs:
            return np.empty((0, 4), np.float32)
        read = [(self._side(old), self._side(new)) for old, new in pairs]
        return self._model.scores("relation", ["relation"], read)[0]

    def _side(self, text: str) -> Pieces:
        return self._model.pieces(text)[:_MAX_SIDE_TOKENS]


class _Known(NamedTuple):
    """What is known of a question and a text."""

    tokens: int
    # None before it was read; not a number, if it is longer than the model has learnt to read.
    logit: float | None


class LocalAnswerer:
    """Scores how clearly texts answer a question. Implements `Answerer`; thread-safe."""

    name = "local-answerer"

    def __init__(self, model: PairModel, calibration: AnswererCalibration) -> None:
        self._model = model
        self._shift = calibration.shift
        # By a digest of the question and the text, so that neither is kept.
        self._known: OrderedDict[bytes, _Known] = OrderedDict()

    async def logits(self, question: str, texts: Sequence[str]) -> Scores:
        """Return a number for each text; above 0 it rather answers the question.

        What is longer than the model has learnt to read is not a number, nor is what comes after
        so much as can be read while somebody waits.
        """
        keys = [_digest(question, text) for text in texts]
        known = self._known
        found, is_whole = _logits_of(keys, known)
        if not is_whole:
            await self._read_new(question, dict(zip(keys, texts, strict=True)), known)
            found, _ = _logits_of(keys, known)
        return found

    def forget(self) -> None:
        # Another one, since what is being read now goes into the old one.
        self._known = OrderedDict()

    async def close(self) -> None:
        """Do nothing: other models use the same files."""

    async def _read_new(
        self, question: str, texts: Mapping[bytes, str], known: OrderedDict[bytes, _Known]
    ) -> None:
        """Read the texts that were not read before, as far as somebody may wait for that."""
        run, threads = asyncio.get_running_loop().run_in_executor, question_threads()
        pairs, found = await run(threads, self._pairs, question, texts, known)
        new = [*pairs]
        # Texts of one length together, since a batch is padded to its longest; as many batches for
        # each core, since somebody waits for this.
        lengths = [len(asked) + len(pieces) for asked, pieces in pairs.values()]
        batches = [[new[at] for at in it] for it in by_length(lengths, _BATCH_TOKENS, WORKERS)]
        reading = [run(threads, self._scores, [pairs[it] for it in batch]) for batch in batches]
        for batch, read in zip(batches, await asyncio.gather(*reading), strict=True):
            for key, logit in zip(batch, read, strict=True):
                found[key] = found[key]._replace(logit=logit)
        # Those of this call last, since the first ones are forgotten.
        for key in texts:
            if (told := found.get(key) or known.get(key)) is not None:
                known[key] = told
                known.move_to_end(key)
        while len(known) > _KEPT_ANSWERS:
            known.popitem(last=False)

    def _pairs(
        self, question: str, texts: Mapping[bytes, str], known: Mapping[bytes, _Known]
    ) -> tuple[dict[bytes, tuple[Pieces, Pieces]], dict[bytes, _Known]]:
        """Return the tokens of the question and of each text to read, and what is known of them."""
        pairs: dict[bytes, tuple[Pieces, Pieces]] = {}
        found: dict[bytes, _Known] = {}
        asked = self._read(question)
        left = _MAX_READ_TOKENS if len(asked) <= _MAX_QUESTION_TOKENS else 0
        for key, text in texts.items() if left else ():
            told = known.get(key)
            if told is None or told.logit is None:
                pieces = self._read(text)
                is_too_long = len(pieces) >= _MAX_SIDE_TOKENS
                told = _Known(len(asked) + len(pieces), math.nan if is_too_long else None)
                found[key] = told
                if not is_too_long and told.tokens <= left:
                    pairs[key] = asked, pieces
            left -= told.tokens
            if left < 0:
                break
        return pairs, found

    def _scores(self, pairs: Sequence[tuple[Pieces, Pieces]]) -> list[float]:
        (logits,) = self._model.scores("answer", ["answer"], pairs)
        return (logits[:, 0] + self._shift).tolist()

    def _read(self, text: str) -> Pieces:
        return self._model.pieces(" ".join(text[:_MAX_READ_CHARS].split()))[:_MAX_SIDE_TOKENS]


def _logits_of(keys: Sequence[bytes], known: Mapping[bytes, _Known]) -> tuple[Scores, bool]:
    """Return the logits as far as they are known, and whether there are no more to read."""
    found = np.full(len(keys), np.nan, np.float32)
    left = _MAX_READ_TOKENS
    for place, key in enumerate(keys):
        told = known.get(key)
        if told is None:
            return found, False
        left -= told.tokens
        if left < 0:
            break
        if told.logit is None:
            return found, False
        found[place] = told.logit
    return found, True


def _digest(question: str, text: str) -> bytes:
    told = f"{question}\0{text}".encode("utf-8", "surrogatepass")
    return blake2b(told, digest_size=16).digest()


class LocalReader:
    """Reads messages and their parts. Implements `PartReader`; thread-safe."""

    def __init__(self, model: PairModel, calibration: ReaderCalibration) -> None:
        self._model = model
        self._calibration = calibration

    async def read(self, parts: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        """Return a reading for each pair of the words before a part and its own words."""
        return await asyncio.to_thread(self._read, parts)

    async def needs(self, messages: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return, for each pair of the assistant's words and a message, whether it needs memory."""
        return await asyncio.to_thread(self._needs, messages)

    def _read(self, parts: Sequence[tuple[str, str]]) -> list[Reading]:
        found: list[Reading] = []
        for start in range(0, len(parts), _READ_TOGETHER):
            some = [
                (self._side(before), self._side(text))
                for before, text in parts[start : start + _READ_TOGETHER]
            ]
            scores = self._model.scores("part", _PART_HEADS, some)
            found += (self._reading(*rows) for rows in zip(*scores, strict=True))
        return found

    def _needs(self, messages: Sequence[tuple[str, str]]) -> list[float]:
        if not messages:
            return []
        pairs = [(self._side(before), self._both_ends(text)) for before, text in messages]
        (scores,) = self._model.scores("message", ["needs"], pairs)
        return [float(it) for it in scores[:, 1] - scores[:, 0] - self._calibration.need]

    def _reading(
        self, worth: Scores, stance: Scores, about: Scores, wish: Scores, facet: Scores
    ) -> Reading:
        """Return how sure it is that a part is told and worth keeping, and what else is read."""
        kept = worth[1:].astype(np.float64)
        odds = _odds_of_both(_share(worth, slice(1, None)), _share(stance, _TOLD))
        whose, asked = int(about.argmax()), int(wish.argmax())
        is_named = _share(about, [whose]) >= math.log(self._calibration.about)
        subject = _ABOUT[whose] if is_named else ""
        subjects = {name: math.exp(_share(about, [it])) for it, name in enumerate(_ABOUT)}
        is_wish = _share(wish, [asked]) >= math.log(self._calibration.wish)
        return Reading(
            score=odds - self._calibration.limit,
            worth=float(np.logaddexp.reduce(kept) - worth[0]),
            lasts=_LASTS[int(kept.argmax())],
            stance=_STANCES[int(stance.argmax())],
            about=subject,
            wish=_WISHES[asked] if is_wish else "none",
            states=replace(self._states(facet), about=subject, abouts=subjects),
        )

    def _states(self, scores: Scores) -> FacetGuess:
        """Return which attribute a part states."""
        names = (*facets(), "")
        cooled = scores.astype(np.float64) / self._calibration.facet_temperature
        odds = np.exp(cooled - np.logaddexp.reduce(cooled))
        best = int(odds.argmax())
        is_likely = bool(odds[best] >= self._calibration.facet)
        return FacetGuess(
            facet=names[best] if is_likely else "",
            probability=float(odds[best]),
            facets=dict(zip(names, odds.tolist(), strict=True)),
        )

    def _side(self, text: str) -> Pieces:
        return self._model.pieces(text)[:_MAX_SIDE_TOKENS]

    def _both_ends(self, text: str) -> Pieces:
        """Return the first and the last tokens of a message, which tell what it wants."""
        pieces = self._model.pieces(text)
        if len(pieces) <= 2 * _MAX_SIDE_TOKENS:
            return pieces
        return [*pieces[:_MAX_SIDE_TOKENS], *pieces[-_MAX_SIDE_TOKENS:]]


def _share(scores: Scores, places: slice | list[int]) -> float:
    """Return the logarithm of the probability of these places together."""
    every = scores.astype(np.float64)
    return float(np.logaddexp.reduce(every[places]) - np.logaddexp.reduce(every))


def _odds_of_both(one: float, other: float) -> float:
    """Return the log odds that both hold, of the logarithms of their probabilities."""
    both = min(one + other, -np.finfo(np.float64).eps)
    return float(both - np.log(-np.expm1(both)))


def open_reader(folder: Path | None) -> LocalReader | None:
    """Return the local reader; None where its file or libraries are not installed."""
    model = local_model(folder)
    pairs = model.pairs()
    return None if pairs is None else LocalReader(pairs, model.calibration().reader)


def open_judge(folder: Path | None) -> LocalJudge | None:
    """Return the local judge; None where its files or libraries are not installed."""
    model = local_model(folder)
    pairs = model.pairs()
    return None if pairs is None else LocalJudge(pairs, model.calibration().judge)


def open_answerer(folder: Path | None) -> LocalAnswerer | None:
    """Return the local answerer; None where its file or libraries are not installed."""
    pairs = local_model(folder).pairs()
    if pairs is None:
        return None
    return LocalAnswerer(pairs, local_model(folder).calibration().answerer)
