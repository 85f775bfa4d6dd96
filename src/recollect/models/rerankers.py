"""Rerankers: cross-encoders in a folder, or scores from an endpoint."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from recollect.domain.sections import RerankSettings
from recollect.errors import Closed, NotAvailable, SettingsError
from recollect.models.http_service import Access, HttpService
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
from recollect.models.sealed_folder import folder_named
from recollect.ports.judge import Answerer

# --- Scores from any endpoint with the /rerank API of Cohere or of text-embeddings-inference ------

COHERE_URL: Final = "https://api.cohere.com/v2"

# `endpoint` is Cohere's format on other servers: Jina, vLLM, llama.cpp, LiteLLM, most gateways.
Kind = Literal["cohere", "endpoint", "tei"]

# A recall waits for the answer, so pauses are short.
_FIRST_PAUSE_SECONDS: Final = 0.1
_MAX_PAUSE_SECONDS: Final = 1.0
# A probability may be rounded slightly beyond its range, or to its end.
_ROUNDING: Final = 1e-3
_LEAST_PROBABILITY: Final = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankEndpoint:
    """The address of a remote reranker and how to call it."""

    kind: Kind
    model: str
    base_url: str
    api_key: str = field(default="", repr=False)
    batch_size: int
    # Seconds for all texts of a question, including retries.
    timeout: float
    retries: int


class EndpointReranker:
    """A remote reranker. The first question imports its library and connects."""

    def __init__(self, endpoint: RerankEndpoint) -> None:
        self._endpoint = endpoint
        self._service: HttpService | None = None
        self._opening = asyncio.Lock()
        self._is_closed = False
        self._gives_logits = False

    @property
    def name(self) -> str:
        return f"{self._endpoint.kind}:{self._endpoint.model}"

    async def logits(self, question: str, texts: Sequence[str]) -> Logits:
        asked, size = readable(question), self._endpoint.batch_size
        raw: list[float] = []
        try:
            async with asyncio.timeout(self._endpoint.timeout):
                service = await self._opened()
                for start in range(0, len(texts), size):
                    # Some endpoints refuse the whole batch for an empty text.
                    batch = [readable(text) or " " for text in texts[start : start + size]]
                    answer = await service.post("rerank", self._body(asked, batch))
                    raw += _read(answer, count=len(batch), model=self.name)
        except TimeoutError:
            raise self._failed(f"no answer within {self._endpoint.timeout:g} s") from None
        return self._as_logits(np.array(raw, np.float64))

    def forget(self) -> None:
        """Do nothing: nothing is kept."""

    async def close(self) -> None:
        async with self._opening:
            self._is_closed = True
            if self._service is not None:
                await self._service.close()

    async def _opened(self) -> HttpService:
        async with self._opening:
            if self._is_closed:
                raise Closed("The reranker was closed")
            if self._service is None:
                self._check_access()
                # Importing the library would block other tasks.
                self._service = await asyncio.to_thread(self._open)
            return self._service

    def _open(self) -> HttpService:
        access = Access(
            base_url=self._endpoint.base_url,
            api_key=self._endpoint.api_key,
            timeout=self._endpoint.timeout,
            retries=self._endpoint.retries,
            first_pause=_FIRST_PAUSE_SECONDS,
            longest_pause=_MAX_PAUSE_SECONDS,
        )
        return HttpService(access, failed=self._failed, refused=self._refused)

    def _check_access(self) -> None:
        """Raise an error if the access is incomplete, before anything is sent."""
        endpoint = self._endpoint
        if not endpoint.base_url:
            missing = "base_url"
        elif endpoint.base_url == COHERE_URL and not endpoint.api_key:
            missing = "api_key"
        else:
            return
        raise NotAvailable(
            f"{self.name} cannot be asked without {missing}",
            code="reranker_not_configured",
            hint=f"Set rerank.{missing}.",
        )

    def _body(self, question: str, texts: list[str]) -> dict[str, Any]:
        if self._endpoint.kind == "tei":
            return {"query": question, "texts": texts, "truncate": True}
        model = self._endpoint.model
        return {"model": model, "query": question, "documents": texts, "top_n": len(texts)}

    def _as_logits(self, raw: NDArray[np.float64]) -> Logits:
        """Return the logits of probabilities; some servers return logits, which is remembered."""
        if np.any((raw < -_ROUNDING) | (raw > 1 + _ROUNDING)):
            self._gives_logits = True
        if self._gives_logits:
            return raw.astype(np.float32)
        inside = np.clip(raw, _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY)
        return np.log(inside / (1 - inside)).astype(np.float32)

    def _failed(self, why: str) -> RerankingFailed:
        return RerankingFailed(
            f"The rerank endpoint {self._endpoint.base_url} failed: {why}",
            code="rerank_endpoint_failed",
            hint="The local model reads instead; the next question asks the endpoint again.",
        )

    def _refused(self, why: str) -> NotAvailable:
        return NotAvailable(
            f"The rerank endpoint {self._endpoint.base_url} refused {self.name}: {why}",
            code="rerank_refused",
            hint="Check rerank.model, rerank.base_url, rerank.api_key and rerank.batch_size.",
        )


def _read(answer: bytes, *, count: int, model: str) -> list[float]:
    """Return the scores in the order of the texts; the answer lists the best first."""
    try:
        told: Any = json.loads(answer)
        results = cast("list[dict[str, Any]]", told["results"] if isinstance(told, dict) else told)
        scored = {int(result["index"]): _score(result) for result in results}
        ordered = [scored[at] for at in range(count)]
    except (ValueError, KeyError, TypeError, OverflowError) as problem:
        raise bad_scores(model, f"{type(problem).__name__} {problem}") from None
    if len(results) != count:
        raise bad_scores(model, f"{len(results)} for {count} texts")
    if not np.all(np.isfinite(ordered)):
        raise bad_scores(model, "some are not numbers")
    return ordered


def _score(result: dict[str, Any]) -> float:
    return float(result["relevance_score"] if "relevance_score" in result else result["score"])


# --- Logits and errors of rerankers ---------------------------------------------------------------


Logits: TypeAlias = NDArray[np.float32]


class RerankingFailed(NotAvailable):
    """The model failed, but may succeed later."""

    code = "reranking_failed"
    retryable = True


def bad_scores(model: str, why: str) -> RerankingFailed:
    """Return the error for an answer without one valid number per text."""
    return RerankingFailed(f"{model} gave no usable scores: {why}", code="bad_scores")


# --- Rerankers: cross-encoders in a folder, or scores from an endpoint ----------------------------


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

    def forget(self) -> None:
        """Do nothing: nothing is kept."""

    async def logits(self, question: str, texts: Sequence[str]) -> Logits:
        logits = np.empty(len(texts), np.float32)

        def take(batch: list[int], some: Logits) -> None:
            logits[batch] = some

        pairs = await self._in_thread(self._bulk, self._pairs, question, texts)
        await self._in_batches(pairs, self._run, take)
        return logits

    def _pairs(self, question: str, texts: Sequence[str]) -> list[Tokens]:
        asked = readable(question)
        return [self._loaded().tokenizer.read(asked, readable(text)) for text in texts]

    def _run(self, pairs: list[Tokens]) -> Logits:
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
        return logits.reshape(-1)


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


def open_reranker(choice: RerankSettings) -> Answerer | None:
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


def _endpoint(kind: Kind, name: str, choice: RerankSettings) -> RerankEndpoint:
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
