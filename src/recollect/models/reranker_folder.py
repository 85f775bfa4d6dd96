"""Cross-encoders in a folder with model.onnx and tokenizer.json."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recollect.errors import NotAvailable
from recollect.models.folder_files import find_files, longest_text
from recollect.models.onnx_model import OnnxModel
from recollect.models.onnx_session import Session, open_session
from recollect.models.reranker_endpoint import RerankingFailed, Scores, bad_scores, from_logits
from recollect.models.tokenizer import Tokenizer, Tokens, padded, readable


class FolderReranker(OnnxModel["_Engine"]):
    """Scores the question with each text, in parallel batches on its own threads.

    The first question opens the folder.
    """

    def __init__(
        self,
        folder: Path,
        *,
        longest: int | None = None,
        open_session: Callable[[bytes | Path], Session] = open_session,
    ) -> None:
        def open_engine() -> _Engine:
            files = find_files(folder)
            tokenizer = Tokenizer(files.read_tokenizer(), longest or longest_text(folder))
            return _Engine(tokenizer, open_session(files.graph))

        super().__init__(open_engine)
        self._folder = folder

    @property
    def name(self) -> str:
        return f"folder:{self._folder}"

    async def scores(self, question: str, texts: Sequence[str]) -> Scores:
        scores = np.empty(len(texts), np.float32)

        def take(batch: list[int], some: Scores) -> None:
            scores[batch] = some

        pairs = await self._in_thread(self._bulk, self._pairs, question, texts)
        await self._in_batches(pairs, self._run, take)
        return scores

    def _pairs(self, question: str, texts: Sequence[str]) -> list[Tokens]:
        asked = readable(question)
        return [self._loaded().tokenizer.read(asked, readable(text)) for text in texts]

    def _run(self, pairs: list[Tokens]) -> Scores:
        def failed(why: str) -> RerankingFailed:
            return RerankingFailed(
                f"{self.name} failed on {len(pairs)} texts: {why}",
                hint="The next call loads it again.",
            )

        logits = self._attempt(lambda engine: engine.logits(pairs), failed)
        if logits.shape not in {(len(pairs), 1), (len(pairs),)}:
            raise NotAvailable(
                f"{self.name} is not a reranker: it answers {len(pairs)} texts with numbers of "
                f"shape {logits.shape}",
                code="not_a_reranker",
                hint="Take a cross-encoder with one number a pair, such as bge-reranker-v2-m3.",
            )
        if not np.all(np.isfinite(logits)):
            raise bad_scores(self.name, "some are not numbers")
        return from_logits(logits.reshape(-1))


class _Engine:
    """A session with its tokenizer, which turns each pair of texts into a logit."""

    def __init__(self, tokenizer: Tokenizer, session: Session) -> None:
        self.tokenizer = tokenizer
        self._session = session
        self._inputs = {port.name for port in session.get_inputs()}
        self._output = session.get_outputs()[0].name

    def logits(self, pairs: Sequence[Tokens]) -> NDArray[np.float32]:
        wanted = {name: array for name, array in padded(pairs).items() if name in self._inputs}
        (raw,) = self._session.run([self._output], wanted)
        return np.asarray(raw, np.float32)
