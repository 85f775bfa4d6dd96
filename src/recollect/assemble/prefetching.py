"""Settings → what is looked up for a message before a model reads it."""

from __future__ import annotations

from recollect.backends.sql.database import Database
from recollect.backends.sql.upkeep import SqlUpkeep
from recollect.domain.context import ContextOptions
from recollect.lifecycle.usage import Usage
from recollect.models.exact_tokens import ExactTokens
from recollect.ports.clock import Clock
from recollect.ports.tokens import TokenCounter
from recollect.recall.cache import CachedRecaller
from recollect.recall.prefetch import Prefetch, PrefetchOptions
from recollect.settings import Settings
from recollect.text.tokens import EstimatedTokens


def prefetch_of(
    settings: Settings, recaller: CachedRecaller, clock: Clock, usage: Usage, database: Database
) -> Prefetch:
    """What makes a block for the prompt, and has counted what enters it."""
    tokens, options = token_counter(settings), _options(settings)
    upkeep = SqlUpkeep(database)
    return Prefetch(recaller, tokens, clock, options, upkeep, usage.entered, usage.injected)


def token_counter(settings: Settings) -> TokenCounter:
    """How tokens are counted: nearly, or as one of OpenAI's encodings does."""
    encoding = settings.session.tokens
    return EstimatedTokens() if encoding == "estimate" else ExactTokens(encoding)


def _options(settings: Settings) -> PrefetchOptions:
    recall = settings.recall
    return PrefetchOptions(
        limit=recall.prefetch_limit,
        limits={
            name: (agent.prefetch_limit or recall.prefetch_limit) if agent.enabled else 0
            for name, agent in settings.agents.items()
        },
        context=ContextOptions(
            form=recall.context_form,
            max_tokens=recall.max_context_tokens,
            place=recall.context_place,
        ),
    )
