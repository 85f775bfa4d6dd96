"""The catalogue of rerankers, opened by their name in the settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from recollect.errors import SettingsError
from recollect.models.places import folder_named
from recollect.models.reranker_endpoint import COHERE_URL, EndpointReranker, Kind, RerankEndpoint
from recollect.models.reranker_folder import FolderReranker
from recollect.ports.judge import Reranker

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
