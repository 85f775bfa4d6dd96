"""Why a recall found what it found: its paths, what was weighed, and what was left out."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from recollect.cli.show import harmless, line, plain_table
from recollect.domain.hit import Hit, NearMiss, Recalled


def explained(console: Console, found: Recalled) -> None:
    """All that a recall can say about itself."""
    reason = f", because of {found.intent_reason!r}" if found.intent_reason else ""
    line(console, f"\nTaken for: {found.intent.replace('_', ' ')}{reason}")
    if found.hits:
        line(console, "\nWhat each path thought:")
        console.print(_paths(found.hits))
        line(console, "\nHow that became the score:")
        console.print(_weighing(found.hits))
    if found.near_misses:
        line(console, "\nLeft out:")
        console.print(_left_out(found.near_misses))


def _paths(hits: Sequence[Hit]) -> Table:
    table = plain_table("hit", "path", "rank", "raw", "score", "matched terms")
    for number, hit in enumerate(hits, start=1):
        terms = harmless(" ".join(hit.explanation.matched_terms))
        for path in hit.explanation.paths:
            table.add_row(
                *(str(number), path.path, str(path.rank)),
                *(f"{path.raw:.3f}", f"{path.score:.3f}", terms),
            )
    return table


def _weighing(hits: Sequence[Hit]) -> Table:
    table = plain_table(
        *("hit", "surroundings", "factor", "closeness", "sureness", "relevance"),
        *("boosts", "score"),
    )
    for number, hit in enumerate(hits, start=1):
        why = hit.explanation
        boosts = ", ".join(f"{it.reason} x{it.factor:.3f}" for it in why.boosts)
        table.add_row(
            *(str(number), f"{why.surroundings:.3f}", f"{why.factor:.3f}"),
            *(f"{why.closeness:.2f}", f"{why.sureness:.2f}", f"{why.relevance:.3f}"),
            *(harmless(boosts) or "-", f"{hit.score:.3f}"),
        )
    return table


def _left_out(near_misses: Sequence[NearMiss]) -> Table:
    table = plain_table("id", "score", "why")
    for missed in near_misses:
        table.add_row(missed.id, f"{missed.score:.3f}", harmless(missed.reason))
    return table
