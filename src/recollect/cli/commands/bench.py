"""`recollect bench`: measure the quality of recall and the speed of memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from recollect.cli.options import argument, option
from recollect.errors import NotFound

if TYPE_CHECKING:
    from rich.progress import Progress

    from recollect.evaluation.digests import LabelledText
    from recollect.evaluation.metrics import RecallResult
    from recollect.evaluation.replay import RecallSet
    from recollect.settings import Settings

AsJson = Annotated[bool, option("Print the result as JSON, last on standard output.", "--json")]


def recall(
    set_name: Annotated[str | None, option("One set in --data.", "--set")] = None,
    data: Annotated[
        Path | None, option("The folder of --set.", exists=True, file_okay=False)
    ] = None,
    suite: Annotated[
        Path | None, option("Run every set of a folder.", exists=True, file_okay=False)
    ] = None,
    limit_queries: Annotated[
        int | None, option("Maximum questions per set, for a quick look.", min=1)
    ] = None,
    path: Annotated[
        str, option("Search by fused (all paths), keyword, vector, or knowledge (as documents).")
    ] = "fused",
    as_json: AsJson = False,
) -> None:
    """Measure how often recall finds the right answer, and how fast."""
    from recollect.evaluation.metrics import as_table
    from recollect.evaluation.replay import read_set

    results: list[RecallResult] = []
    for name, folder in _chosen(set_name, data, suite):
        recall_set = read_set(folder, name)
        if limit_queries is not None:
            recall_set = recall_set.first(limit_queries)
        results.append(asyncio.run(_with_progress(recall_set, path)))
        if as_json:
            typer.echo(json.dumps(results[-1].as_json(), ensure_ascii=False))
    if not as_json:
        Console().print(as_table(results))
    elif suite is not None:
        typer.echo(json.dumps({"suite": [one.as_json() for one in results]}, ensure_ascii=False))


def chunks(
    data: Annotated[Path, option("The folder of the set.", exists=True, file_okay=False)],
    set_name: Annotated[str, option("The set in --data.", "--set")] = "chunking",
    as_json: AsJson = False,
) -> None:
    """Measure how much of the answers the first passages of the knowledge base cover."""
    from recollect.evaluation.knowledge_replay import measure_chunks, read_chunk_set
    from recollect.settings import Settings

    chunk_set = read_chunk_set(data, set_name)
    with _counting("ask", len(chunk_set.queries)) as asked:
        result = asyncio.run(measure_chunks(chunk_set, Settings.load(), asked))
    _tell(result.as_json(), _as_values, as_json=as_json)


def judge(
    file: Annotated[Path, argument("Labelled pairs.", exists=True, dir_okay=False)],
    limit: Annotated[int | None, option("Maximum number of pairs.", min=1)] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how often statements are judged correctly as same, update, conflict or different.

    Each pair of FILE (JSON lines: label, old, new, lang) is written through `write`, old first.
    """
    from recollect.evaluation.judge_pairs import measure_judge, read_pairs
    from recollect.evaluation.metrics import as_judge_table
    from recollect.settings import Settings

    pairs = read_pairs(file)[:limit]
    with _counting("pairs", len(pairs)) as done:
        result = asyncio.run(measure_judge(pairs, Settings.load(), done=done))
    _tell(result.as_json(), as_judge_table, as_json=as_json)


def extract(
    file: Annotated[Path, argument("Marked talks.", exists=True, dir_okay=False)],
    limit: Annotated[int | None, option("Maximum number of talks.", min=1)] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how much of what is worth keeping in conversations becomes a record.

    Each talk of FILE (JSON lines: turns, keep, skip) is observed and read. An item is found when
    a record's evidence meets its words; a record is wrong when it meets only words to skip.
    """
    from recollect.evaluation.metrics import as_extraction_table
    from recollect.evaluation.talks import measure_extraction, read_talks
    from recollect.settings import Settings

    talks = read_talks(file)[:limit]
    with _counting("talks", len(talks)) as done:
        result = asyncio.run(measure_extraction(talks, Settings.load(), done=done))
    _tell(result.as_json(), as_extraction_table, as_json=as_json)


def route(
    file: Annotated[Path, argument("Labelled messages.", exists=True, dir_okay=False)],
    limit: Annotated[int | None, option("Maximum number of messages.", min=1)] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how often it is right whether a message needs memory, and whether to keep it.

    A line of FILE (JSON) is a message (before, text, reads, writes), or a talk as for extract, with
    the numbers of the turns that need memory (reads).
    """
    from recollect.evaluation.metrics import as_route_table
    from recollect.evaluation.routes import measure_routes, read_messages
    from recollect.settings import Settings

    messages = read_messages(file)[:limit]
    with _counting("messages", len(messages)) as done:
        result = asyncio.run(measure_routes(messages, Settings.load(), done=done))
    _tell(result, as_route_table, as_json=as_json)


def digests(
    folder: Annotated[Path, argument("Texts with labels.jsonl.", exists=True, file_okay=False)],
    savings: Annotated[
        bool, option("Measure saved tokens and cache hits beside their estimates.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure how many of the facts that a reader needs are in digests of long tool results.

    Each text of FOLDER is digested within 60, 200 and 600 tokens, beside two ways of cutting it.
    """
    from recollect.evaluation.digests import measure_digests, read_texts
    from recollect.evaluation.metrics import as_digest_table

    texts = read_texts(folder)
    if savings:
        _print_savings(texts, as_json=as_json)
        return
    with _counting("texts", len(texts)) as done:
        result = measure_digests(texts, done=done)
    _tell(result, as_digest_table, as_json=as_json)


def _print_savings(texts: Sequence[LabelledText], *, as_json: bool) -> None:
    from recollect.evaluation.savings import as_rows, measure_savings
    from recollect.settings import Settings

    rows = as_rows(asyncio.run(measure_savings(texts, Settings.load())))
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return
    table = Table("", "measured", "estimated")
    for row in rows:
        table.add_row(row["row"], f"{row['measured']:.1%}", row["estimate"])
    Console().print(table)


def speed(
    records: Annotated[int, option("Total number of records.", min=100)] = 10_000,
    users: Annotated[int, option("Number of scopes to spread them over.", min=1)] = 1,
    as_json: AsJson = False,
) -> None:
    """Measure how fast saving, recalling and starting are, on synthetic text, half Chinese."""
    from recollect.evaluation.speed import measure_speed
    from recollect.settings import Settings

    with _counting("save", records) as told:
        result = asyncio.run(measure_speed(records, users, Settings.load(), told=told))
    _tell(result.as_json(), _as_values, as_json=as_json)


def _tell(
    result: Mapping[str, Any], as_table: Callable[[Mapping[str, Any]], Table], *, as_json: bool
) -> None:
    if as_json:
        typer.echo(json.dumps(result, ensure_ascii=False))
    else:
        Console().print(as_table(result))


def _as_values(values: Mapping[str, Any]) -> Table:
    table = Table(show_header=False)
    for name, value in values.items():
        table.add_row(name, str(value))
    return table


@contextmanager
def _counting(what: str, total: int) -> Generator[Callable[[int], None]]:
    """Show how many of the steps are done; the function counts them."""
    with _progress() as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.advance(task, count)


def _progress() -> Progress:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    # On standard error, because standard output has only the result.
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True))


def _settings(path: str) -> Settings:
    """Return the settings of this machine, with one search path or all of them."""
    from recollect.settings import Settings

    match path:
        case "fused" | "knowledge":
            return Settings.load()
        case "keyword":
            return Settings.load({"embedding": {"model": "none"}})
        case "vector":
            return Settings.load({"recall": {"keyword_weight": 0}})
        case _:
            raise typer.BadParameter("--path is fused, keyword, vector or knowledge.")


def _chosen(
    set_name: str | None, data: Path | None, suite: Path | None
) -> Sequence[tuple[str, Path]]:
    from recollect.evaluation.replay import sets_in

    if suite is not None and set_name is None and data is None:
        names = sets_in(suite)
        if not names:
            raise NotFound(
                f"There is no recall set in {suite}",
                code="unknown_set",
                hint="A set is NAME.corpus.jsonl.gz with NAME.queries.jsonl.gz.",
            )
        return [(name, suite) for name in names]
    if suite is None and set_name is not None and data is not None:
        return [(set_name, data)]
    raise typer.BadParameter("Give either --suite DIR, or --set NAME with --data DIR.")


async def _with_progress(recall_set: RecallSet, path: str) -> RecallResult:
    from recollect.evaluation.knowledge_replay import DocumentReplay
    from recollect.evaluation.replay import measure

    with _progress() as progress:
        telling = progress.add_task(f"{recall_set.name}: tell", total=len(recall_set.units))
        asking = progress.add_task(f"{recall_set.name}: ask", total=len(recall_set.queries))
        result = await measure(
            recall_set,
            _settings(path),
            told=lambda count: progress.advance(telling, count),
            asked=lambda count: progress.advance(asking, count),
            replay=DocumentReplay if path == "knowledge" else None,
        )
    if result.skipped_units:
        typer.echo(f"{recall_set.name}: {result.skipped_units} units without text", err=True)
    return result
