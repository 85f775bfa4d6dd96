"""The local judge: a small cross-encoder for the relation of a new statement to an old one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.language.characters import fold
from recollect.models.local_model import JUDGE, TOKENIZER, LocalModel, SharedFiles, local_model
from recollect.models.onnx_model import Session, Tokenizer, open_session

_MAX_SIDE_TOKENS: Final = 72
_OUTPUT: Final = "relation"
_FIRST, _BETWEEN = 101, 102


class LocalJudge:
    """Scores pairs of statements as same, update, conflict or different. Thread-safe."""

    def __init__(
        self,
        load: Callable[[], SharedFiles],
        *,
        open_session: Callable[[bytes], Session] = open_session,
    ) -> None:
        self._load = load
        self._open_session = open_session
        self._parts: tuple[SharedFiles, Session, Tokenizer] | None = None

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return a row of four scores for each pair (old statement, new statement)."""
        shared, session, tokenizer = self._loaded()
        joined = [
            _join(tokenizer.pieces(fold(old)), tokenizer.pieces(fold(new))) for old, new in pairs
        ]
        if not joined:
            return np.empty((0, 4), np.float32)
        ids = np.zeros((len(joined), max(len(it) for it, _ in joined)), np.int64)
        kinds, mask = np.zeros_like(ids), np.zeros_like(ids)
        for row, (tokens, sides) in enumerate(joined):
            ids[row, : len(tokens)] = tokens
            kinds[row, : len(tokens)] = sides
            mask[row, : len(tokens)] = 1
        feed = {"words": shared.words.of(ids), "kinds": kinds, "attention_mask": mask}
        (scores,) = session.run([_OUTPUT], feed)
        return np.asarray(scores, np.float32)

    def _loaded(self) -> tuple[SharedFiles, Session, Tokenizer]:
        if self._parts is None:
            shared = self._load()
            session = self._open_session(shared.files[JUDGE])
            self._parts = shared, session, Tokenizer(shared.files[TOKENIZER], _MAX_SIDE_TOKENS)
        return self._parts


class LocalClassifier:
    """The local judge with its calibrated thresholds."""

    def __init__(self, model: LocalModel) -> None:
        self.name = "local-judge"
        self._judge = LocalJudge(model.shared)
        self.calibration = model.calibration().judge

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return self._judge.logits(pairs)


def open_judge(folder: Path | None) -> LocalClassifier | None:
    """Return the local judge; None where its files or libraries are not installed."""
    model = local_model(folder)
    return LocalClassifier(model) if model.condition() == "ready" else None


def _join(old: list[int], new: list[int]) -> tuple[list[int], list[int]]:
    """Return the two as one text, and for each token its side and whether the other has it too."""
    in_old, in_new = set(old), set(new)
    old_kinds = (int(token in in_new) for token in old)
    new_kinds = (2 + (token in in_old) for token in new)
    return [_FIRST, *old, _BETWEEN, *new, _BETWEEN], [0, *old_kinds, 0, *new_kinds, 2]
