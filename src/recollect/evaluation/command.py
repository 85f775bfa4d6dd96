"""`recollect bench`: measure recall on sets of questions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from recollect.errors import NotFound
from recollect.evaluation.recall_sets import RecallSet, read_set, sets_in
from recollect.evaluation.replay import measure
from recollect.evaluation.result import RecallResult, as_table

bench = typer.Typer(help="Measure recall.", no_args_is_help=True, add_completion=False)


@bench.callback()
def _group() -> None:
    """Keeps `recall` a name of its own while it is the only measurement."""


@bench.command()
def recall(
    set_name: Annotated[str | None, typer.Option("--set", help="one set in --data")] = None,
    data: Annotated[
        Path | None, typer.Option(exists=True, file_okay=False, help="the folder of --set")
    ] = None,
    suite: Annotated[
        Path | None, typer.Option(exists=True, file_okay=False, help="run every set of a folder")
    ] = None,
    limit_queries: Annotated[
        int | None, typer.Option(min=1, help="only so many questions a set: a quick look")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="the result as JSON, last on standard output")
    ] = False,
) -> None:
    """How often the right thing is found, and how fast."""
    results: list[RecallResult] = []
    for name, folder in _chosen(set_name, data, suite):
        recall_set = read_set(folder, name)
        if limit_queries is not None:
            recall_set = recall_set.first(limit_queries)
        results.append(asyncio.run(_with_progress(recall_set)))
        if as_json:
            typer.echo(json.dumps(results[-1].as_json(), ensure_ascii=False))
    if not as_json:
        Console().print(as_table(results))
    elif suite is not None:
        typer.echo(json.dumps({"suite": [it.as_json() for it in results]}, ensure_ascii=False))


def _chosen(
    set_name: str | None, data: Path | None, suite: Path | None
) -> Sequence[tuple[str, Path]]:
    if suite is not None and set_name is None and data is None:
        names = sets_in(suite)
        if not names:
            raise NotFound(f"There is no recall set in {suite}", code="unknown_set")
        return [(name, suite) for name in names]
    if suite is None and set_name is not None and data is not None:
        return [(set_name, data)]
    raise typer.BadParameter("Give either --suite DIR, or --set NAME with --data DIR.")


async def _with_progress(recall_set: RecallSet) -> RecallResult:
    # On standard error: what is printed on standard output is the result and nothing else.
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        telling = progress.add_task(f"{recall_set.name}: tell", total=len(recall_set.units))
        asking = progress.add_task(f"{recall_set.name}: ask", total=len(recall_set.queries))
        result = await measure(
            recall_set,
            told=lambda count: progress.advance(telling, count),
            asked=lambda count: progress.advance(asking, count),
        )
    if result.skipped_units:
        console.print(f"{recall_set.name}: {result.skipped_units} units without text left out")
    return result
