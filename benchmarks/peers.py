"""Recollect beside other memories in one run: how fast they are, and how well they find.

Each other one has an environment of its own below `benchmarks/.venv-peers`, which git ignores;
Recollect runs in the environment that runs this. Each is measured in a process of its own, in
turns, and a figure is the median of the rounds. `numpy` is the floor: a table, and a matrix held in
memory. Vectors are looked up, so that no model is part of the speed; for the quality all others are
given the vectors of our embedder, as none of them has a default that works offline.

    python benchmarks/peers.py [--sizes 10000,100000] [--rounds 3] [--one-by-one 10000]
                               [--sets FOLDER] [--only NAMES] [--questions 100]
                               [--json FILE] [--chart FILE.svg] [--docs] [NAME ...]

A run that was stopped goes on where it ended; `--again` begins anew. `--docs` writes
docs/benchmarks.md and its Chinese twin, the JSON and the charts beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from recollect.evaluation.metrics import hit, recall
from recollect.evaluation.replay import DiskCachedEmbedder, RecallSet, read_set, sets_in, text_of
from recollect.evaluation.speed import Writer

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
ENVIRONMENTS = HERE / ".venv-peers"
KEPT = HERE.parent / "reports" / "peers.json"
LIVES = HERE / "everyday"
# sqlite-vec and SqliteStore need a SQLite that loads extensions: pysqlite3 brings one.
PACKAGES: dict[str, list[str]] = {
    "mem0": ["mem0ai"],
    "langgraph": ["langgraph-checkpoint-sqlite", "pysqlite3-binary"],
    "llama-index": ["llama-index-core", "llama-index-vector-stores-chroma"],
    "chroma": ["chromadb"],
    "lancedb": ["lancedb"],
    "sqlite-vec": ["sqlite-vec", "pysqlite3-binary"],
    "numpy": [],
}
NAMES = ["recollect", *PACKAGES]
# These commit every text by itself: filling in takes minutes, so they are measured in one round, up
# to `--one-by-one` records.
ONE_BY_ONE = ("mem0", "llama-index")
DIMENSION = 384
QUESTIONS = 303
KILLED_AFTER = 100
# Ten users have a hundred texts each.
SMALLEST = 1_000
EVERYDAY = "everyday"
SHARES = ("hit", "recall@", "right")
BETTER_IS_MORE = ("bulk", *SHARES)


def rows_of(sizes: Sequence[int]) -> dict[str, tuple[str, str]]:
    """Return the figures of speed, each with its title in English and Chinese."""
    large = sizes[-1]
    return {
        "save_p50_ms": ("one durable save, p50 ms", "一次持久保存，p50 毫秒"),
        "save_p95_ms": ("one durable save, p95 ms", "一次持久保存，p95 毫秒"),
        "bulk_per_s": ("records a second in bulk", "批量写入，每秒条数"),
        "recall_100_ms": (
            "recall, 100 records a user, p50 ms",
            "召回，每个用户 100 条，p50 毫秒",
        ),
        **{
            f"recall_{size}_ms": (
                f"recall, {size:,} records, p50 ms",
                f"召回，{size:,} 条，p50 毫秒",
            )
            for size in sizes
        },
        "first_s": ("new process to first answer, s", "新进程到第一个答案，秒"),
        "rss_mb": (
            f"peak memory with all of them ({large:,}), MB",
            f"内存峰值（{large:,} 条），MB",
        ),
        f"disk_{sizes[0]}_mb": (
            f"on disk, {sizes[0]:,} records and the small users, MB",
            f"磁盘占用（{sizes[0]:,} 条及小用户），MB",
        ),
        "lost": (
            f"lost of {KILLED_AFTER} acknowledged saves after kill -9",
            f"kill -9 后丢失（共 {KILLED_AFTER} 次已确认的保存）",
        ),
    }


# --- Speed ----------------------------------------------------------------------------------------


def install(names: Iterable[str]) -> dict[str, str]:
    """Make the environment of each peer, unless it is there; return the versions they have."""
    uv = shutil.which("uv") or str(HERE.parent / ".tools" / "bin" / "uv")
    versions: dict[str, str] = {}
    for name in names:
        if name == "recollect":
            asked = ["git", "-C", HERE, "rev-parse", "--short=8", "HEAD"]
            versions[name] = subprocess.check_output(asked, text=True).strip()
            continue
        place, packages = ENVIRONMENTS / name, ["numpy", *PACKAGES[name]]
        made_for, python = place / ".made-for", place / "bin" / "python"
        if not made_for.exists() or made_for.read_text() != " ".join(packages):
            print(f"installing {', '.join(packages)} into {place}", file=sys.stderr)
            made = [uv, "venv", "-q", "--clear", "--python", sys.executable, place]
            subprocess.run(made, check=True)
            installed = [uv, "pip", "install", "-q", "--python", python, *packages]
            subprocess.run(installed, check=True)
            made_for.write_text(" ".join(packages))
        told = subprocess.run(
            [uv, "pip", "freeze", "-q", "--python", python],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout.splitlines()
        named = dict(it.split("==") for it in told if "==" in it)
        main_package = PACKAGES[name][0] if PACKAGES[name] else "numpy"
        versions[name] = f"{main_package} {named.get(main_package, '')}".strip()
    return versions


def write_texts(path: Path, sizes: Sequence[int]) -> None:
    writer, count = Writer(), max([*sizes, SMALLEST])
    texts = list(dict.fromkeys(writer.text(number) for number in range(count + count // 50 + 100)))
    questions = [writer.question(number) for number in range(QUESTIONS)]
    texts = texts[:count]
    rows = np.random.default_rng(7).normal(size=(len(texts) + QUESTIONS, DIMENSION))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    np.savez(
        path,
        texts=json.dumps(texts),
        questions=json.dumps(questions),
        vectors=rows,
        sizes=json.dumps(sizes),
    )


def command(name: str, texts: Path, folder: Path, what: str) -> list[str]:
    own = name == "recollect"
    python = sys.executable if own else str(ENVIRONMENTS / name / "bin" / "python")
    return [python, str(HERE / "peer_stores.py"), name, str(texts), str(folder), what]


def told(name: str, texts: Path, folder: Path, what: str) -> Any:
    done = subprocess.run(
        command(name, texts, folder, what), check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def measured(name: str, texts: Path, place: Path) -> dict[str, float]:
    folder = place / name
    folder.mkdir()
    figures: dict[str, float] = told(name, texts, folder, "speed")
    told(name, texts, folder, "first")
    start = time.perf_counter()
    with subprocess.Popen(command(name, texts, folder, "first"), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        figures["first_s"] = time.perf_counter() - start
    shutil.rmtree(folder)
    folder.mkdir()
    figures["lost"] = lost_when_killed(name, texts, folder)
    shutil.rmtree(folder)
    return figures


def lost_when_killed(name: str, texts: Path, folder: Path) -> int:
    """Kill a process that saves; return how many of the saves it had told are gone."""
    with subprocess.Popen(
        command(name, texts, folder, "killed"), stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        for _ in range(KILLED_AFTER):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        # It may have told of more before it was killed.
        acknowledged = KILLED_AFTER + sum(1 for line in process.stdout if line.endswith(b"\n"))
    return max(0, acknowledged - int(told(name, texts, folder, "count")))


class Kept:
    """What was measured so far, in a file: a run that was stopped goes on where it ended."""

    def __init__(self, path: Path, versions: Mapping[str, str]) -> None:
        self._path = path
        self._versions = versions
        self._values: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        # What else the machine did: the highest load average at the end of what is used.
        self.load = 0.0

    def get(self, what: str, name: str, measure: Callable[[], Any]) -> Any:
        """Return what was measured of these versions, or measure it."""
        key = f"{what}: {self._versions.get(name, name)}"
        if key not in self._values:
            print(f"{what}: {name}", file=sys.stderr, flush=True)
            self._values[key] = {"value": measure(), "load": round(os.getloadavg()[0], 1)}
            self._path.parent.mkdir(exist_ok=True)
            self._path.write_text(json.dumps(self._values))
        self.load = max(self.load, self._values[key]["load"])
        return self._values[key]["value"]


def compare_speed(
    names: Sequence[str], sizes: Sequence[int], rounds: int, one_by_one: int, kept: Kept
) -> dict[str, dict[str, float | None]]:
    found: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as place:

        def most_of(name: str) -> int:
            return min(one_by_one, max(sizes)) if name in ONE_BY_ONE else max(sizes)

        def measure(name: str) -> dict[str, float]:
            most = most_of(name)
            texts = Path(place) / f"texts-{most}.npz"
            if not texts.exists():
                write_texts(texts, [size for size in sizes if size <= most])
            return measured(name, texts, Path(place))

        for number in range(rounds):
            for name in names:
                if number and name in ONE_BY_ONE:
                    continue
                what = f"speed {number + 1} of {[it for it in sizes if it <= most_of(name)]}"
                figures = kept.get(what, name, partial(measure, name))
                found[name].append(figures)
    return {
        name: {
            row: statistics.median(it[row] for it in some) if row in some[0] else None
            for row in rows_of(sizes)
        }
        for name, some in found.items()
        if some
    }


# --- Quality --------------------------------------------------------------------------------------


async def vectors_of(texts: Sequence[str], purpose: str) -> Any:
    from recollect.assemble.embedding import wanted_embedder
    from recollect.settings import Settings

    embedder = await asyncio.to_thread(wanted_embedder, Settings.load({}))
    assert embedder is not None
    try:
        # A run that goes on embeds nothing twice.
        with DiskCachedEmbedder(embedder) as cached:
            return await cached.embed(list(texts), purpose)  # pyright: ignore[reportArgumentType]
    finally:
        await embedder.close()


def write_set(
    path: Path, units: Sequence[tuple[str, str]], asked: Sequence[tuple[str, str]]
) -> None:
    """Write texts and questions, each with whose it is, and the vectors of our embedder."""
    texts, questions = [text for _, text in units], [text for _, text in asked]
    vectors = np.concatenate(
        [
            asyncio.run(vectors_of(texts, "passage")),
            asyncio.run(vectors_of(questions, "query")),
        ]
    )
    np.savez(
        path,
        texts=json.dumps(texts),
        questions=json.dumps(questions),
        users=json.dumps([user for user, _ in units]),
        askers=json.dumps([user for user, _ in asked]),
        vectors=vectors.astype(np.float32),
    )


def quality_on_set(
    names: Sequence[str], recall_set: RecallSet, place: Path, kept: Kept
) -> dict[str, Any]:
    units = [(unit.scope, text_of(unit)) for unit in recall_set.units]
    asked = [(query.scope, query.query) for query in recall_set.queries]
    path = place / f"{recall_set.name}.npz"
    write_set(path, units, asked)
    ids: dict[tuple[str, str], str] = {}
    for unit, key in zip(recall_set.units, units, strict=True):
        ids.setdefault(key, unit.id)
    # A text that was said twice answers for both.
    same = {unit.id: ids[key] for unit, key in zip(recall_set.units, units, strict=True)}
    figures: dict[str, Any] = {}
    for name in names:
        what = f"{path.stem} of {len(asked)} questions"
        rankings = kept.get(what, name, partial(ranked, name, path, place))
        hits: list[float] = []
        recalls: list[float] = []
        for query, texts in zip(recall_set.queries, rankings, strict=True):
            gold = {same[it] for it in query.gold if it in same}
            ranking = [ids.get((query.scope, text), "") for text in texts]
            hits.append(hit(ranking, gold, 1))
            recalls.append(recall(ranking, gold))
        figures[name] = {"hit@1": statistics.mean(hits), "recall@10": statistics.mean(recalls)}
    return figures


def quality_everyday(names: Sequence[str], place: Path, lives: int, kept: Kept) -> dict[str, Any]:
    """Tell the invented lives as plain texts, and count how often the best hit is right."""
    units: list[tuple[str, str]] = []
    checks: list[dict[str, Any]] = []
    for file in sorted(LIVES.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines()[:lives]:
            life = json.loads(line)
            for event in life["events"]:
                said = [event["save"]] if "save" in event else []
                said += [it["content"] for it in event.get("messages", ())]
                units += [(life["id"], text) for text in said]
            answers = (it for it in life["checks"] if it["kind"] == "answer")
            checks += [{**check, "life": life["id"]} for check in answers]
    path = place / f"{EVERYDAY}.npz"
    write_set(path, units, [(check["life"], check["ask"]) for check in checks])
    figures: dict[str, Any] = {}
    for name in names:
        what = f"{path.stem} of {len(checks)} questions"
        rankings = kept.get(what, name, partial(ranked, name, path, place))
        first = [
            bool(texts) and says(texts[0], check["want"])
            for check, texts in zip(checks, rankings, strict=True)
        ]
        in_three = [
            any(says(text, check["want"]) for text in texts[:3])
            for check, texts in zip(checks, rankings, strict=True)
        ]
        figures[name] = {
            "right first": statistics.mean(first),
            "right in three": statistics.mean(in_three),
        }
    return figures


def says(text: str, wanted: Iterable[str]) -> bool:
    plain = " ".join(text.casefold().split())
    return any(" ".join(one.casefold().split()) in plain for one in wanted)


def ranked(name: str, path: Path, place: Path) -> list[list[str]]:
    folder = place / f"{path.stem}-{name}"
    folder.mkdir()
    rankings: list[list[str]] = told(name, path, folder, "quality")
    shutil.rmtree(folder)
    return rankings


def compare_quality(
    names: Sequence[str],
    folder: Path | None,
    only: Sequence[str],
    questions: int,
    most_units: int,
    kept: Kept,
) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        figures[EVERYDAY] = quality_everyday(names, Path(place), max(1, questions // 8), kept)
        for name in sets_in(folder) if folder is not None else ():
            if only and name not in only:
                continue
            recall_set = read_set(folder, name).first(questions)
            if only or len(recall_set.units) <= most_units:
                figures[name] = quality_on_set(names, recall_set, Path(place), kept)
    return figures


# --- Tables and charts ----------------------------------------------------------------------------


def chart(titles: Mapping[str, str], figures: Mapping[str, Mapping[str, float | None]]) -> str:
    """Draw a group of bars for each row as SVG: shares as they are, others by their logarithm."""
    bar, gap, left, width = 16, 34, 110, 420
    parts: list[str] = []
    y = 10
    for row, title in titles.items():
        values = {name: it[row] for name, it in figures.items() if it.get(row) is not None}
        if not values or max(values.values()) <= 0:  # pyright: ignore[reportArgumentType]
            continue
        parts.append(f'<text x="8" y="{y + 12}" font-weight="bold">{title}</text>')
        y += 20
        shown = {name: max(float(it or 0), 1e-3) for name, it in values.items()}
        is_share = row.startswith(SHARES)
        low, high = math.log10(min(shown.values()) / 2), math.log10(max(shown.values()))
        for name, value in shown.items():
            share = value if is_share else (math.log10(value) - low) / (high - low)
            length = width * share
            colour = "#2563eb" if name == "recollect" else "#94a3b8"
            parts.append(
                f'<text x="{left - 6}" y="{y + 12}" text-anchor="end">{name}</text>'
                f'<rect x="{left}" y="{y}" width="{length:.0f}" height="{bar - 3}"'
                f' fill="{colour}"/>'
                f'<text x="{left + length + 5:.0f}" y="{y + 12}">{value:,.2f}</text>'
            )
            y += bar
        y += gap - bar
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 90}" height="{y}"'
        ' font-family="sans-serif" font-size="12" fill="#475569">\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def table(
    titles: Mapping[str, str], figures: Mapping[str, Mapping[str, float | None]], corner: str
) -> str:
    """Return a table in Markdown; the best of each row is bold, ours or not."""
    lines = [f"| {corner} | " + " | ".join(figures) + " |", "|---|" + "---:|" * len(figures)]
    for row, title in titles.items():
        values = {name: it.get(row) for name, it in figures.items()}
        known = [it for it in values.values() if it is not None]
        best = (max if row.startswith(BETTER_IS_MORE) else min)(known) if known else None
        cells = [_cell(it, is_best=it == best and len(set(known)) > 1) for it in values.values()]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(value: float | None, *, is_best: bool) -> str:
    if value is None:
        return "–"
    shown = f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.2f}"
    return f"**{shown}**" if is_best else shown


def quality_figures(
    quality: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> tuple[dict[str, str], dict[str, dict[str, float | None]]]:
    """Return a row for each set and figure, and what each peer has there."""
    titles: dict[str, str] = {}
    figures: dict[str, dict[str, float | None]] = {}
    for set_name, by_peer in quality.items():
        for peer, values in by_peer.items():
            for figure, value in values.items():
                row = f"{figure} {set_name}"
                titles[row] = f"{set_name}, {figure}"
                figures.setdefault(peer, {})[row] = value
    return titles, figures


def machine(load: float) -> dict[str, Any]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory),
        "load": load,
    }


def write_docs(report: Mapping[str, Any], sizes: Sequence[int]) -> None:
    """Put the tables between the marks of both pages, and the charts and the JSON beside them."""
    (DOCS / "benchmarks.json").write_text(json.dumps(report, indent=2) + "\n")
    speed_titles = {row: english for row, (english, _) in rows_of(sizes).items()}
    quality_titles, quality = quality_figures(report["quality"])
    images = DOCS / "images"
    images.joinpath("benchmarks-speed.svg").write_text(chart(speed_titles, report["speed"]))
    if quality:
        images.joinpath("benchmarks-quality.svg").write_text(chart(quality_titles, quality))
    here = report["machine"]
    for language, name in enumerate(("benchmarks.md", "benchmarks.zh-CN.md")):
        path = DOCS / name
        text = path.read_text("utf-8")
        titles = {row: both[language] for row, both in rows_of(sizes).items()}
        where = (
            "Measured on {date}: {system}, {cores} cores, {memory_gib} GiB, Python {python};"
            " load average up to {load}, of which the run itself is about 1.",
            "测量日期 {date}：{system}，{cores} 核，{memory_gib} GiB，Python {python}；"
            "平均负载最高 {load}，其中约 1 来自测量本身。",
        )[language].format(**here)
        versions = ", ".join(f"{peer} ({it})" for peer, it in report["versions"].items())
        inside = [where, "", ("Versions: ", "版本：")[language] + versions + ".", ""]
        inside += [table(titles, report["speed"], ""), ""]
        if quality:
            inside += [table(quality_titles, quality, ""), ""]
        begin, end = "<!-- peers -->", "<!-- /peers -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        path.write_text(f"{before}{begin}\n" + "\n".join(inside) + f"{end}{after}", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", default="10000,100000", help="records of one user")
    parser.add_argument("--one-by-one", type=int, default=10_000, help="most for the slow ones")
    parser.add_argument("--sets", type=Path, help="folder of the recall sets")
    parser.add_argument("--only", default="", help="these of them, such as locomo,realmem")
    parser.add_argument("--questions", type=int, default=100, help="of each set; 0 for no quality")
    parser.add_argument("--units", type=int, default=5_000, help="leave larger sets out")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--chart", type=Path, help="draw the figures of speed to this SVG file")
    parser.add_argument("--docs", action="store_true", help="write them into docs/benchmarks*")
    parser.add_argument("--again", action="store_true", help="measure everything anew")
    asked = parser.parse_args()
    if asked.again:
        KEPT.unlink(missing_ok=True)
    sizes = sorted(int(it) for it in asked.sizes.split(","))
    versions = install(asked.names)
    kept = Kept(KEPT, versions)
    speed = compare_speed(asked.names, sizes, asked.rounds, asked.one_by_one, kept)
    quality: dict[str, Any] = {}
    if asked.questions:
        only = [it for it in asked.only.split(",") if it]
        quality = compare_quality(asked.names, asked.sets, only, asked.questions, asked.units, kept)
    report = {
        "machine": machine(kept.load),
        "versions": versions,
        "sizes": sizes,
        "rounds": asked.rounds,
        "one_by_one": asked.one_by_one,
        "questions": asked.questions,
        "speed": speed,
        "quality": quality,
    }
    titles = {row: english for row, (english, _) in rows_of(sizes).items()}
    print(table(titles, speed, "speed"))
    if quality:
        print(table(*quality_figures(quality), "quality"))
    if asked.json:
        asked.json.write_text(json.dumps(report, indent=2) + "\n")
    if asked.chart:
        asked.chart.write_text(chart(titles, speed))
    if asked.docs:
        write_docs(report, sizes)


if __name__ == "__main__":
    main()
