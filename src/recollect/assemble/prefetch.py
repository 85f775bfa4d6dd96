"""Settings → the prefetch service."""

from __future__ import annotations

from collections.abc import Callable

from recollect.domain.context import ContextOptions
from recollect.domain.meter import Meter
from recollect.language.token_estimate import EstimatedTokens
from recollect.lifecycle.usage import Usage
from recollect.models.exact_tokens import ExactTokens
from recollect.ports.language_model import TokenCounter
from recollect.ports.runtime import Clock
from recollect.ports.upkeep import UpkeepReader
from recollect.recall.cache import CachedRecaller
from recollect.recall.prefetch import PassageSource, Prefetch, PrefetchOptions
from recollect.settings import Settings


def prefetch_of(
    settings: Settings,
    recaller: CachedRecaller,
    clock: Clock,
    usage: Usage,
    upkeep: UpkeepReader,
    meter: Meter,
    source: Callable[[], PassageSource],
) -> Prefetch:
    """Return the service that makes memory blocks for prompts and counts their use."""
    tokens, options = token_counter(settings), _options(settings)
    return Prefetch(
        recaller, tokens, clock, options, upkeep, usage.entered, usage.injected, meter, source
    )


def token_counter(settings: Settings) -> TokenCounter:
    """Return the token counter: an estimate, or one of OpenAI's encodings."""
    encoding = settings.session.tokens
    return EstimatedTokens() if encoding == "estimate" else ExactTokens(encoding)


def _options(settings: Settings) -> PrefetchOptions:
    recall = settings.recall

    def limit_of(name: str) -> int:
        # Looked up each time: agents may be changed while memory is open.
        agent = settings.agent(name)
        return (agent.prefetch_limit or recall.prefetch_limit) if agent.enabled else 0

    return PrefetchOptions(
        limit=recall.prefetch_limit,
        limit_of_agent=limit_of,
        context=ContextOptions(
            form=recall.context_form,
            max_tokens=recall.max_context_tokens,
            place=recall.context_place,
        ),
        clause_hits=recall.clause_hits,
        document_tokens=settings.knowledge.context_tokens,
    )
