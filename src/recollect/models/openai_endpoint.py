"""Embeddings from any endpoint with OpenAI's /embeddings API."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import numpy as np

from recollect.domain.embedding import Calibration
from recollect.errors import NotAvailable
from recollect.models.faults import EmbeddingFailed, Vectors, unit_rows
from recollect.models.http_service import Access, HttpService
from recollect.models.onnx_model import readable
from recollect.ports.embedder import Progress, Purpose

OPENAI_URL: Final = "https://api.openai.com/v1"
KNOWN_DIMENSIONS: Final = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
_FIRST_PAUSE_SECONDS: Final = 0.5
_MAX_PAUSE_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The address of a remote model and how to call it."""

    model: str
    dimension: int
    base_url: str = OPENAI_URL
    api_key: str = field(default="", repr=False)
    query_prefix: str = ""
    passage_prefix: str = ""
    batch_size: int = 64
    timeout: float = 30.0
    retries: int = 3


class OpenAIEmbedder:
    """A remote model, with retries if the endpoint is busy; answers are validated."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        # As counted by the endpoint.
        self.input_tokens = 0
        self._service = HttpService(
            Access(
                base_url=endpoint.base_url,
                api_key=endpoint.api_key,
                timeout=endpoint.timeout,
                retries=endpoint.retries,
                first_pause=_FIRST_PAUSE_SECONDS,
                longest_pause=_MAX_PAUSE_SECONDS,
            ),
            failed=self._failed,
            refused=self._refused,
        )

    @property
    def model(self) -> str:
        return f"openai:{self._endpoint.model}/{self._endpoint.dimension}"

    @property
    def dimension(self) -> int:
        return self._endpoint.dimension

    @property
    def calibration(self) -> Calibration:
        return Calibration()

    def reads(self, text: str) -> bool:
        return bool(text.strip())

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> Vectors:
        endpoint = self._endpoint
        prefix = endpoint.query_prefix if purpose == "query" else endpoint.passage_prefix
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), endpoint.batch_size):
            # Some endpoints refuse the whole batch for an empty text.
            some = texts[start : start + endpoint.batch_size]
            batch = [prefix + readable(text) or " " for text in some]
            vectors[start : start + len(batch)] = await self._batch(batch)
            if progress is not None:
                progress(start + len(batch), len(texts))
        return vectors

    def notes(self) -> tuple[str, ...]:
        return ()

    async def close(self) -> None:
        await self._service.close()

    async def _batch(self, texts: list[str]) -> Vectors:
        body: dict[str, Any] = {"model": self._endpoint.model, "input": texts}
        # Only some models support this parameter, so it is sent only if needed.
        if KNOWN_DIMENSIONS.get(self._endpoint.model, self.dimension) != self.dimension:
            body["dimensions"] = self.dimension
        rows, tokens = _read(await self._service.post("embeddings", body), model=self.model)
        self.input_tokens += tokens
        return unit_rows(rows, count=len(texts), dimension=self.dimension, model=self.model)

    def _failed(self, why: str) -> EmbeddingFailed:
        return EmbeddingFailed(
            f"The embedding endpoint {self._endpoint.base_url} failed: {why}",
            code="embedding_endpoint_failed",
            hint="It is tried again later; texts saved meanwhile get their vectors then.",
        )

    def _refused(self, why: str) -> NotAvailable:
        return NotAvailable(
            f"The embedding endpoint {self._endpoint.base_url} refused {self._endpoint.model}: "
            f"{why}",
            code="embedding_refused",
            hint="Check embedding.model, embedding.base_url and embedding.api_key.",
        )


def _read(answer: bytes, *, model: str) -> tuple[Vectors, int]:
    """Return the vectors of an answer in the order of the texts, and the tokens if given."""
    try:
        told: dict[str, Any] = json.loads(answer)
        data = cast("list[dict[str, Any]]", told["data"])
        ordered = sorted(data, key=lambda item: int(item.get("index", 0)))
        cost = cast("dict[str, Any]", told.get("usage") or {})
        tokens = int(cost.get("prompt_tokens") or 0)
        return np.array([item["embedding"] for item in ordered], np.float32), tokens
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise EmbeddingFailed(
            f"{model} answered with something that is not a list of vectors: {problem}",
            code="bad_vectors",
        ) from None
