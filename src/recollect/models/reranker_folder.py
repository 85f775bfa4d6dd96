"""Cross-encoders in a folder with model.onnx and tokenizer.json."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.errors import NotAvailable, SettingsError
from recollect.models.model_folder import find_files, longest_text
from recollect.models.onnx_model import (
    OnnxModel,
    Session,
    Tokenizer,
    Tokens,
    open_session,
    padded,
    readable,
)
from recollect.models.reranker_endpoint import (
    COHERE_URL,
    EndpointReranker,
    Kind,
    RerankEndpoint,
    RerankingFailed,
    Scores,
    bad_scores,
    from_logits,
)
from recollect.models.sealed_folder import folder_named
from recollect.ports.judge import Reranker


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


# --- The catalogue of rerankers, opened by their name in the settings -----------------------------

_NO_RERANKER: Final = frozenset({"", "none"})
_KINDS: Final = "none, folder:PATH, cohere:NAME, endpoint:NAME or tei:NAME"
# Cohere counts a hundred texts as one search; text-embeddings-inference accepts 32 by default.
_BATCH_SIZE: Final = 100
_TEI_BATCH_SIZE: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerChoice:
    """A reranker as settings name it.

    `model` is empty or `none` for no reranker, or one of `folder:PATH`, `cohere:NAME`,
    `endpoint:NAME`, `tei:NAME`. Fields that are left empty are read from the model's own files or
    have the defaults of the model.
    """

    model: str = ""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    longest: int | None = None
    batch_size: int | None = None
    timeout: float = 10.0
    retries: int = 1


def open_reranker(choice: RerankerChoice) -> Reranker | None:
    """Open the chosen reranker; return None if none is chosen.

    Nothing is loaded or connected before the first question, so a missing part is reported only
    then.
    """
    if choice.model in _NO_RERANKER:
        return None
    kind, _, name = choice.model.partition(":")
    match kind:
        case "folder" if name:
            return FolderReranker(folder_named(name), longest=choice.longest)
        case "cohere" | "endpoint" | "tei" if name:
            return EndpointReranker(_endpoint(kind, name, choice))
        case _:
            raise SettingsError(
                f"There is no reranker {choice.model!r}",
                code="unknown_reranker",
                hint=f"rerank.model is {_KINDS}.",
            )


def _endpoint(kind: Kind, name: str, choice: RerankerChoice) -> RerankEndpoint:
    usual_url = COHERE_URL if kind == "cohere" else ""
    usual_size = _TEI_BATCH_SIZE if kind == "tei" else _BATCH_SIZE
    return RerankEndpoint(
        kind=kind,
        model=name,
        base_url=choice.base_url or usual_url,
        api_key=choice.api_key,
        batch_size=choice.batch_size or usual_size,
        timeout=choice.timeout,
        retries=choice.retries,
    )
