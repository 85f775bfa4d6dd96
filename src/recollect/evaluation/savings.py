"""What the window, the archive and recall save, in the tables of the design documents.

The labelled texts are what tools return; tokens are estimated as the window estimates them.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from recollect.context.compression import (
    Compression,
    Trimmer,
    digested_to,
    edits_of,
    segments,
    summarised_to,
    trimmed_to,
)
from recollect.context.edits import apply
from recollect.context.summariser import Summariser
from recollect.context.summary_text import summary_message
from recollect.domain.caches import CacheStats
from recollect.domain.message import Message, TextPart, ToolCall
from recollect.evaluation.digests import LabelledText
from recollect.language.digest import digest
from recollect.language.token_estimate import EstimatedTokens
from recollect.memory import Memory
from recollect.ports.language_model import message_tokens
from recollect.settings import Settings

_TOKENS: Final = EstimatedTokens()
_MESSAGES: Final = 200
_RESULT_CHARS: Final = 1_500
_ANSWER_TOKENS: Final = 330
_ROUNDS: Final = 10
_ROUND_CHARS: Final = 50_000
_ASKED: Final = 12
_USER: Final = "ann"
# What the design documents estimate.
ESTIMATES: Final = {
    "compression, level 1": "30% (50K to 35K)",
    "compression, level 2": "84% (50K to 8K)",
    "compression, level 3": "93% (50K to 3.3K)",
    "context compression": "40-70%",
    "summaries instead of texts": "60-80%",
    "work on memory that no large model does": "(no figure)",
    "recall instead of everything": "50-90%",
    "tool results": "30-50%",
    "shared context": "20-30%",
    "hits: embeddings": "60%+",
    "hits: recall": "30%",
    "hits: summaries": "90%+",
    "ten rounds, placeholder": "80%+",
    "ten rounds, one loaded": "(20 of 275 x 10K)",
    "ten rounds, passages": "80%+",
}


async def measure_savings(texts: Sequence[LabelledText], settings: Settings) -> dict[str, float]:
    """Return the shares of tokens that are saved, and the hit rates of caches."""
    with tempfile.TemporaryDirectory() as folder:
        place = {"data_dir": folder}
        chosen = Settings.load({**settings.model_dump(exclude_unset=True), **place})
        async with Memory.open(chosen) as memory:
            found = await _compression(texts, chosen)
            found |= await _recall(memory, texts)
            found |= await _caches(memory, texts)
        for show in ("placeholder", "passages"):
            tree = {"data_dir": str(Path(folder) / show), "archive": {"show": show}}
            async with Memory.open(Settings.load(tree)) as memory:
                found |= await _rounds(memory, texts, show)
    return {name: round(share, 3) for name, share in found.items()}


async def _compression(texts: Sequence[LabelledText], settings: Settings) -> dict[str, float]:
    """Compress a conversation of 200 messages to each level, without a model."""
    options = settings.compression
    messages = _conversation(texts)
    summariser, trimmer = Summariser(_TOKENS, options), Trimmer(_TOKENS, options.result_tokens)
    mark, cut, end = (of(messages, options) for of in (trimmed_to, summarised_to, digested_to))
    borders = (*segments(0, cut, options), *segments(cut, end, options))
    made = [await summariser.segment(messages, *border) for border in borders]
    whole = await summariser.digest(messages, None, made, options.digest_tokens)
    summaries = tuple(summary for summary in made if summary.end <= cut)
    levels = (
        Compression(trimmed_to=mark),
        Compression(trimmed_to=mark, summaries=summaries),
        Compression(trimmed_to=mark, digest=whole),
    )
    before = _size(messages)
    found = {
        f"compression, level {number}": 1
        - _size(apply(messages, edits_of(messages, level, trimmer))) / before
        for number, level in enumerate(levels, 1)
    }
    covered = _size(messages[1:cut])
    found["context compression"] = found["compression, level 2"]
    found["summaries instead of texts"] = 1 - _size([summary_message(summaries)]) / covered
    # Rules, the local models and light tiers do it; the reasoning tier is never called.
    found["work on memory that no large model does"] = 1.0
    return found


async def _recall(memory: Memory, texts: Sequence[LabelledText]) -> dict[str, float]:
    """Ask for what is remembered instead of injecting all of it, alone and in a run of agents."""
    lines = [
        line for text in texts for line in str(digest(text.text, 200, _TOKENS.count)).split("\n")
    ]
    person = memory.scope(user=_USER)
    await person.remember_many([{"content": line} for line in dict.fromkeys(lines)])
    everything = _TOKENS.count("\n".join(lines))
    asked = [text.query for text in texts if text.query][:_ASKED]
    alone = [_TOKENS.count((await person.context(query)).text) for query in asked]
    together = 0
    for number, query in enumerate(asked):
        for agent in ("planner", "writer"):
            helper = memory.scope(user=_USER, agent=agent)
            together += _TOKENS.count((await helper.context(query, run=f"run-{number}")).text)
    return {
        "recall instead of everything": 1 - sum(alone) / (len(alone) * everything),
        "shared context": 1 - together / max(1, 2 * sum(alone)),
    }


async def _caches(memory: Memory, texts: Sequence[LabelledText]) -> dict[str, float]:
    """Ask every question three times, and prepare a long session ten times."""
    asked = [text.query for text in texts if text.query][:_ASKED]
    began = await memory.stats()
    for query in asked * 3:
        await memory.recall(query)
    repeated = await memory.stats()
    for limit in (2, 3, 4):
        # Another limit is another result; the question is embedded once.
        for query in asked:
            await memory.recall(f"{query}?", limit=limit)
    session = memory.session("day", context_tokens=20_000)
    await session.observe(_conversation(texts)[:100])
    for _ in range(10):
        await session.prepare()
        await session.settle()
    stats = await memory.stats()
    return {
        "hits: embeddings": _hits(repeated.embedding_cache, stats.embedding_cache),
        "hits: recall": _hits(began.recall_cache, repeated.recall_cache),
        "hits: summaries": stats.summary_cache.hit_rate,
    }


async def _rounds(memory: Memory, texts: Sequence[LabelledText], show: str) -> dict[str, float]:
    """Ten rounds, each with a result of 50,000 characters, beside keeping them inline."""
    session = memory.session("rounds", context_tokens=1_000_000)
    inline: list[Message] = []
    kept = whole = loaded = shown_first = first = 0
    for number in range(_ROUNDS):
        result = _long(texts, number)
        said = _round(texts[number % len(texts)].query or "go on", result, f"r{number}")
        await session.observe(said)
        inline += said
        shown = _size(await session.prepare(format="neutral"))
        kept += shown
        whole += _size(inline)
        shown_first, first = shown_first + (shown if not number else 0), first + _size(said)
        archives = await memory.archives.list(limit=1)
        opened = await session.prepare(load=archives.items[-1].id, format="neutral")
        loaded += max(shown, _size(opened))
        await session.observe({"role": "assistant", "content": "OK."})
        inline.append(Message(role="assistant", parts=(TextPart(text="OK."),)))
    found = {f"ten rounds, {show}": 1 - kept / whole}
    if show == "placeholder":
        found["ten rounds, one loaded"] = 1 - loaded / whole
    else:
        found["tool results"] = 1 - shown_first / max(1, first / _ROUNDS)
    return found


def _hits(before: CacheStats, after: CacheStats) -> float:
    hits, misses = after.hits - before.hits, after.misses - before.misses
    return hits / max(1, hits + misses)


def _conversation(texts: Sequence[LabelledText]) -> tuple[Message, ...]:
    """Return a working day: questions, calls, results, and answers that tell what was found."""
    messages = [Message(role="system", parts=(TextPart(text="You are a careful engineer."),))]
    number = 0
    while len(messages) < _MESSAGES:
        text = texts[number % len(texts)]
        start = _RESULT_CHARS * (number // len(texts))
        messages += _round(text.query or text.name, text.text[start:][:_RESULT_CHARS], f"c{number}")
        answer = str(digest(text.text, _ANSWER_TOKENS, _TOKENS.count))
        messages.append(Message(role="assistant", parts=(TextPart(text=answer),)))
        number += 1
    return tuple(messages[:_MESSAGES])


def _round(asked: str, result: str, call_id: str) -> list[Message]:
    call = ToolCall(id=call_id, name="run", arguments=json.dumps({"query": asked}))
    return [
        Message(role="user", parts=(TextPart(text=asked),)),
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", parts=(TextPart(text=result),), answers=call_id),
    ]


def _long(texts: Sequence[LabelledText], number: int) -> str:
    """Return 50,000 characters of tool results, beginning with another text each time."""
    joined = ""
    while len(joined) < _ROUND_CHARS:
        joined += texts[number % len(texts)].text + "\n"
        number += 1
    return joined[:_ROUND_CHARS]


def _size(messages: Sequence[Message]) -> int:
    return sum(message_tokens(message, _TOKENS) for message in messages)


def as_rows(found: dict[str, float]) -> list[dict[str, Any]]:
    """Return what was measured beside what was estimated."""
    return [
        {"row": name, "measured": found[name], "estimate": ESTIMATES[name]}
        for name in ESTIMATES
        if name in found
    ]
