"""Fakes, named as such, for what a test must be able to break at will."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recollect.domain.embedding import Calibration
from recollect.domain.relation import Relation, Verdict
from recollect.errors import NotAvailable
from recollect.models.sealed_folder import SEAL, sha256
from recollect.ports.embedder import Progress, Purpose
from recollect.ports.judge import Judged, Statement


class FakeEmbedder:
    """Vectors from hashed words: alike texts are near, and a test can make it fail."""

    def __init__(self, model: str = "fake-1", dimension: int = 64) -> None:
        self.model = model
        self.dimension = dimension
        self.calibration = Calibration()
        self.is_broken = False
        self.calls = 0
        self.reads_only_ascii = False

    def reads(self, text: str) -> bool:
        return bool(text) and (text.isascii() or not self.reads_only_ascii)

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        self.calls += 1
        if self.is_broken:
            raise NotAvailable("the fake model was told to fail", code="embedding_failed")
        rows = [self._vector(text) for text in texts]
        if progress is not None:
            progress(len(rows), len(rows))
        return np.array(rows, np.float32).reshape(len(rows), self.dimension)

    def notes(self) -> tuple[str, ...]:
        return ()

    async def close(self) -> None: ...

    def _vector(self, text: str) -> NDArray[np.float32]:
        total = np.full(self.dimension, 1e-3, np.float32)
        for word in text.lower().split():
            seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest())
            total += np.random.default_rng(seed).normal(size=self.dimension).astype(np.float32)
        return total / np.linalg.norm(total)


class FakeJudge:
    """Knows how some statements relate because a test says so; all others are different."""

    name = "fake-judge"

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], Verdict] = {}
        self.asked: list[tuple[str, str]] = []
        self.is_sure_of_all: Relation = "different"

    def knows(
        self, old: str, new: str, relation: Relation, *, is_sure: bool = False, likely: float = 0.9
    ) -> None:
        """From now on this is the verdict on the pair."""
        self.known[old, new] = Verdict(
            relation=relation,
            probability=likely,
            reason="as the test says",
            decided_by=self.name,
            is_sure=is_sure,
        )

    async def judge(self, new: Statement, stored: Sequence[Statement]) -> Judged:
        pairs = [(old.text, new.text) for old in stored]
        self.asked += pairs
        other = Verdict(
            relation=self.is_sure_of_all,
            probability=0.9,
            reason="as the test says",
            decided_by=self.name,
            is_sure=self.is_sure_of_all != "different",
        )
        return Judged(verdicts=tuple(self.known.get(pair, other) for pair in pairs))


def write_sealed(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a model's files and their seal, as a package of models has them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (folder / SEAL).write_text(json.dumps({name: sha256(data) for name, data in files.items()}))
